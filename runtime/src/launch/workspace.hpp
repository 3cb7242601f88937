// Memory for packed operands, for the partial sums of split-k, and for the copies that make a complex product a real
// one.
#pragma once

#include "program/program.hpp"

namespace clbake {

// The smallest limit on work-groups in a grid's second and third dimension among known drivers: NVIDIA's.
inline constexpr std::size_t kMaxGroups = 65535;

// For `products` products of a batch, and `rows` rows of their C, at a time.
struct Workspace {
  std::size_t units = 0;  // of the device, if split_k is 0
  std::size_t products = 1;
  std::size_t rows = 0;
  std::size_t padded_m = 0;  // elements; of a packed A, for these rows
  std::size_t padded_n = 0;
  std::size_t padded_k = 0;
  std::size_t a_bytes = 0;  // of the buffers; 0: there is none, or it is an image
  std::size_t b_bytes = 0;
  std::size_t partials_bytes = 0;
  std::size_t copy_a_bytes = 0;  // of a complex product's operands as reals
  std::size_t copy_b_bytes = 0;
  cl::Memory a;  // packed; null: the kernel reads the caller's matrix
  cl::Memory b;
  cl::Buffer partials;  // null: no split-k
  cl::Buffer copy_a;    // null: the caller's A is read
  cl::Buffer copy_b;
};

// Work-groups that compute an m x n matrix, if k is not cut.
std::size_t tiles_of(const cache::Variant& variant, std::size_t m, std::size_t n);

// The sizes only; allocates nothing. `complex`: the row-major problem of which `problem` is the real_product; else
// null. Fails with out_of_memory when the device cannot hold the workspace of one product.
Result<Workspace> size_workspace(const cl::Device& device, const cache::Variant& variant, const Problem& problem,
                                 const Problem* complex);

// Creates the packed operands that are images. Fails with opencl or out_of_memory.
Status create_images(const cl::Context& context, const cache::Variant& variant, const Problem& problem, Workspace& w);

// Creates the buffers: new ones, or sub-buffers of `memory` from `offset` bytes on, each at a multiple of `alignment`
// bytes (the device's CL_DEVICE_MEM_BASE_ADDR_ALIGN). Fail with opencl or out_of_memory.
Status create_buffers(const cl::Context& context, Workspace& w);
Status create_sub_buffers(cl_mem memory, std::size_t offset, std::size_t alignment, Workspace& w);

// Bytes of `memory` that create_sub_buffers uses.
std::size_t sub_buffer_bytes(const Workspace& w, std::size_t alignment);

}  // namespace clbake
