// Checks of the arguments of a call, before anything is enqueued.
#pragma once

#include <clbake/operand.hpp>

#include "launch/arguments.hpp"

namespace clbake {

// True when two operands of one buffer share elements. Exact: blocks of one matrix, as in a blocked factorisation, may
// lie between each other's rows. Constant time where both have one leading dimension, and there is no batch; otherwise
// sorts the rows of both. Also true when they interleave and are too many to compare (4 million). May throw
// std::bad_alloc.
bool overlap(const Operand& x, const Operand& y);

// The checks below fail with invalid_argument, naming the argument; or with opencl or out_of_memory.

// That the queue is of the context, and of the device or a sub-device of it.
Status check_queue(cl_command_queue queue, const cl::Context& context, const cl::Device& device);

// The device itself, if it is one of the context's, else the device of which it is a sub-device: PoCL lists that in
// contexts of sub-devices.
Result<cl_device_id> device_of_context(cl_context context, cl_device_id device);

// That there are `count` events, none of them null.
Status check_wait_list(cl_uint count, const cl_event* list);

// Bytes of an element of the problem's bias.
std::size_t bias_bytes_of(Precision precision);

// How a failure names a buffer.
struct BufferArgument {
  const char* name;
  Argument argument;  // null, not a buffer, of another context
  Argument size;      // too small
  bool written = false;
};
inline constexpr BufferArgument kBufferA{"A", Argument::a, Argument::a_size};
inline constexpr BufferArgument kBufferB{"B", Argument::b, Argument::b_size};
inline constexpr BufferArgument kBufferC{"C", Argument::c, Argument::c_size, true};
inline constexpr BufferArgument kBufferD{"D", Argument::d, Argument::d_size};
inline constexpr BufferArgument kBias{"the bias", Argument::bias_vector, Argument::bias_size};
inline constexpr BufferArgument kRowScales{"the scales of rows", Argument::row_scales, Argument::row_scales};
inline constexpr BufferArgument kColumnScales{"the scales of columns", Argument::column_scales,
                                              Argument::column_scales};
inline constexpr BufferArgument kCounts{"the buffer of counts", Argument::counts, Argument::counts};
inline constexpr BufferArgument kWorkspace{"the workspace", Argument::workspace, Argument::workspace};

// OpenCL 2.0's clSetKernelArgSVMPointer; null where the loader is older.
SetPointer svm_setter();

// That it is a buffer of the context, holds `extent` elements from the matrix's offset on and, if it is written, is not
// read-only to kernels.
Status check_buffer(const BufferArgument& as, const Matrix& matrix, const cl::Context& context, std::size_t extent,
                    std::size_t bytes_per_element);

// Functions of cl_intel_unified_shared_memory, null where the platform lacks it: which allocation a pointer is in, and
// an argument by pointer.
struct UsmFunctions {
  using Info = cl_int(CL_API_CALL*)(cl_context, const void*, cl_uint, std::size_t, void*, std::size_t*);
  Info info = nullptr;
  SetPointer set = nullptr;
};

// The matrices of a handle's calls.
class OperandChecks {
 public:
  OperandChecks() = default;
  // `problem` is row-major and must outlive this. layout: the caller's; column-major exchanges A and B.
  OperandChecks(const Problem& problem, Layout layout)
      : problem_(&problem), extents_(extents(problem)), exchanged_(layout == Layout::column_major) {}

  // That all memory that is read or written is there and large enough, and that none shares elements with C.
  Status check(const cl::Context& context, const cl::Device& device, const Call& call);
  // Found by the first check of such a pointer.
  const UsmFunctions& usm() const { return usm_; }

 private:
  // Pairs of starts of an operand and C in one buffer that are known to share nothing: the check may sort all rows.
  struct Apart {
    std::size_t operand = SIZE_MAX;
    std::size_t c = SIZE_MAX;
  };
  Status check_placed(const cl::Context& context, const cl::Device& device, Call& call);
  Status check_sizes(const cl::Context& context, const cl::Device& device, Call& call);
  Status check_pointer(const BufferArgument& as, bool is_svm, Matrix& matrix, const cl::Context& context,
                       const cl::Device& device, std::size_t extent, std::size_t each);
  Status check_apart(const Call& call);
  Status check_bytes_apart(const Call& call) const;
  template <typename Shares>
  static bool shares(Apart& known, const Matrix& operand, const Matrix& c, const Shares& find_out);

  const Problem* problem_ = nullptr;
  Extents extents_;
  bool exchanged_ = false;
  UsmFunctions usm_;
  Apart a_, b_, d_, bias_;
};

}  // namespace clbake
