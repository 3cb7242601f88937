// A prepared problem: the kernels of one loaded program, their workspace, and how to enqueue them.
#pragma once

#include "launch/complex.hpp"
#include "launch/recorder.hpp"
#include "launch/workspace.hpp"
#include "program/program.hpp"
#include "select/tail.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace clbake {

// Event dependencies of a command: the last three arguments of OpenCL's enqueue calls.
struct Events {
  cl_uint wait_count;
  const cl_event* wait_list;
  cl_event* event;
};

// The scalars of a call as the caller gave them: one pair for all products, or one for each.
struct ScalarList {
  const Scalars* first;
  std::size_t count;
};

// What one call passes to every kernel. Of products beside each other with equal scalars.
struct Call {
  double alpha = 0;
  double beta = 0;
  Matrix a, b, c;  // of the row-major problem
  EpilogueBuffers more;
  bool reads_operands = false;
  bool reads_d = false;
  bool wants_event = false;   // when it ends
  std::size_t first_row = 0;  // of C: the launches compute workspace.rows from it on
  // Of a complex problem. alpha and beta above are real: what is not goes into the copy of B, and is done to C before.
  std::complex<double> copy_alpha = 1;
  std::complex<double> scale_beta = 1;
};

// The struct that every kernel gets: `Numbers` in common.cl.
struct KernelNumbers {
  cl_ulong a_offset, b_offset, c_offset;
  cl_ulong a_stride, b_stride, c_stride;
  cl_ulong bias_offset, bias_stride, d_offset, d_stride;
  cl_int m, n, k;
  cl_int lda, ldb, ldc, ldd;
  cl_int first_product;
  cl_int steps;
  cl_int unused;
};
static_assert(sizeof(KernelNumbers) == 120, "no gaps: the kernels' struct has the same members");

// The kernels of a complex product, and the problem that the caller stated; row-major.
struct ComplexPart {
  std::shared_ptr<const Program> program;
  Problem problem;
};

struct Gemm::State {
  std::shared_ptr<const Program> program;
  Explanation explanation;
  cl::Context context;
  cl::Device device;
  Problem problem;                        // row-major; what the variant computes
  std::optional<ComplexKernels> complex;  // of a complex problem, which the one above computes
  Layout layout = Layout::row_major;      // the caller's: says whether A and B are exchanged
  Extents extents;                        // of the row-major problem as stated, all products
  std::vector<cl::Kernel> kernels;        // one for each launch of the variant
  std::vector<HeldArguments> set;         // of each kernel
  Workspace workspace;
  std::size_t alignment = 1;  // bytes, of parts of a buffer
  cl::Buffer offsets;         // three for each product; null: strides
  cl::Buffer stated_offsets;  // the same of the problem as stated, if that is complex
  // With several launches only: the launches of calls that may not have ended, oldest first. The next call waits for
  // the last one, as it may use the same workspace. The ones before it are kept for PoCL 3.1: when an event fails, it
  // passes the failure on along the chain, and aborts the process at a dependent event without other references.
  std::vector<cl::Event> in_flight;
  cl_command_queue last_queue = nullptr;  // of the latest call; to compare only
  cl::CommandQueue unmarked;              // of the latest call, if no event tells when that ends; else null
  bool each_has_event = true;             // each launch, also on a queue that is in order
  bool ends_with_event = false;           // each call, also one that was not asked for one
  bool in_order = false;                  // the queue of this call is, and at most the last launch has an event
  std::vector<cl_event> waits;            // of the next launch; a member so that a call allocates nothing
  // The first of `waits` are the caller's, for every launch: OpenCL ends each command that waits for a user event that
  // fails, but need not end what waits for that command. Intel's CPU driver 2026.22 runs it and reports success.
  std::size_t callers_waits = 0;
  // Starts of A or B, and of C, that the aliasing check has passed for one buffer: the check may sort all rows.
  std::array<std::size_t, 2> apart_a{SIZE_MAX, SIZE_MAX};
  std::array<std::size_t, 2> apart_b{SIZE_MAX, SIZE_MAX};
  std::array<std::size_t, 2> apart_d{SIZE_MAX, SIZE_MAX};
  std::array<std::size_t, 2> apart_bias{SIZE_MAX, SIZE_MAX};
  std::uint64_t epoch = 0;           // of the library's programs when this was prepared: PlanCache
  std::shared_ptr<CallCount> calls;  // null: not recorded

  // Creates kernels and, unless the caller provides it, workspace. `problem` is row-major and real, `layout` the
  // caller's. Fails with opencl or out_of_memory.
  static Result<Gemm> create(const cl::Context& context, const cl::Device& device, Found found, const Problem& problem,
                             Layout layout, bool caller_workspace, std::uint64_t epoch,
                             const std::optional<ComplexPart>& complex = {});
  // The latest launch in flight that has not ended; null if there is none.
  cl_event latest_running() const;
  // After an enqueue: launches the reduction, if there is one, again on a grid for so many elements of C. Work-items
  // beyond C do nothing.
  cl_int widen_reduction(cl_command_queue queue, std::size_t elements);
  Result<Gemm> clone() const;
  Status use_workspace(cl_mem buffer, std::size_t offset);
  Status enqueue(cl_command_queue queue, const ScalarList& scalars, Matrix a, Matrix b, Matrix c,
                 const EpilogueBuffers& more, const Events& events);

 private:
  const Problem& stated() const { return complex ? complex->problem() : problem; }
  Status create_kernels();
  Status create_complex(const ComplexPart& part);
  Status create_offsets();
  Status check_call(cl_command_queue queue, const Call& call, const Events& events);
  Status check_apart(const Call& call);
  Status check_epilogue_apart(const Call& call);
  bool has_workspace() const;
  KernelNumbers numbers_of(const Call& call, std::size_t first_product) const;
  std::array<double, 4> scalars_of(const Call& call) const;
  std::size_t rows_of(const Call& call) const;
  Tail tail_of_launch(const Call& call, std::size_t products) const;
  std::size_t launches_with(const Tail& tail) const;
  cl_int set_arguments(std::size_t launch, const Call& call, std::size_t first_product, const Tail& tail);
  cl_int launch(std::size_t launch, cl_command_queue queue, const Call& call, std::size_t products, const Tail& tail,
                const Events& events);
  cl_int set_complex(ComplexKernels::Which which, const Call& call, std::size_t first_product);
  void forget_finished();
  void set_scalars(Call& call, const Scalars& scalars) const;
  Status check_scalars(const ScalarList& scalars, Call& call) const;
  Status look_at_order(cl_command_queue queue);
  void mark_launches(cl_command_queue queue);
  void mark_unmarked();
  void leave_unmarked(cl_command_queue queue);
  template <typename Launch>
  Status enqueue_next(cl_command_queue queue, bool with_event, const Launch& launch);
  Status enqueue_one(cl_command_queue queue, const Call& call, const Tail& tail, const Events& events);
  Status enqueue_complex(cl_command_queue queue, const Call& call, std::size_t first, std::size_t products);
  Status enqueue_rows(cl_command_queue queue, const Call& call, std::size_t first, std::size_t products);
  Status enqueue_products(cl_command_queue queue, Call& call, std::size_t first, std::size_t products);
  Status enqueue_launches(cl_command_queue queue, Call& call, const ScalarList& scalars, const Events& events);
  Status enqueue_all(cl_command_queue queue, Call& call, const ScalarList& scalars, const Events& events);
};

// CL_COMPLETE, a negative error, or a positive number while it has not ended; also positive when the query fails.
cl_int status_of(const cl::Event& event);

// The error of an enqueue that should have made an event.
cl_int with_event(cl_command_queue queue, const cl_event* event, cl_int error);

}  // namespace clbake
