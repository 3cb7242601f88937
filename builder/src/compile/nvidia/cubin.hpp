// NVIDIA: from PTX, the text that the OpenCL driver calls a program's binary and assembles at every load, to a cubin,
// the ELF file of machine code that clCreateProgramWithBinary takes as well and that leaves nothing to compile.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace clbake::builder::compile {

struct Cubin {
  cache::Bytes bytes;
  cache::Tool tool;  // what made it: libcuda 13.0 (the newest CUDA that the driver knows), or ptxas 12.9.86
};

// "sm_90": the compute capability that the machine code is for, without the suffix (a, f) of code for this one only.
// Empty when the bytes are no whole 64-bit ELF file for NVIDIA's GPUs.
std::string cubin_architecture(const cache::Bytes& bytes);

enum class Assembler {
  best,     // the driver's library where this machine has a device of that architecture; else ptxas, if it is found
  libcuda,  // the driver's library, which runs inside the caller's process: use a child
  ptxas,
};

// Machine code of `ptx` for `architecture`, which is "sm_90" or, for PTX with such a .target, "sm_90a". Fails with
// build_failed, and the first line of the log, when the PTX is refused or the tool's output is no such cubin; with
// no_device when there is no tool for it; with io, or invalid_argument.
Result<Cubin> assemble(const std::string& ptx, const std::string& architecture, Assembler by = Assembler::best);

// The driver's library, without a look at what comes out, for the device's own compute capability: 10 * major + minor.
// Fails with no_device (no driver, or no such device) or build_failed.
Result<Cubin> link_with_libcuda(const std::string& ptx, int capability);

// ---- PTX, a text: its kernels, as far as their registers need it, and for which devices it is

struct PtxKernel {
  std::string name;
  std::size_t body = 0;  // where its opening brace is: directives go in front of it
  // Work-items of a work-group: the product of .reqntid, which every kernel of clbake has; 0: it does not say.
  unsigned threads = 0;
};

std::vector<PtxKernel> kernels_of(const std::string& ptx);

// True when the text is for an architecture with a suffix, such as sm_90a: later ones do not run it.
bool is_for_one_architecture(const std::string& ptx);

// True when machine code of the text for a device of this compute capability (90 for 9.0) is linked with the suffix
// "a". On sm_90 always: no other device runs its machine code anyway, and the suffix lifts the assembler's limit of 48
// KB of local memory to what the device has.
bool is_linked_for_one_architecture(const std::string& ptx, int capability);

}  // namespace clbake::builder::compile
