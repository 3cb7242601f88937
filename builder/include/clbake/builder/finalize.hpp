// Brings a compiled program to the state in which the driver has nothing left to compile, and takes its binary: one
// unit for each platform.
#pragma once

#include <clbake/builder/devices.hpp>

#include <functional>
#include <vector>

namespace clbake::builder {

// A program as the driver's compiler left it.
struct Compiled {
  const Device& device;
  const cache::Variant& variant;
  const cache::Source& source;
  cl_program program = nullptr;  // owned by the caller; nobody has asked for its binary yet
  // Launches all its kernels at every shape that a user's launch can take.
  std::function<Status()> launch_every_shape;
};

// Entries hold form, program, newer_driver and, of the proof, tools and specialisations; the native one first.
struct Finalizer {
  const char* name;
  bool (*fits)(const Target& target);
  Result<std::vector<cache::Entry>> (*finalize)(const Compiled& compiled);
  const char* remark;  // what a user has to know of every entry of this platform; null where there is nothing to say
};

// The first that fits; the last of them fits every target. Lives forever.
const Finalizer& finalizer_for(const Target& target);

// The driver's binary of the program. Fails with driver_rejected when the driver has none.
Result<cache::Bytes> program_binary(cl_program program);

// The driver's binary as the only entry, as it is.
Result<std::vector<cache::Entry>> entry_of_binary(cl_program program);

// What the bytes are: PTX text, SPIR-V and LLVM's bitcode still have to be compiled by whoever loads them.
cache::Form form_of(const cache::Bytes& program);

}  // namespace clbake::builder
