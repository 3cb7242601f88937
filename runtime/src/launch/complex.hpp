// The launches that make a complex product a real one: kernels/complex.cl says how.
#pragma once

#include "launch/arguments.hpp"
#include "program/program.hpp"

#include <array>
#include <complex>
#include <string>

namespace clbake {

// The name of the program in a bundle. Requires is_complex(precision).
std::string complex_program(Precision precision, bool is_cpu);

// What one launch works on.
struct ComplexCopy {
  Matrix from;        // the caller's; offset in complex elements
  cl_mem to;          // unused by the scaling of C
  cl_mem offsets;     // of the batch, in complex elements; null: strides
  std::size_t first;  // product of the launch
};

// The kernels of one handle. Not to be used by two threads at once.
class ComplexKernels {
 public:
  // `problem` is complex and row-major. Fails with opencl, out_of_memory, or malformed (a program of other kernels).
  static Result<ComplexKernels> create(std::shared_ptr<const Program> program, const Problem& problem);

  const Problem& problem() const { return problem_; }
  const std::shared_ptr<const Program>& program() const { return program_; }

  // Set the arguments of the next launch. `real` is real_product(problem()).
  cl_int copy_a(const ComplexCopy& copy, const Problem& real);
  cl_int copy_b(const ComplexCopy& copy, const Problem& real, std::complex<double> alpha);
  cl_int scale_c(const ComplexCopy& copy, std::complex<double> beta);

  enum Which { kCopyA, kCopyB, kScaleC };
  cl_int enqueue(Which which, cl_command_queue queue, std::size_t products, cl_uint wait_count,
                 const cl_event* wait_list, cl_event* event) const;

 private:
  ComplexKernels() = default;
  Arguments source(Which which, const ComplexCopy& copy, std::size_t rows, std::size_t columns, std::size_t ld,
                   std::size_t stride);

  std::shared_ptr<const Program> program_;
  Problem problem_;
  Precision real_ = Precision::single_precision;
  std::array<cl::Kernel, 3> kernels_;
  std::array<HeldArguments, 3> set_;
  std::size_t items_ = 1;  // of a work-group
};

}  // namespace clbake
