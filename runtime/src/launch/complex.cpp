#include "launch/complex.hpp"

#include "select/problem.hpp"

#include <algorithm>

namespace clbake {
namespace {

constexpr const char* kNames[] = {"clbake_complex_a", "clbake_complex_b", "clbake_complex_c"};

// The kernels cover all rows and columns with any grid. A bounded one keeps PoCL at the function that is compiled for
// small grids, and is enough for any device.
constexpr std::size_t kMostGroupsInX = 64;
constexpr std::size_t kMostGroupsInY = 4096;

// Rows and columns as stored.
std::size_t rows_of_a(const Problem& p) { return p.trans_a ? p.k : p.m; }
std::size_t columns_of_a(const Problem& p) { return p.trans_a ? p.m : p.k; }
std::size_t rows_of_b(const Problem& p) { return p.trans_b ? p.n : p.k; }
std::size_t columns_of_b(const Problem& p) { return p.trans_b ? p.k : p.n; }

double sign(bool conjugate) { return conjugate ? -1 : 1; }

}  // namespace

std::string complex_program(Precision precision, bool is_cpu) {
  return std::string("clbake-") + name(precision) + (is_cpu ? "-cpu" : "-gpu");
}

Result<ComplexKernels> ComplexKernels::create(std::shared_ptr<const Program> program, const Problem& problem) {
  ComplexKernels made;
  made.program_ = std::move(program);
  made.problem_ = problem;
  made.real_ = real_precision(problem.precision);
  for (std::size_t i = 0; i < made.kernels_.size(); ++i) {
    const auto& launches = made.program_->variant.launches;
    const auto launch = std::find_if(launches.begin(), launches.end(),
                                     [&](const cache::Launch& l) { return l.kernel_name == kNames[i]; });
    if (launch == launches.end() || launch->local[1] != 1 || launch->local[2] != 1) {
      return {Code::malformed, "program " + made.program_->variant.name + " lacks kernel " + kNames[i]};
    }
    made.items_ = launch->local[0];
    cl_int error = CL_SUCCESS;
    made.kernels_[i] = cl::Kernel(made.program_->program, kNames[i], &error);
    if (Status created = opencl_status("clCreateKernel", error_of(made.kernels_[i], error)); !created) return created;
  }
  return made;
}

// The arguments that all three begin with, the scaling in an order of its own.
Arguments ComplexKernels::source(Which which, const ComplexCopy& copy, std::size_t rows, std::size_t columns,
                                 std::size_t ld, std::size_t stride) {
  Arguments arguments(kernels_[which](), set_[which]);
  arguments.size(rows).size(columns).memory(copy.from.buffer).distance(copy.from.offset).size(ld).distance(stride);
  arguments.memory(copy.offsets).size(copy.first);
  return arguments;
}

cl_int ComplexKernels::copy_a(const ComplexCopy& copy, const Problem& real) {
  const Problem& p = problem_;
  Arguments arguments = source(kCopyA, copy, rows_of_a(p), columns_of_a(p), p.lda, p.a_stride);
  arguments.memory(copy.to).distance(real.a_stride).size(real.lda).size(p.trans_a ? 1 : 0).real(sign(p.conj_a), real_);
  return arguments.error();
}

cl_int ComplexKernels::copy_b(const ComplexCopy& copy, const Problem& real, std::complex<double> alpha) {
  const Problem& p = problem_;
  Arguments arguments = source(kCopyB, copy, rows_of_b(p), columns_of_b(p), p.ldb, p.b_stride);
  arguments.memory(copy.to).distance(real.b_stride).size(real.ldb).reals<2>({alpha.real(), alpha.imag()}, real_);
  arguments.real(sign(p.conj_b), real_).real(sign(p.trans_b), real_);
  return arguments.error();
}

cl_int ComplexKernels::scale_c(const ComplexCopy& copy, std::complex<double> beta) {
  const Problem& p = problem_;
  Arguments arguments = source(kScaleC, copy, p.m, p.n, p.ldc, p.c_stride);
  arguments.reals<2>({beta.real(), beta.imag()}, real_);
  return arguments.error();
}

cl_int ComplexKernels::enqueue(Which which, cl_command_queue queue, std::size_t products, cl_uint wait_count,
                               const cl_event* wait_list, cl_event* event) const {
  const Problem& p = problem_;
  const std::size_t rows = which == kCopyA ? rows_of_a(p) : which == kCopyB ? rows_of_b(p) : p.m;
  const std::size_t columns = which == kCopyA ? columns_of_a(p) : which == kCopyB ? columns_of_b(p) : p.n;
  // On CPUs a work-group of one item takes whole rows; on GPUs each item of a work-group an element.
  const std::size_t in_x = items_ == 1 ? 1 : std::min((columns + items_ - 1) / items_, kMostGroupsInX);
  const std::size_t local[3] = {items_, 1, 1};
  const std::size_t global[3] = {in_x * items_, std::min(rows, kMostGroupsInY), products};
  return clEnqueueNDRangeKernel(queue, kernels_[which](), 3, nullptr, global, local, wait_count, wait_list, event);
}

}  // namespace clbake
