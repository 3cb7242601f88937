#include "launch/arguments.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace clbake {
namespace {

// `Numbers` in common.cl.
struct KernelNumbers {
  cl_ulong a_offset, b_offset, c_offset;
  cl_ulong a_stride, b_stride, c_stride;
  cl_ulong bias_offset, bias_stride, d_offset, d_stride;
  cl_int m, n, k;
  cl_int lda, ldb, ldc, ldd;
  cl_int first_product;
  cl_int steps;
  cl_int group;
};
static_assert(sizeof(KernelNumbers) == 120, "no gaps: the kernels' struct has the same members");

// `Quantization` in mixed.cl.
struct KernelQuantization {
  cl_ulong row_scale_offset, column_scale_offset;
  cl_ulong row_scale_stride, column_scale_stride;
  cl_int zero_a, zero_b, zero_c;
  cl_int unused;
};
static_assert(sizeof(KernelQuantization) == 48, "no gaps: the kernels' struct has the same members");

cl_int as_int(std::size_t value) { return static_cast<cl_int>(value); }

// The contract's number `steps` (ACTIVATION and the bits below it in common.cl).
std::size_t steps_of(const Epilogue& e, bool reads_d) {
  std::size_t steps = 0;
  switch (e.activation) {
    case Activation::none: break;
    case Activation::relu:
    case Activation::clamp: steps = 1; break;
    case Activation::sigmoid: steps = 2; break;
    case Activation::silu: steps = 3; break;
    case Activation::gelu: steps = 4; break;
    case Activation::gelu_tanh: steps = 5; break;
  }
  if (e.bias == Bias::per_row) steps += 8;
  if (e.bias == Bias::per_column) steps += 16;
  return steps + (reads_d ? 32 : 0);
}

// The contract's number `steps` of scales and zero points (ROW_TERMS and those below it in mixed.cl).
std::size_t steps_of(const Quantization& q, bool reads_operands) {
  return (reads_operands && q.zero_b != 0 ? 64 : 0) + (reads_operands && q.zero_a != 0 ? 128 : 0) +
         (q.row_scales ? 256 : 0) + (q.column_scales ? 512 : 0) + (q.zero_c != 0 ? 1024 : 0);
}

KernelNumbers numbers_of(const LaunchPlan& plan, const Part& part, const Call& call) {
  const Problem& p = plan.real;
  const Epilogue& e = p.epilogue;
  const std::size_t row = part.first_row;
  const std::size_t reals = is_complex(plan.stated.precision) ? 2 : 1;  // in an element as stated
  // A copy begins with the part's first product: a "negative" offset takes the kernel there.
  const auto start = [&](const Matrix& matrix, Value copy, std::size_t stride) -> cl_ulong {
    return plan.bytes_of(copy) > 0 ? 0 - part.first_product * stride : reals * matrix.offset;
  };
  KernelNumbers x{};
  x.a_offset = start(call.a, Value::copy_a, p.a_stride) + row * (p.trans_a ? 1 : p.lda);
  x.b_offset = start(call.b, Value::copy_b, p.b_stride);
  x.c_offset = reals * call.c.offset + row * p.ldc;
  x.a_stride = p.a_stride;
  x.b_stride = p.b_stride;
  x.c_stride = p.c_stride;
  x.m = as_int(part.rows);
  x.n = as_int(p.n);
  x.k = as_int(call.reads_operands ? p.k : 0);
  x.lda = as_int(p.lda);
  x.ldb = as_int(p.ldb);
  x.ldc = as_int(p.ldc);
  x.first_product = as_int(part.first_product);
  x.steps = as_int(steps_of(e, call.reads_d) + steps_of(p.quantization, call.reads_operands));
  x.group = as_int(plan.group.members.size());
  if (plan.group.counted) {
    x.group = -as_int(p.batch);
    x.a_stride = call.counts.offset;
  }
  if (e.bias != Bias::none) {
    x.bias_offset = call.more.bias.offset + (e.bias == Bias::per_row ? row : 0);
    x.bias_stride = e.bias_stride;
  }
  if (call.reads_d) {
    x.d_offset = call.more.d.offset + row * e.ldd;
    x.d_stride = e.d_stride;
    x.ldd = as_int(e.ldd);
  }
  return x;
}

KernelQuantization quantization_of(const LaunchPlan& plan, const Part& part, const Call& call) {
  const Quantization& q = plan.real.quantization;
  return {call.more.row_scales.offset + part.first_row,
          call.more.column_scales.offset,
          q.row_scale_stride,
          q.column_scale_stride,
          q.zero_a,
          q.zero_b,
          q.zero_c,
          0};
}

// alpha, beta, and the bounds of a clamp.
std::array<double, 4> scalars_of(const Epilogue& e, const Call& call) {
  std::array<double, 4> scalars{call.alpha, call.beta, 0, 0};
  if (e.activation == Activation::relu) scalars[3] = std::numeric_limits<double>::infinity();
  if (e.activation == Activation::clamp) {
    scalars[2] = e.low;
    scalars[3] = e.high;
  }
  return scalars;
}

std::complex<double> rounded(std::complex<double> value, Precision precision) {
  const bool exact = real_precision(precision) == Precision::double_precision ||  //
                     element_c(precision) == Element::int32;                      // whole numbers
  if (exact) return value;
  return std::complex<float>(value);
}

// Sets arguments in their order. A value or null that the kernel already has is not set again; memory is, as a new
// object may have an old one's address.
class Setter {
 public:
  Setter(cl_kernel kernel, HeldArguments& held, ArgumentList* list) : kernel_(kernel), held_(held), list_(list) {}

  void memory(cl_mem value, SetPointer set) {
    if (value) held_.set &= ~(1U << index_);
    set ? pointer(value, set) : bytes(&value, sizeof value);
  }
  // A scalar or a struct of OpenCL C.
  template <typename T>
  void number(const T& value) {
    bytes(&value, sizeof value);
  }
  // A real, or a vector of them, of OpenCL C.
  template <std::size_t count>
  void reals(const std::array<double, count>& values, bool doubles) {
    if (doubles) return bytes(values.data(), sizeof values);
    std::array<cl_float, count> singles;
    for (std::size_t i = 0; i < count; ++i) singles[i] = static_cast<cl_float>(values[i]);
    bytes(singles.data(), sizeof singles);
  }
  // int4 of OpenCL C; what is out of range, as an infinite bound, becomes the nearest that is not.
  void whole(const std::array<double, 4>& values) {
    std::array<cl_int, 4> whole;
    for (std::size_t i = 0; i < 4; ++i) {
      whole[i] = static_cast<cl_int>(std::min(std::max(values[i], -0x1p31), 0x1p31 - 1));
    }
    bytes(whole.data(), sizeof whole);
  }
  cl_int error() const { return error_; }

 private:
  void bytes(const void* value, std::size_t size) {
    void* const held = &held_.words[word_];
    const std::uint32_t bit = 1U << index_;
    const cl_uint index = index_++;
    word_ += (size + 7) / 8;
    if (error_ != CL_SUCCESS || ((held_.set & bit) != 0 && std::memcmp(held, value, size) == 0)) return;
    error_ = list_ ? CL_SUCCESS : clSetKernelArg(kernel_, index, size, value);
    held_.set &= ~bit;
    if (error_ != CL_SUCCESS) return;
    held_.set |= bit;
    std::memcpy(held, value, size);
    if (list_) list_->add(index, size, held);
  }

  void pointer(const void* at, SetPointer set) {
    const cl_uint index = index_++;
    ++word_;
    if (error_ != CL_SUCCESS) return;
    if (list_) return list_->add_pointer(index, at);
    error_ = set(kernel_, index, at);
  }

  cl_kernel kernel_;
  HeldArguments& held_;
  ArgumentList* list_;
  cl_uint index_ = 0;
  std::size_t word_ = 0;
  cl_int error_ = CL_SUCCESS;
};

}  // namespace

void set_scalars(const LaunchPlan& plan, const Scalars& scalars, Call& call) {
  const Epilogue& e = plan.stated.epilogue;
  const std::complex<double> alpha = rounded(scalars.alpha, plan.stated.precision);
  const std::complex<double> beta = rounded(scalars.beta, plan.stated.precision);
  call.reads_operands = plan.real.k > 0 && alpha != 0.0;
  call.reads_d = e.has_d && beta != 0.0;
  call.complex_alpha = alpha.imag() != 0 ? alpha : 1;
  call.complex_beta = beta.imag() != 0 ? beta : 1;
  call.alpha = alpha.imag() != 0 ? 1 : alpha.real();
  call.beta = beta.imag() != 0 ? 1 : beta.real();
  if (call.reads_operands) return;
  // In the place of an infinite alpha, which times the empty sum would be NaN. -0 keeps the sign of a zero in beta * C.
  call.alpha = call.beta != 0 ? -0.0 : 0.0;
}

cl_int set_arguments(cl_kernel kernel, HeldArguments& held, const LaunchPlan& plan, const Step& step, const Call& call,
                     const MemoryArguments& memory, ArgumentList* list) {
  const bool whole = element_c(plan.real.precision) == Element::int32;
  const bool doubles = plan.real.precision == Precision::double_precision;
  const auto parts = [](std::complex<double> x) { return std::array<double, 2>{x.real(), x.imag()}; };
  Setter set(kernel, held, list);
  for (const KernelArgument& argument : plan.kernels[step.kernel].arguments) {
    switch (argument.value) {
      case Value::numbers: set.number(numbers_of(plan, step.part, call)); break;
      case Value::quantization: set.number(quantization_of(plan, step.part, call)); break;
      case Value::weights: {
        const Quantization& q = plan.real.quantization;
        set.number(std::array<cl_int, 2>{as_int(q.weight_group), q.weight_zeros ? 1 : 0});
        break;
      }
      case Value::scalars: {
        const std::array<double, 4> scalars = scalars_of(plan.real.epilogue, call);
        whole ? set.whole(scalars) : set.reals(scalars, doubles);
        break;
      }
      case Value::tail: set.number(std::array<cl_int, 2>{as_int(step.tail.whole), as_int(step.tail.slices)}); break;
      case Value::integer: set.number(as_int(argument.number)); break;
      case Value::distance: set.number(cl_ulong{argument.number}); break;
      case Value::sign: set.reals<1>({argument.number != 0 ? -1.0 : 1.0}, doubles); break;
      case Value::first_product: set.number(as_int(step.part.first_product)); break;
      case Value::a_offset: set.number(cl_ulong{call.a.offset}); break;
      case Value::b_offset: set.number(cl_ulong{call.b.offset}); break;
      case Value::c_offset: set.number(cl_ulong{call.c.offset}); break;
      case Value::complex_alpha: set.reals(parts(call.complex_alpha), doubles); break;
      case Value::complex_beta: set.reals(parts(call.complex_beta), doubles); break;
      default: {
        const auto number = static_cast<std::size_t>(argument.value);
        const std::uint32_t bit = bit_of(argument.value);
        const SetPointer by = memory.svm & bit ? memory.set_svm : memory.usm & bit ? memory.set_usm : nullptr;
        set.memory(memory.at[number], by);
      }
    }
  }
  return set.error();
}

}  // namespace clbake
