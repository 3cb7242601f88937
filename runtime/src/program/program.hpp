// One loaded program: from a bundle's binary, or compiled from its source.
#pragma once

#include <clbake/clbake.hpp>

#include "opencl/cl.hpp"

#include <memory>

namespace clbake {

// The kernel contract (kernels/KERNELS.md) that this runtime can launch.
inline constexpr std::uint32_t kContract = 4;

// Slices of k that the contract allows at most.
inline constexpr std::uint32_t kMaxSplit = 64;

struct Program {
  cl::Program program;
  cache::Variant variant;
  Explanation explanation;
};

// The program that serves one call, and the explanation that the call returns.
struct Found {
  std::shared_ptr<const Program> program;
  Explanation explanation;
  std::shared_ptr<const Program> complex;  // of a complex problem: the program that rearranges its operands
};

// Hands the entry's verified bytes to the driver. Fails with checksum and the like (the driver saw nothing), or with
// driver_rejected.
Result<Program> load_entry(const cl::Context& context, const cl::Device& device, const Bundle& bundle,
                           const cache::EntryInfo& entry);

// Compiles the variant from the bundle's source. Fails with build_failed (the message holds the log's beginning),
// or with invalid_argument when the kernel's work-group is larger than the device allows.
// `more_options` are added to the variant's build options; of a linked program to those of its parts.
Result<Program> compile_source(const cl::Context& context, const cl::Device& device, const Bundle& bundle,
                               std::uint32_t variant, const std::string& more_options = {});

// Why a program could not be built, with the beginning of its log: build_failed.
Status build_failure(const cl::Program& program, const cl::Device& device, const char* call, cl_int error);

}  // namespace clbake
