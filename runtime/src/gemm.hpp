// A prepared problem: the kernels of one loaded program, their workspace, and how to enqueue them.
#pragma once

#include "program.hpp"

#include <vector>

namespace clbake {

// How an enqueued command hangs together with others: the last three arguments of OpenCL's enqueue calls.
struct Events {
  cl_uint wait_count;
  const cl_event* wait_list;
  cl_event* event;
};

// What one call passes to every kernel.
struct Call {
  double alpha = 0;
  double beta = 0;
  Matrix a, b, c;  // of the row-major problem
  bool reads_operands = false;
};

// Memory that the copies of A and B and the parts of a split sum need, for `products` products at a time.
struct Workspace {
  std::size_t products = 1;
  std::size_t padded_m = 0;  // elements
  std::size_t padded_n = 0;
  std::size_t padded_k = 0;
  cl::Memory a;  // null: the kernel reads the caller's matrix
  cl::Memory b;
  cl::Buffer parts;  // null: no split
};

struct Gemm::State {
  std::shared_ptr<const Program> program;
  cl::Context context;
  cl::Device device;
  Problem problem;                    // row-major, without offsets
  Layout layout = Layout::row_major;  // the caller's: says whether A and B are exchanged
  Extents extents;                    // of the row-major problem, all products
  std::vector<cl::Kernel> kernels;    // one for each launch of the variant
  Workspace workspace;
  cl::Buffer offsets;  // three for each product; null: strides
  // With several launches only: the last one of the latest call, which the next call's copies must not overtake.
  cl::Event last;
  std::vector<cl_event> waits;

  // Creates kernels and workspace. `problem` is the caller's. Fails with opencl or out_of_memory.
  static Result<Gemm> create(std::shared_ptr<const Program> program, const cl::Context& context,
                             const cl::Device& device, const Problem& problem);
  Status enqueue(cl_command_queue queue, double alpha, Matrix a, Matrix b, double beta, Matrix c, const Events& events);

 private:
  Status create_kernels();
  Status create_offsets(const std::vector<BatchOffsets>& all);
  Status check_call(cl_command_queue queue, const Call& call, const Events& events) const;
  cl_int set_arguments(std::size_t launch, const Call& call, std::size_t first_product);
  cl_int launch(std::size_t launch, cl_command_queue queue, std::size_t products, const Events& events);
  Status enqueue_one(cl_command_queue queue, const Call& call, const Events& events);
  Status enqueue_all(cl_command_queue queue, const Call& call, const Events& events);
};

// Sizes and allocates. Fails with out_of_memory when one product's copy is more than the device can hold, or opencl.
Result<Workspace> make_workspace(const cl::Context& context, const cl::Device& device, const cache::Variant& variant,
                                 const Problem& problem);

}  // namespace clbake
