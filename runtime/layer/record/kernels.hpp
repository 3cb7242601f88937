// Kernels as the process makes them, and the arguments that it has set.
#pragma once

#include "record/seen.hpp"

#include <CL/cl_layer.h>

#include <cstdint>
#include <vector>

namespace clbake::layer::record {

struct Argument {
  enum class Kind {
    unset,   // never set by a function that this layer sees
    bytes,   // by value, or a handle of a memory object or a sampler
    local,   // a size and no value: local memory, or a NULL buffer
    shared,  // a pointer of shared virtual memory
  };
  Kind kind = Kind::unset;
  std::size_t size = 0;
  std::vector<std::uint8_t> bytes;
};

struct KernelState {
  SeenKernel* kernel = nullptr;
  std::vector<Argument> arguments;  // as far as they were set
  bool has_indirect = false;        // it may reach memory by pointers that are no arguments
};

// Replaces the functions that make kernels and set arguments.
void install_kernels(cl_icd_dispatch& table);

// Null when the kernel's program is not recorded. With seen_mutex held.
KernelState* state_of(cl_kernel kernel);

}  // namespace clbake::layer::record
