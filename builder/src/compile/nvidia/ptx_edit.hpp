// Edits of the PTX that clang makes of an OpenCL program, into what NVIDIA's driver expects of its own.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>
#include "compile/nvidia/kernel_arguments.hpp"

#include <string>
#include <vector>

namespace clbake::builder::compile {

// Images and samplers, which clang passes as addresses: the driver binds parameters of the kinds .texref, .surfref and
// .samplerref, and instructions name these, or a .samplerref of the module for a sampler that the source states. Fails
// with build_failed when an image reaches an instruction otherwise than from the kernel's arguments.
Status bind_images(std::string& ptx, const std::vector<KernelArguments>& kernels);

// Directives about launches for the assembler: .reqntid where the source requires a work-group size, otherwise a
// bound on registers for the largest size of `launches`, and for `registers` where that is not 0. No .maxntid: a size
// that is not listed may be launched, too. Fails with build_failed when a launch names a kernel that the PTX lacks.
Status add_launch_bounds(std::string& ptx, const std::vector<KernelArguments>& kernels,
                         const std::vector<cache::Launch>& launches, unsigned registers);

// The bound on the registers of a work-item that the options state with -cl-nv-maxrregcount, for each kernel: the
// driver and clang leave it out of their PTX. True when the PTX has changed.
bool bound_registers(std::string& ptx, const std::string& build_options);

// Rotations of 64 bits: LLVM's PTX for them (seen in version 15) is right for distances below 64 only.
void mend_rotations(std::string& ptx);

// Fails with build_failed when the PTX calls a function that it does not have, which would otherwise be noticed only
// when the PTX is assembled, possibly on another machine.
Status complete(const std::string& ptx);

}  // namespace clbake::builder::compile
