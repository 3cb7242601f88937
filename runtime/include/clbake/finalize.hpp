// Turns a program that the driver compiled into entries of a bundle: brings it to the state in which the driver has
// nothing left to compile, as far as that goes inside the process, and takes its binary. For the overlay and the
// builder; an application needs none of this.
#pragma once

#include <clbake/clbake.hpp>

#include <functional>
#include <vector>

namespace clbake {

// A program as the driver's compiler left it.
struct Compiled {
  const Target& target;  // of the device that it was compiled for
  const cache::Variant& variant;
  cl_program program = nullptr;  // owned by the caller; nobody has asked for its binary yet, else PoCL gives that again
  // Launches all its kernels at every shape that a user's launch can take; called at most once.
  std::function<Status()> launch_every_shape;
};

// One entry, native or portable, or what the driver has: form, program and, of the proof, specialisations and tools are
// set; it is not proven. It is not JIT-free on NVIDIA (PTX: machine code of it is the builder's) and on Mesa's rusticl
// (SPIR-V, all that it keeps).
// May take as long as the driver needs to compile for every shape, on PoCL 0.3 s and more for each kernel: not for a
// thread that somebody waits for. Nobody may use the program meanwhile, nor on PoCL one of equal source and
// options: 3.1 aborts the process when a binary is asked for while one of its kernels runs. Fails with driver_rejected
// when the driver has no binary, with what launch_every_shape failed with, opencl or out_of_memory.
Result<std::vector<cache::Entry>> finalize(const Compiled& compiled);

// The driver's binary of the program as the only entry, as it is. Fails with driver_rejected or opencl.
Result<std::vector<cache::Entry>> entry_of_binary(cl_program program);

// The driver's binary of the program. Fails with driver_rejected when the driver has none, or with opencl.
Result<cache::Bytes> program_binary(cl_program program);

// What the bytes are: PTX text, SPIR-V and LLVM's bitcode still have to be compiled by whoever loads them.
cache::Form form_of(const cache::Bytes& program);

// The launch that multiplies; copies may come before and a reduction after it. Requires a variant of contract 2.
const cache::Launch& product_launch(const cache::Variant& variant);

// Problems, as small as can be, with k = 1, for which the grids of all launches reach the size class from which PoCL
// compiles another work-group function: 65,535 work-items in x or y (PoCL's "smallgrid"; 3.1 and 5.0 never count z).
std::vector<Problem> large_grids(const cache::Variant& variant);

// Launches the variant's kernels at every shape that a user's launch can take: small grid and large grid, at the
// variant's local size, offset zero; on a queue of its own and on matrices of zeros, some MB, and waits for the end.
// `prepare` makes a Gemm of the program in question for any problem. Fails like it, with opencl or with out_of_memory.
Status launch_every_shape(cl_context context, cl_device_id device, const cache::Variant& variant,
                          const std::function<Result<Gemm>(const Problem&)>& prepare);

}  // namespace clbake
