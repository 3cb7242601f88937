// The door's complex products, against sums in double precision.
#include "clblast/door_scene.hpp"

#include "test_device.hpp"

#include <clblast_c.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>

using namespace clbake::tests;
using clblast::Layout;
using clblast::StatusCode;
using clblast::Transpose;
using Element = std::complex<float>;
using Exact = std::complex<double>;

namespace {

constexpr std::size_t kOffset = 3, kGuard = 5;

// A buffer of random elements; NaN before the offset, and behind everything.
struct Buffer {
  explicit Buffer(std::size_t elements, unsigned seed, bool poisoned = false) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    values.assign(kOffset + elements + kGuard, {nan, nan});
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> number(-1, 1);
    for (std::size_t i = 0; i < elements && !poisoned; ++i) values[kOffset + i] = {number(random), number(random)};
    memory = clCreateBuffer(session().context(), CL_MEM_COPY_HOST_PTR, values.size() * sizeof(Element), values.data(),
                            nullptr);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { clReleaseMemObject(memory); }
  std::vector<Element> read() const {
    std::vector<Element> now(values.size());
    clEnqueueReadBuffer(queue(), memory, CL_TRUE, 0, now.size() * sizeof(Element), now.data(), 0, nullptr, nullptr);
    return now;
  }
  std::vector<Element> values;
  cl_mem memory = nullptr;
};

constexpr Element kAlpha{1.5F, -0.5F};

struct Product {
  Shape shape;  // without offsets
  Element beta{};
  std::size_t products = 1;
  std::size_t a_stride, b_stride, c_stride;
  Buffer a, b, c;

  Product(const Shape& s, Element by, std::size_t count)
      : shape(s),
        beta(by),
        products(count),
        a_stride(s.a_extent()),
        b_stride(s.b_extent() + 1),
        c_stride(s.c_extent() + 2),
        a(count * a_stride, 1),
        b(count * b_stride, 2),
        c(count * c_stride, 3, by == Element()) {}

  // Element (row, column) of op(X), which is stored line by line of itself, or of its transpose.
  static Exact at(const std::vector<Element>& x, std::size_t start, bool rows, std::size_t ld, std::size_t row,
                  std::size_t column, Transpose op) {
    const Exact value(x[kOffset + start + (rows ? row * ld + column : column * ld + row)]);
    return op == Transpose::kConjugate ? std::conj(value) : value;
  }

  // The largest error in units of the sum of the terms' magnitudes; infinite where something else was written.
  double error(const std::vector<Element>& alphas, const std::vector<Element>& betas) const {
    const std::vector<Element> result = c.read();
    std::vector<bool> written(result.size());
    double worst = 0;
    for (std::size_t p = 0; p < products; ++p) {
      for (std::size_t i = 0; i < shape.m; ++i) {
        for (std::size_t j = 0; j < shape.n; ++j) {
          const Exact alpha(alphas[p]), beta_of(betas[p]);
          Exact sum = 0;
          double magnitude = 0;
          for (std::size_t l = 0; l < shape.k; ++l) {
            const Exact x = at(a.values, p * a_stride, shape.rows_a(), shape.lda(), i, l, shape.trans_a);
            const Exact y = at(b.values, p * b_stride, shape.rows_b(), shape.ldb(), l, j, shape.trans_b);
            sum += x * y;
            magnitude += std::abs(alpha) * std::abs(x) * std::abs(y);
          }
          const std::size_t index =
              kOffset + p * c_stride + (shape.row_major() ? i * shape.ldc() + j : j * shape.ldc() + i);
          written[index] = true;
          sum *= alpha;
          if (beta_of != Exact()) sum += beta_of * Exact(c.values[index]);
          if (beta_of != Exact()) magnitude += std::abs(beta_of) * std::abs(Exact(c.values[index]));
          const double difference = std::abs(Exact(result[index]) - sum) / magnitude;
          worst = std::isnan(difference) ? HUGE_VAL : std::max(worst, difference);
        }
      }
    }
    for (std::size_t i = 0; i < result.size(); ++i) {
      const bool same = std::memcmp(&result[i], &c.values[i], sizeof result[i]) == 0;
      if (!written[i] && !same) worst = HUGE_VAL;
    }
    return worst;
  }
};

// A complex sum of k products is a real one of 2 k in each of its parts; two more roundings for alpha, one for beta.
double tolerance(std::size_t k) { return std::ldexp(static_cast<double>(2 * k + 6), -24); }

Shape shape_of(Layout layout, Transpose trans_a, Transpose trans_b) {
  Shape shape;
  shape.layout = layout;
  shape.trans_a = trans_a;
  shape.trans_b = trans_b;
  shape.m = 19;
  shape.n = 23;
  shape.k = 17;
  shape.padding = 2;
  return shape;
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryLayoutTransposeAndConjugateIsRight) {
  for (const Layout layout : {Layout::kRowMajor, Layout::kColMajor}) {
    for (const Transpose trans_a : {Transpose::kNo, Transpose::kYes, Transpose::kConjugate}) {
      for (const Transpose trans_b : {Transpose::kNo, Transpose::kYes, Transpose::kConjugate}) {
        for (const Element beta : {Element(), Element(0.5F, 2)}) {
          const Product on(shape_of(layout, trans_a, trans_b), beta, 1);
          const Shape& s = on.shape;
          cl_command_queue q = queue();
          BOOST_TEST((clblast::Gemm<Element>(layout, trans_a, trans_b, s.m, s.n, s.k, kAlpha, on.a.memory, kOffset,
                                             s.lda(), on.b.memory, kOffset, s.ldb(), beta, on.c.memory, kOffset,
                                             s.ldc(), &q) == StatusCode::kSuccess));
          BOOST_TEST(on.error({kAlpha}, {beta}) <= tolerance(s.k));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(ABatchWithStridesIsRight) {
  const Product on(shape_of(Layout::kColMajor, Transpose::kConjugate, Transpose::kNo), {-1, 0.25F}, 3);
  const Shape& s = on.shape;
  cl_command_queue q = queue();
  BOOST_TEST((clblast::GemmStridedBatched<Element>(s.layout, s.trans_a, s.trans_b, s.m, s.n, s.k, kAlpha, on.a.memory,
                                                   kOffset, s.lda(), on.a_stride, on.b.memory, kOffset, s.ldb(),
                                                   on.b_stride, on.beta, on.c.memory, kOffset, s.ldc(), on.c_stride, 3,
                                                   &q) == StatusCode::kSuccess));
  BOOST_TEST(on.error({kAlpha, kAlpha, kAlpha}, {on.beta, on.beta, on.beta}) <= tolerance(s.k));
}

// By the API for C, whose scalars are pairs.
BOOST_AUTO_TEST_CASE(ABatchWithOffsetsHasItsOwnScalars) {
  const Product on(shape_of(Layout::kRowMajor, Transpose::kNo, Transpose::kYes), {1, 0}, 2);
  const Shape& s = on.shape;
  const cl_float2 alphas[] = {{{1, 2}}, {{-0.5F, 1}}}, betas[] = {{{1, -1}}, {{0.25F, 0.5F}}};
  const std::size_t as[] = {kOffset, kOffset + on.a_stride}, bs[] = {kOffset, kOffset + on.b_stride},
                    cs[] = {kOffset, kOffset + on.c_stride};
  cl_command_queue q = queue();
  cl_event event = nullptr;
  BOOST_REQUIRE(CLBlastCgemmBatched(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeYes, s.m, s.n, s.k,
                                    alphas, on.a.memory, as, s.lda(), on.b.memory, bs, s.ldb(), betas, on.c.memory, cs,
                                    s.ldc(), 2, &q, &event) == CLBlastSuccess);
  BOOST_TEST(clWaitForEvents(1, &event) == CL_SUCCESS);
  clReleaseEvent(event);
  BOOST_TEST(on.error({{1, 2}, {-0.5F, 1}}, {{1, -1}, {0.25F, 0.5F}}) <= tolerance(s.k));
}

BOOST_AUTO_TEST_CASE(SizesAreCountedInComplexElements) {
  const Product on(shape_of(Layout::kRowMajor, Transpose::kNo, Transpose::kNo), {}, 1);
  const Shape& s = on.shape;
  cl_command_queue q = queue();
  const auto call = [&](std::size_t c_offset, std::size_t ldc) {
    return CLBlastCgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, s.m, s.n, s.k, {{1, 0}},
                        on.a.memory, kOffset, s.lda(), on.b.memory, kOffset, s.ldb(), {{0, 0}}, on.c.memory, c_offset,
                        ldc, &q, nullptr);
  };
  BOOST_TEST(call(kOffset, s.n - 1) == CLBlastInvalidLeadDimC);
  BOOST_TEST(call(on.c.values.size() - s.c_extent() + 1, s.ldc()) == CLBlastInsufficientMemoryC);
  BOOST_TEST(call(kOffset, s.ldc()) == CLBlastSuccess);
  BOOST_TEST(on.error({{1, 0}}, {{}}) <= tolerance(s.k));
}

int main(int argc, char** argv) {
  device();  // skips without one
  return boost::unit_test::unit_test_main(init_unit_test, argc, argv);
}
