// Turns a program that the driver compiled into entries of a bundle: makes the driver compile all that it leaves for
// later, as far as a process can, and takes the binary. For the overlay and the builder; an application does not need
// it.
//
// "Later" depends on the driver: PoCL compiles at the first launch of each shape (finalize.cpp), Mali's when kernels
// are created, others at any time before the first launch ends. So all kernels are launched at every shape before the
// binary is taken, except where launches cannot change what is kept of it: NVIDIA's PTX, the SPIR-V of Mesa's rusticl,
// and PoCL 3.1's functions for work-groups of one item.
#pragma once

#include <clbake/clbake.hpp>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace clbake {

// A program as the driver's compiler left it.
struct Compiled {
  const Target& target;  // of the device that it was compiled for
  const cache::Variant& variant;
  // Owned by the caller. Its binary has not been queried yet: PoCL repeats its first answer.
  cl_program program = nullptr;
  // Launches all its kernels at every shape that a user's launch can have; called at most once.
  std::function<Status()> launch_every_shape;
};

// One entry, native or portable, with its form, program and, of the proof, specialisations and note; it is not proven.
// It is not JIT-free on NVIDIA (PTX, from which the builder makes machine code) and on Mesa's rusticl (SPIR-V, all that
// the driver keeps).
// Takes as long as the driver needs to compile for every shape, on PoCL 0.3 s and more for each kernel: not for a
// thread that a user waits for. Nothing else may use the program meanwhile, nor on PoCL one of equal source and
// options: 3.1 aborts the process when a binary is queried while one of its kernels runs. Fails with driver_rejected
// when the driver has no binary, like launch_every_shape, or with opencl or out_of_memory.
Result<std::vector<cache::Entry>> finalize(const Compiled& compiled);

// The driver's binary of the program, unchanged, as the only entry. Fails with driver_rejected or opencl.
Result<std::vector<cache::Entry>> entry_of_binary(cl_program program);

// The driver's binary of the program, which was built for one device of its context. Fails with driver_rejected when
// the driver has none, or with opencl.
Result<cache::Bytes> program_binary(cl_program program);

// The kernels with local memory, variables or arguments, of a program that PoCL has compiled: of these alone finalize()
// keeps functions besides the one for every launch. Takes the binary, for which that one is compiled for each kernel.
// Fails as program_binary does, with malformed, or with unsupported_version.
Result<std::set<std::string>> kernels_with_local_memory(cl_program program);

// Portable for PTX text, SPIR-V and LLVM bitcode, which a driver compiles when it loads them; native for all else.
cache::Form form_of(const cache::Bytes& program);

// The functions below are defined in launch/warm_up.cpp.

// The launch of the gemm kernel, among those that copy operands and reduce. Requires a variant of the runtime's
// contract.
const cache::Launch& product_launch(const cache::Variant& variant);

// Problems, as small as possible, with k = 1, for which the grids of all launches are large for PoCL, which compiles
// another work-group function for 65,535 work-items or more in x or y (its "smallgrid"; 3.1 and 5.0 never count z).
std::vector<Problem> large_grids(const cache::Variant& variant);

// Launches the kernels of the prepared problem's program at every shape that a user's launch can have, on zeros, and
// waits for the end. Fails with opencl or out_of_memory.
Status launch_every_shape(const Gemm& gemm);

}  // namespace clbake
