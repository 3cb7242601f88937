#include "launch/call_checks.hpp"

#include <clbake/joined.hpp>

#include <algorithm>
#include <utility>
#include <vector>

// OpenCL 2.0; null where the loader is older.
extern "C" CL_API_ENTRY cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index,
                                                                    const void* pointer) __attribute__((weak));

namespace clbake {

SetPointer svm_setter() { return clSetKernelArgSVMPointer; }

namespace {

using Span = std::pair<std::size_t, std::size_t>;  // first element, one past the last

// All rows, in the order of the buffer; rows without a gap are one.
std::vector<Span> spans(const Operand& x) {
  std::vector<Span> all;
  if (x.ld == x.cols) {
    for (std::size_t i = 0; i < x.batch; ++i) all.emplace_back(x.start(i), x.start(i) + x.length());
  } else {
    x.for_each_row([&](std::size_t first) { all.emplace_back(first, first + x.cols); });
  }
  std::sort(all.begin(), all.end());
  return all;
}

// Rows up to which all are compared, at 16 bytes each.
constexpr std::size_t kMostRows = std::size_t{1} << 22;

bool meet(const Span& x, const Span& y) { return x.first < y.second && y.first < x.second; }

bool rows_meet(const std::vector<Span>& x, const std::vector<Span>& y) {
  for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    if (meet(x[i], y[j])) return true;
    ++(x[i].second <= y[j].first ? i : j);
  }
  return false;
}

// From the first element to the last.
Span hull(const Operand& x) { return {x.first_start(), x.extent()}; }

// Blocks of one larger matrix whose rows do not cross its edge.
bool same_grid(const Operand& x, const Operand& y) {
  const auto is_block = [](const Operand& o) { return o.batch == 1 && !o.offsets && o.offset % o.ld + o.cols <= o.ld; };
  return x.ld == y.ld && is_block(x) && is_block(y);
}

// A D that is C, element for element, is fine.
bool same_matrix(const Operand& d, const Operand& c) {
  return d.offset == c.offset && d.ld == c.ld && (c.batch == 1 || d.offsets || d.stride == c.stride);
}

// Null for a device that is no sub-device.
cl_device_id parent_of(cl_device_id device) {
  cl_device_id parent = nullptr;
  const cl_int error = clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, nullptr);
  return error == CL_SUCCESS ? parent : nullptr;
}

bool is_within(cl_device_id device, cl_device_id whole) {
  while (device && device != whole) device = parent_of(device);
  return device != nullptr;
}

std::size_t address_of(const Matrix& matrix) { return reinterpret_cast<std::uintptr_t>(matrix.buffer); }

Status refused(const BufferArgument& as, const char* why) { return {as.argument, joined({as.name, ": ", why})}; }

Status check_room(const BufferArgument& as, const Matrix& matrix, std::size_t extent, std::size_t elements) {
  if (extent <= elements && matrix.offset <= elements - extent) return {};
  return {as.size,
          joined({as.name, " needs ", extent, " elements from offset ", matrix.offset, ", its memory has ", elements})};
}

// OpenCL has no query of such a pointer, but a buffer over it, which is not used, tells whether the memory is shared.
Status check_svm(const BufferArgument& as, const Matrix& matrix, const cl::Context& context, std::size_t extent,
                 std::size_t each) {
  constexpr cl_mem_info uses_svm_pointer = 0x1109;  // CL_MEM_USES_SVM_POINTER, of OpenCL 2.0
  if (!svm_setter()) return refused(as, "OpenCL's loader has no clSetKernelArgSVMPointer");
  Status possible = check_room(as, matrix, extent, SIZE_MAX / each);
  if (!possible) return possible;
  cl_int error = CL_SUCCESS;
  const cl::Memory buffer(clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                         (matrix.offset + extent) * each, matrix.buffer, &error));
  error = error_of(buffer, error);
  if (error == CL_INVALID_BUFFER_SIZE) {
    return {as.size,
            joined({as.name, " needs ", extent, " elements from offset ", matrix.offset,
                    ", more than its shared virtual memory has"}),
            error};
  }
  if (error != CL_SUCCESS) return opencl_status("clCreateBuffer", error);
  cl_bool shared = CL_FALSE;  // and so it stays where the driver has no such memory
  clGetMemObjectInfo(buffer(), uses_svm_pointer, sizeof shared, &shared, nullptr);
  return shared ? Status() : refused(as, "the pointer is none that clSVMAlloc returned");
}

Status check_usm(const BufferArgument& as, const Matrix& matrix, const cl::Context& context, const UsmFunctions& usm,
                 std::size_t extent, std::size_t each) {
  constexpr cl_uint base_pointer = 0x419B;  // CL_MEM_ALLOC_BASE_PTR_INTEL
  constexpr cl_uint size = 0x419C;          // CL_MEM_ALLOC_SIZE_INTEL
  if (!usm.info || !usm.set) return refused(as, "the platform lacks cl_intel_unified_shared_memory");
  std::size_t base = 0;
  std::size_t bytes = 0;
  cl_int error = usm.info(context(), matrix.buffer, base_pointer, sizeof base, &base, nullptr);
  if (error == CL_SUCCESS) error = usm.info(context(), matrix.buffer, size, sizeof bytes, &bytes, nullptr);
  if (error != CL_SUCCESS) return opencl_status("clGetMemAllocInfoINTEL", error);
  if (base == 0) return refused(as, "the pointer is in no unified shared memory of the context");
  return check_room(as, matrix, extent, (base + bytes - address_of(matrix)) / each);
}

}  // namespace

std::size_t bias_bytes_of(Precision precision) {
  return is_mixed(precision) && !has_weights(precision) ? sizeof(cl_float) : bytes_of(element_c(precision));
}

bool overlap(const Operand& x, const Operand& y) {
  if (x.empty() || y.empty() || !meet(hull(x), hull(y))) return false;
  if (!same_grid(x, y)) {
    return x.rows > kMostRows / x.batch || y.rows > kMostRows / y.batch || rows_meet(spans(x), spans(y));
  }
  const auto columns = [](const Operand& o) { return Span(o.offset % o.ld, o.offset % o.ld + o.cols); };
  const auto rows = [](const Operand& o) { return Span(o.offset / o.ld, o.offset / o.ld + o.rows); };
  return meet(columns(x), columns(y)) && meet(rows(x), rows(y));
}

Result<cl_device_id> device_of_context(cl_context context, cl_device_id device) {
  std::size_t bytes = 0;
  cl_int error = clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes);
  std::vector<cl_device_id> devices(bytes / sizeof(cl_device_id));
  if (error == CL_SUCCESS) error = clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, devices.data(), nullptr);
  if (error == CL_INVALID_CONTEXT) return {Argument::context, "context: " + opencl_error(error), error};
  if (error != CL_SUCCESS) return opencl_status("clGetContextInfo", error);
  for (; device; device = parent_of(device)) {
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) return device;
  }
  return {Argument::device, "device is none of the context's"};
}

Status check_queue(cl_command_queue queue, const cl::Context& context, const cl::Device& device) {
  if (!queue) return {Argument::queue, "queue is null"};
  cl_context queue_context = nullptr;
  cl_device_id queue_device = nullptr;
  cl_int error = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof queue_context, &queue_context, nullptr);
  if (error == CL_SUCCESS) {
    error = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof queue_device, &queue_device, nullptr);
  }
  if (error == CL_INVALID_COMMAND_QUEUE) return {Argument::queue, "queue: " + opencl_error(error), error};
  if (error != CL_SUCCESS) return opencl_status("clGetCommandQueueInfo", error);
  if (queue_context != context()) return {Argument::queue, "queue belongs to another context"};
  if (!is_within(queue_device, device())) return {Argument::queue, "queue belongs to another device"};
  return {};
}

Status check_wait_list(cl_uint count, const cl_event* list) {
  if (count > 0 && !list) return {Argument::wait_list, joined({"wait_list is null, wait_count is ", count})};
  for (cl_uint i = 0; i < count; ++i) {
    if (!list[i]) return {Argument::wait_list, joined({"wait_list[", i, "] is null"})};
  }
  return {};
}

Status check_buffer(const BufferArgument& as, const Matrix& matrix, const cl::Context& context, std::size_t extent,
                    std::size_t bytes_per_element) {
  if (!matrix.buffer) return refused(as, "the buffer is null");
  std::size_t bytes = 0;
  cl_context owner = nullptr;
  cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
  cl_mem_flags flags = 0;
  cl_int error = clGetMemObjectInfo(matrix.buffer, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
  if (error == CL_SUCCESS) error = clGetMemObjectInfo(matrix.buffer, CL_MEM_TYPE, sizeof type, &type, nullptr);
  if (error == CL_SUCCESS) error = clGetMemObjectInfo(matrix.buffer, CL_MEM_CONTEXT, sizeof owner, &owner, nullptr);
  if (error == CL_SUCCESS && as.written) {
    error = clGetMemObjectInfo(matrix.buffer, CL_MEM_FLAGS, sizeof flags, &flags, nullptr);
  }
  if (error == CL_INVALID_MEM_OBJECT) return {as.argument, joined({as.name, ": ", opencl_error(error)}), error};
  if (error != CL_SUCCESS) return opencl_status("clGetMemObjectInfo", error);
  if (owner != context()) return refused(as, "the buffer belongs to another context");
  if (type != CL_MEM_OBJECT_BUFFER) return refused(as, "an image or a pipe, not a buffer");
  if (flags & CL_MEM_READ_ONLY) {
    return {Argument::c_read_only, joined({as.name, ": kernels may not write to its buffer (CL_MEM_READ_ONLY)"})};
  }
  return check_room(as, matrix, extent, bytes / bytes_per_element);
}

Status OperandChecks::check(const cl::Context& context, const cl::Device& device, const Call& call) {
  if (problem_->m == 0 || problem_->n == 0 || problem_->batch == 0) return {};
  if ((call.svm | call.usm) == 0) return check_placed(context, device, const_cast<Call&>(call));  // changes pointers
  Call placed = call;
  return check_placed(context, device, placed);
}

// Pointers become places in one space, from address 0 on: those that share elements are found whatever they begin at.
Status OperandChecks::check_placed(const cl::Context& context, const cl::Device& device, Call& call) {
  const Status status = check_sizes(context, device, call);
  return status ? check_apart(call) : status;
}

Status OperandChecks::check_pointer(const BufferArgument& as, bool is_svm, Matrix& matrix, const cl::Context& context,
                                    const cl::Device& device, std::size_t extent, std::size_t each) {
  const std::size_t address = address_of(matrix);
  if (address == 0) return refused(as, "the pointer is null");
  if (address % each != 0) return refused(as, "the pointer is no multiple of an element's size");
  if (!is_svm && !usm_.set) {
    usm_.info = reinterpret_cast<UsmFunctions::Info>(extension_function(device, "clGetMemAllocInfoINTEL"));
    usm_.set = reinterpret_cast<SetPointer>(extension_function(device, "clSetKernelArgMemPointerINTEL"));
  }
  Status status =
      is_svm ? check_svm(as, matrix, context, extent, each) : check_usm(as, matrix, context, usm_, extent, each);
  matrix = {nullptr, matrix.offset + address / each};
  return status;
}

Status OperandChecks::check_sizes(const cl::Context& context, const cl::Device& device, Call& call) {
  const Precision precision = problem_->precision;
  const std::size_t bytes = bytes_of(element_c(precision));
  EpilogueBuffers& more = call.more;
  Status status;
  const auto check = [&](const BufferArgument& as, Value value, Matrix& matrix, std::size_t extent, std::size_t each) {
    if (!status) return;
    status = (call.svm | call.usm) & bit_of(value)
                 ? check_pointer(as, (call.svm & bit_of(value)) != 0, matrix, context, device, extent, each)
                 : check_buffer(as, matrix, context, extent, each);
  };
  if (call.reads_operands) {
    check(exchanged_ ? kBufferB : kBufferA, Value::a, call.a, extents_.a, bytes_of(element_a(precision)));
    const BufferArgument& as_b = exchanged_ ? kBufferA : kBufferB;
    check(as_b, Value::b, call.b, extents_.b, bytes_of(element_b(precision)));
    if (status && has_weights(precision) && call.b.offset % kWeightAlignment != 0) {
      status = {as_b.argument,
                joined({as_b.name, ": packed weights at byte ", call.b.offset, ", which is no multiple of 16"})};
    }
  }
  check(kBufferC, Value::c, call.c, extents_.c, bytes);
  if (call.reads_d) check(kBufferD, Value::d, more.d, extents_.d, bytes);
  if (extents_.bias > 0) check(kBias, Value::bias, more.bias, extents_.bias, bias_bytes_of(precision));
  if (extents_.row_scales > 0) {
    check(exchanged_ ? kColumnScales : kRowScales, Value::row_scales, more.row_scales, extents_.row_scales,
          sizeof(cl_float));
  }
  if (extents_.column_scales > 0) {
    check(exchanged_ ? kRowScales : kColumnScales, Value::column_scales, more.column_scales, extents_.column_scales,
          sizeof(cl_float));
  }
  return status;
}

template <typename Shares>
bool OperandChecks::shares(Apart& known, const Matrix& operand, const Matrix& c, const Shares& find_out) {
  if (operand.buffer != c.buffer || (known.operand == operand.offset && known.c == c.offset)) return false;
  if (find_out()) return true;
  known = {operand.offset, c.offset};
  return false;
}

// Elements of several sizes: compares all from the first byte of an operand to its last.
Status OperandChecks::check_bytes_apart(const Call& call) const {
  const Problem& p = *problem_;
  const auto bytes = [](const Operand& x, std::size_t each) {
    const Span elements = hull(x);
    return Span(elements.first * each, elements.second * each);
  };
  const Operand c = operand_c(p, call.c.offset);
  const std::size_t c_bytes = bytes_of(element_c(p.precision));
  const auto meets_c = [&](const Matrix& matrix, const Operand& x, std::size_t each) {
    return matrix.buffer == call.c.buffer && !x.empty() && meet(bytes(x, each), bytes(c, c_bytes));
  };
  const auto refused = [](Argument argument, const char* name) {
    return Status(argument, joined({"C and ", name, " lie between each other in one buffer"}));
  };
  const EpilogueBuffers& more = call.more;
  if (call.reads_operands && meets_c(call.a, operand_a(p, call.a.offset), bytes_of(element_a(p.precision)))) {
    return refused(Argument::c_alias, exchanged_ ? "B" : "A");
  }
  if (call.reads_operands && meets_c(call.b, operand_b(p, call.b.offset), bytes_of(element_b(p.precision)))) {
    return refused(Argument::c_alias, exchanged_ ? "A" : "B");
  }
  const Operand d = operand_d(p, more.d.offset);
  if (call.reads_d && !same_matrix(d, c) && meets_c(more.d, d, c_bytes)) return refused(Argument::d_alias, "D");
  if (meets_c(more.bias, operand_bias(p, more.bias.offset), bias_bytes_of(p.precision)))
    return refused(Argument::bias_alias, "the bias");
  if (meets_c(more.row_scales, operand_row_scales(p, more.row_scales.offset), 4)) {
    return refused(exchanged_ ? Argument::column_scales : Argument::row_scales, "scales");
  }
  if (meets_c(more.column_scales, operand_column_scales(p, more.column_scales.offset), 4)) {
    return refused(exchanged_ ? Argument::row_scales : Argument::column_scales, "scales");
  }
  return {};
}

Status OperandChecks::check_apart(const Call& call) {
  const Problem& p = *problem_;
  const Operand c = operand_c(p, call.c.offset);
  if (is_mixed(p.precision)) return check_bytes_apart(call);
  const auto refused = [](const char* name) {
    return Status(Argument::c_alias,
                  joined({"C and ", name, " share elements of one buffer, or interleave over millions of rows"}));
  };
  if (call.reads_operands) {
    if (shares(a_, call.a, call.c, [&] { return overlap(operand_a(p, call.a.offset), c); })) {
      return refused(exchanged_ ? "B" : "A");
    }
    if (shares(b_, call.b, call.c, [&] { return overlap(operand_b(p, call.b.offset), c); })) {
      return refused(exchanged_ ? "A" : "B");
    }
  }
  const auto part_of_c = [&] {
    const Operand d = operand_d(p, call.more.d.offset);
    return !same_matrix(d, c) && overlap(d, c);
  };
  if (call.reads_d && shares(d_, call.more.d, call.c, part_of_c)) {
    return {Argument::d_alias, "C and D share elements of one buffer, but are not the same matrix"};
  }
  const auto bias_in_c = [&] { return overlap(operand_bias(p, call.more.bias.offset), c); };
  if (extents_.bias > 0 && shares(bias_, call.more.bias, call.c, bias_in_c)) {
    return {Argument::bias_alias, "C and the bias share elements of one buffer"};
  }
  return {};
}

}  // namespace clbake
