// The product of the self-check: A(i, l) = f(i) * s(l) and B(l, j) = s(l) * g(j), small whole numbers, so that
// C(i, j) = f(i) * g(j) * sum of s(l)^2 is known without computing a product. The sums are exact in every precision but
// the 16-bit ones, which round them when they are stored.
#include "launch/warm_up.hpp"

#include <clbake/finalize.hpp>

#include "launch/prepared_gemm.hpp"

#include <cmath>
#include <cstring>

namespace clbake {
namespace {

// Kernels have other ways for rows that do not begin at multiples of 16 bytes, so there is a product of either kind.
// Both have several tiles and steps of k, the last ones partial; the second is deep enough to fill all buffers of the
// longest pipeline, 8 of 64 steps, and one of them again.
struct Sizes {
  std::size_t multiple;  // of m and n: the least one above a tile
  std::size_t depth;
};
constexpr Sizes kSizes[] = {{1, 70}, {8, 648}};

std::size_t above(std::size_t tile, std::size_t multiple) { return (tile / multiple + 1) * multiple; }

unsigned row_factor(std::size_t i) { return 1 + static_cast<unsigned>(i % 3); }
unsigned column_factor(std::size_t j) { return 1 + static_cast<unsigned>(j % 5); }
unsigned step_factor(std::size_t l) { return 1 + static_cast<unsigned>(l * l % 7 % 2); }

// A whole number from 1 to 255 as an element.
void store(Precision precision, unsigned value, unsigned char* to) {
  const auto single = static_cast<float>(value);
  if (precision == Precision::double_precision) {
    const auto number = static_cast<double>(value);
    std::memcpy(to, &number, sizeof number);
  } else if (precision == Precision::single_precision) {
    std::memcpy(to, &single, sizeof single);
  } else if (precision == Precision::bfloat16) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &single, sizeof bits);
    const auto upper = static_cast<std::uint16_t>(bits >> 16);
    std::memcpy(to, &upper, sizeof upper);
  } else {
    const auto exponent = static_cast<unsigned>(std::ilogb(single));
    const auto bits = static_cast<std::uint16_t>((exponent + 15) << 10 | ((value << (10 - exponent)) & 0x3ffU));
    std::memcpy(to, &bits, sizeof bits);
  }
}

// The element at `from`; no number that is expected when it is infinite or NaN.
double load(Precision precision, const unsigned char* from) {
  double number = 0;
  float single = 0;
  std::uint16_t bits = 0;
  if (precision == Precision::double_precision) {
    std::memcpy(&number, from, sizeof number);
    return number;
  }
  if (precision == Precision::single_precision) {
    std::memcpy(&single, from, sizeof single);
    return static_cast<double>(single);
  }
  std::memcpy(&bits, from, sizeof bits);
  if (precision == Precision::bfloat16) {
    const std::uint32_t all = static_cast<std::uint32_t>(bits) << 16;
    std::memcpy(&single, &all, sizeof single);
    return static_cast<double>(single);
  }
  const int exponent = bits >> 10 & 0x1f;
  const double value = std::ldexp(exponent == 0 ? bits & 0x3ff : (bits & 0x3ff) | 0x400, std::max(exponent, 1) - 25);
  return (bits & 0x8000) != 0 || exponent == 31 ? -1 : value;
}

// A stored matrix of `rows` x `columns` (as op() sees it), element (i, j) being of(i, j).
template <typename Of>
std::vector<unsigned char> matrix(Precision precision, std::size_t rows, std::size_t columns, bool transposed,
                                  const Of& of) {
  const std::size_t bytes = element_bytes(precision);
  std::vector<unsigned char> all(rows * columns * bytes);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      store(precision, of(i, j), &all[(transposed ? j * rows + i : i * columns + j) * bytes]);
    }
  }
  return all;
}

Status compare(const Problem& p, const std::vector<unsigned char>& found) {
  double squares = 0;
  for (std::size_t l = 0; l < p.k; ++l) squares += step_factor(l) * step_factor(l);
  const double tolerance = element_bytes(p.precision) == 2 ? 1.0 / 128 : 0;
  for (std::size_t i = 0; i < p.m; ++i) {
    for (std::size_t j = 0; j < p.n; ++j) {
      const double expected = row_factor(i) * column_factor(j) * squares;
      const double value = load(p.precision, &found[(i * p.n + j) * element_bytes(p.precision)]);
      if (std::fabs(value - expected) <= tolerance * expected) continue;
      return {Code::driver_rejected, "computed a wrong result: " + std::to_string(value) + " instead of " +
                                         std::to_string(expected) + " in a product of whole numbers"};
    }
  }
  return {};
}

// Runs the product and compares it.
Status check(const cl::Context& context, const cl::Device& device, PreparedGemm& gemm, const Problem& p) {
  std::vector<unsigned char> a = matrix(p.precision, p.m, p.k, p.trans_a,
                                        [](std::size_t i, std::size_t l) { return row_factor(i) * step_factor(l); });
  std::vector<unsigned char> b = matrix(p.precision, p.k, p.n, p.trans_b,
                                        [](std::size_t l, std::size_t j) { return step_factor(l) * column_factor(j); });
  std::vector<unsigned char> c(p.m * p.n * element_bytes(p.precision));
  cl_int errors[4] = {};
  const cl_mem_flags copied = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
  const cl::CommandQueue queue(clCreateCommandQueue(context(), device(), 0, &errors[0]));
  const cl::Memory in_a(clCreateBuffer(context(), copied, a.size(), a.data(), &errors[1]));
  const cl::Memory in_b(clCreateBuffer(context(), copied, b.size(), b.data(), &errors[2]));
  const cl::Memory out(
      clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, c.size(), c.data(), &errors[3]));
  for (const cl_int error : errors) {
    if (error != CL_SUCCESS) return opencl_status("matrices for a check", error);
  }
  const Scalars scalars{1, 0};
  Status status = gemm.enqueue(queue(), ScalarList(scalars), {in_a()}, {in_b()}, {out()}, {}, {});
  const cl_int error = status ? clEnqueueReadBuffer(queue(), out(), CL_TRUE, 0, c.size(), c.data(), 0, nullptr, nullptr)
                              : clFinish(queue());
  if (status) status = opencl_status("clEnqueueReadBuffer", error);
  return status ? compare(p, c) : status;
}

}  // namespace

Status check_product(const cl::Context& context, const cl::Device& device, const Program& program) {
  const cache::Launch& launch = product_launch(program.variant);
  Status status;
  for (const Sizes& sizes : kSizes) {
    const Problem p = make_problem(program.variant.kind(), above(launch.tile_m, sizes.multiple),
                                   above(launch.tile_n, sizes.multiple), sizes.depth);
    const Result<std::unique_ptr<PreparedGemm>> gemm = prepare_program(context, device, borrowed(program), p);
    status = gemm ? check(context, device, **gemm, p) : gemm.status();
    if (!status) break;
  }
  return status;
}

}  // namespace clbake
