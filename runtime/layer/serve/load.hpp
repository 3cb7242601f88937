// Programs of the driver for what the application builds: of baked binaries, or of its source.
#pragma once

#include "serve/catalogue.hpp"
#include "serve/registry.hpp"

#include <memory>
#include <string>
#include <vector>

namespace clbake::layer::serve {

// A program of binaries, and what to tell the catalogue if the driver rejects them.
struct Loaded {
  struct Part {
    ContentDigest digest{};
    BakedBinary binary;  // without its bytes, which the driver has
  };
  std::shared_ptr<Baked> baked;
  std::vector<Part> parts;  // one for each of its devices
};

// Makes the program, not built yet, if there is a binary for each of these devices and options; those of `text` do not
// count. Fails with the miss.
Result<Loaded> load_baked(cl_context context, ProgramText text, std::vector<DeviceBuild> builds);

// Builds it, with a callback or without.
cl_int build(const Baked& baked, void(CL_CALLBACK* notify)(cl_program, void*) = nullptr, void* data = nullptr);

// True when the driver built the program for all of its devices.
bool is_built(const Baked& baked);

// Builds it and waits for that. Fails with driver_rejected; the binaries are not offered again then.
Status build_baked(const Loaded& loaded);
Status rejected(const Loaded& loaded, cl_int error);

// Has the driver compile the source of a program for these devices, each with its options.
cl_int build_source(cl_program program, const std::vector<DeviceBuild>& builds);

// The binaries that the program was made of, one for each of its devices; always the same. Null if they are gone. The
// driver is not asked: PoCL ends the process if a program without bitcode is asked for its binary.
const std::vector<cache::Bytes>* binaries_of(const Baked& baked);

// The program that answers what the baked one cannot, built by the driver's compiler at the first call; null if that
// fails. `why`: for the log.
cl_program source_of(Program& program, const std::string& why);

// Has the driver compile what clCompileProgram deferred.
cl_int compile_deferred(Program& program);

// All devices of a program or context; empty if the handle is none.
std::vector<cl_device_id> devices_of(cl_program program);
std::vector<cl_device_id> devices_of(cl_context context);

// Tells the log where a program is from, or why the driver compiles it.
void log_served(const ProgramText& text, const Loaded& loaded);
void log_miss(const ProgramText& text, const Status& why);

// For the log: "program 0123456789ab (1234 bytes, options '-DX')".
std::string description_of(const ProgramText& text);

}  // namespace clbake::layer::serve
