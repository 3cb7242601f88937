// The judge of all results: it must agree with a naive computation, and it must see what is wrong.
#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/reference.hpp>
#include "run/random_numbers.hpp"
#include "run/sums.hpp"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace clbake::builder::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename T>
constexpr Precision precision_of() {
  return sizeof(T) == 4 ? Precision::single_precision : Precision::double_precision;
}

// A row-major problem with padding and offsets, and a result that is right up to the rounding of its last step.
template <typename T>
struct Example {
  Example(std::size_t m, std::size_t n, std::size_t k, bool trans_a, bool trans_b, T alpha_, T beta_)
      : alpha(alpha_), beta(beta_) {
    problem = tight_problem(precision_of<T>(), m, n, k, trans_a, trans_b);
    problem.lda += 2;
    problem.ldb += 3;
    problem.ldc += 5;
    a = random(a_offset + (trans_a ? k : m) * problem.lda);
    b = random(b_offset + (trans_b ? n : k) * problem.ldb);
    c = random(c_offset + m * problem.ldc);
    result = c;
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) result[at(i, j)] = static_cast<T>(exact(i, j));
    }
  }

  std::size_t at(std::size_t i, std::size_t j) const { return c_offset + i * problem.ldc + j; }

  long double op_a(std::size_t i, std::size_t l) const {
    return a[a_offset + (problem.trans_a ? l * problem.lda + i : i * problem.lda + l)];
  }
  long double op_b(std::size_t l, std::size_t j) const {
    return b[b_offset + (problem.trans_b ? j * problem.ldb + l : l * problem.ldb + j)];
  }

  long double exact(std::size_t i, std::size_t j) const {
    long double sum = 0;
    for (std::size_t l = 0; l < problem.k; ++l) sum += op_a(i, l) * op_b(l, j);
    return static_cast<long double>(alpha) * sum + (beta == 0 ? 0.0L : static_cast<long double>(beta) * c[at(i, j)]);
  }

  // |alpha| * sum |a| |b| + |beta| |c|: the unit of errors.
  long double scale(std::size_t i, std::size_t j) const {
    long double sum = 0;
    for (std::size_t l = 0; l < problem.k; ++l) sum += std::fabs(op_a(i, l) * op_b(l, j));
    return std::fabs(static_cast<long double>(alpha)) * sum +
           (beta == 0 ? 0.0L : std::fabs(static_cast<long double>(beta) * c[at(i, j)]));
  }

  double naive_error() const {
    long double worst = 0;
    for (std::size_t i = 0; i < problem.m; ++i) {
      for (std::size_t j = 0; j < problem.n; ++j) {
        worst = std::max(worst, std::fabs(result[at(i, j)] - exact(i, j)) / scale(i, j));
      }
    }
    return static_cast<double>(worst);
  }

  double error() const {
    std::vector<std::size_t> rows(problem.m);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    return error(rows);
  }
  double error(const std::vector<std::size_t>& rows) const {
    const HostOperands<T> operands{problem, alpha, beta, a, a_offset, b, b_offset, c, c_offset};
    return max_error(operands, result, rows);
  }

  std::vector<T> random(std::size_t count) {
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(static_cast<double>(engine()) / 2147483648.0 - 1.0);
    return values;
  }

  std::mt19937 engine{7};
  Problem problem;
  T alpha;
  T beta;
  std::size_t a_offset = 3, b_offset = 4, c_offset = 5;
  std::vector<T> a, b, c, result;
};

template <typename T>
void check_agrees_with_naive(T alpha, T beta, std::size_t m = 7, std::size_t n = 9, std::size_t k = 11) {
  const double slack = 1e-12;  // of double against long double
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) {
      Example<T> example(m, n, k, trans_a, trans_b, alpha, beta);
      BOOST_TEST(std::fabs(example.error() - example.naive_error()) < slack);
      BOOST_TEST(example.error() <= tolerance(precision_of<T>(), k));

      // Errors of every size, spread over the whole matrix.
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) example.result[example.at(i, j)] += static_cast<T>(i * n + j) / 64;
      }
      BOOST_TEST(example.naive_error() > 0.01);
      BOOST_TEST(std::fabs(example.error() - example.naive_error()) < slack * example.naive_error());
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(AColumnMajorProblemIsTheRowMajorOneOfTheSameBytes) {
  Example<float> e(5, 7, 3, true, false, 1, 0.5F);
  e.result[e.at(4, 2)] += 1;
  Problem columns = tight_problem(Precision::single_precision, 7, 5, 3, false, true, Layout::column_major);
  columns.lda = e.problem.ldb;
  columns.ldb = e.problem.lda;
  columns.ldc = e.problem.ldc;
  const HostOperands<float> operands{columns, e.alpha, e.beta, e.b, e.b_offset, e.a, e.a_offset, e.c, e.c_offset};
  BOOST_TEST(e.error() > 0.01);
  BOOST_TEST(max_error(operands, e.result, {0, 1, 2, 3, 4, 5, 6}) == e.error());
}

// u * min(k + 3, 4 sqrt(k) + 16), with u = 2^-24 and 2^-53.
BOOST_AUTO_TEST_CASE(TolerancesAreThoseOfTheHeader) {
  const Precision s = Precision::single_precision;
  const Precision d = Precision::double_precision;
  BOOST_TEST(tolerance(s, 0) == 3 * std::ldexp(1.0, -24));
  BOOST_TEST(tolerance(s, 1) == 4 * std::ldexp(1.0, -24));
  BOOST_TEST(tolerance(s, 16) == 19 * std::ldexp(1.0, -24));
  BOOST_TEST(tolerance(s, 1024) == 144 * std::ldexp(1.0, -24));
  BOOST_TEST(tolerance(s, 10000) == 416 * std::ldexp(1.0, -24));
  BOOST_TEST(tolerance(d, 1024) == 144 * std::ldexp(1.0, -53));
  BOOST_TEST(tolerance(Precision::half_precision, 1024) == 144 * std::ldexp(1.0, -24) + std::ldexp(1.0, -11));
  const Precision small = mixed(Element::e4m3, Element::e5m2, Element::half);
  BOOST_TEST(tolerance(small, 16, true) == tolerance(small, 16) + std::ldexp(1.0, -12));
  BOOST_TEST(tolerance(Precision::half_precision, 16, true) == tolerance(Precision::half_precision, 16));
  BOOST_TEST(tolerance(Precision::bfloat16, 1024) == 144 * std::ldexp(1.0, -24) + std::ldexp(1.0, -8));
}

BOOST_AUTO_TEST_CASE(ErrorsEqualThoseOfANaiveComputation) {
  check_agrees_with_naive<float>(1.0F, 0.0F);
  check_agrees_with_naive<float>(-1.25F, 0.5F);
  check_agrees_with_naive<double>(1.0, 0.0);
  check_agrees_with_naive<double>(1.25, -0.5);
  check_agrees_with_naive<float>(1.25F, -0.5F, kSumRows + 1, kSumColumns + 3, 2 * kSumDepth + 5);  // many blocks
}

BOOST_AUTO_TEST_CASE(ComplexErrorsEqualThoseOfANaiveComputation) {
  using Number = std::complex<double>;
  const std::size_t m = 3, n = 4, k = kSumDepth + 2;
  std::mt19937 random(1);
  const auto draw = [&](std::size_t count) {
    std::vector<Number> all(count);
    for (Number& x : all) x = {static_cast<double>(random()) / 4294967296.0, static_cast<double>(random() % 8) - 4};
    return all;
  };
  const std::vector<Number> a = draw(m * k), b = draw(k * n);
  std::vector<Number> c(m * n);
  for (std::size_t at = 0; at < c.size(); ++at) {
    for (std::size_t l = 0; l < k; ++l) c[at] += std::conj(a[at / n * k + l]) * b[l * n + at % n];
  }
  Problem problem = tight_problem(Precision::complex_double, m, n, k);
  problem.conj_a = true;
  const HostOperands<Number> operands{problem, 1, 0, a, 0, b, 0, c, 0};
  BOOST_TEST(max_error(operands, c, {0, 1, 2}) < 1e-14);
  for (const Number wrong : {Number(1e-9, 0), Number(0, 1e-9)}) {
    std::vector<Number> other = c;
    other[m * n - 1] += wrong;
    BOOST_TEST(max_error(operands, other, {0, 1, 2}) > 1e-13);
  }
}

BOOST_AUTO_TEST_CASE(TheLargestOfAllPartsIsFoundByOneThreadAndByMany) {
  for (const double operations : {0.0, 1e12}) {
    std::vector<std::atomic<int>> calls(200);
    const double largest = largest_of(calls.size(), operations, [&](std::size_t i) {
      ++calls[i];
      return i == 150 ? 7.0 : 1.0;
    });
    BOOST_TEST(largest == 7.0);
    BOOST_TEST(std::all_of(calls.begin(), calls.end(), [](int count) { return count == 1; }));
  }
}

BOOST_AUTO_TEST_CASE(EveryHalfIsTheNumberThatItStandsFor) {
  std::size_t wrong = 0;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    Half half;
    half.bits = static_cast<cl_half>(bits);
    const double found = half, expected = static_cast<double>(cl_half_to_float(half.bits));
    const bool same =
        std::isnan(expected) ? std::isnan(found) : found == expected && std::signbit(found) == std::signbit(expected);
    wrong += same ? 0 : 1;
  }
  BOOST_TEST(wrong == 0U);
}

BOOST_AUTO_TEST_CASE(OneWrongElementIsSeenWhereverItIs) {
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      Example<float> example(4, 5, 6, false, false, 1.0F, 0.5F);
      example.result[example.at(i, j)] += 1e-5F;
      BOOST_TEST(example.error() > tolerance(Precision::single_precision, 6));
    }
  }
}

BOOST_AUTO_TEST_CASE(ATransposedOperandTakenAsItIsIsWrong) {
  for (const bool of_a : {true, false}) {
    Example<double> example(6, 6, 6, false, false, 1.0, 0.0);
    (of_a ? example.problem.trans_a : example.problem.trans_b) = true;
    BOOST_TEST(example.error() > 0.1);
  }
}

BOOST_AUTO_TEST_CASE(WhatIsNotFiniteIsInfinitelyWrong) {
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
    Example<float> example(3, 4, 5, false, false, 1.0F, 0.0F);
    example.result[example.at(2, 3)] = value;
    BOOST_TEST(example.error() == kInfinity);
  }
}

BOOST_AUTO_TEST_CASE(AReferenceThatIsNoNumberTakesNothingForRight) {
  Example<float> example(3, 4, 5, false, false, 1.0F, 0.0F);
  example.a[example.a_offset] = std::numeric_limits<float>::quiet_NaN();
  BOOST_TEST(example.error() == kInfinity);
  example.result[example.at(0, 0)] = std::numeric_limits<float>::quiet_NaN();
  BOOST_TEST(example.error() == kInfinity);
}

BOOST_AUTO_TEST_CASE(OnlyTheSameInfinityIsRight) {
  Example<double> example(1, 1, 1, false, false, 1.0, 1.0);
  const double infinity = std::numeric_limits<double>::infinity();
  example.c[example.at(0, 0)] = infinity;
  example.result[example.at(0, 0)] = infinity;
  BOOST_TEST(example.error() == 0.0);
  for (const double wrong : {-infinity, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    example.result[example.at(0, 0)] = wrong;
    BOOST_TEST(example.error() == kInfinity);
  }
}

BOOST_AUTO_TEST_CASE(OnlyTheWantedRowsAreLookedAt) {
  Example<float> example(5, 4, 3, false, false, 1.0F, 0.0F);
  example.result[example.at(3, 1)] += 1;
  BOOST_TEST(example.error({0, 1, 2, 4}) <= tolerance(Precision::single_precision, 3));
  BOOST_TEST(example.error({3}) > 0.1);
  BOOST_TEST(example.error(std::vector<std::size_t>{}) == 0.0);
}

BOOST_AUTO_TEST_CASE(WhatLiesOutsideTheMatrixDoesNotCount) {
  Example<float> example(3, 4, 5, true, false, 1.0F, 0.0F);
  example.result[example.at(1, 4)] = 1e6F;
  example.result[0] = 1e6F;
  BOOST_TEST(example.error() <= tolerance(Precision::single_precision, 5));
}

BOOST_AUTO_TEST_CASE(BetaZeroDoesNotReadC) {
  Example<float> example(3, 4, 5, false, true, 1.0F, 0.0F);
  for (float& value : example.c) value = std::numeric_limits<float>::quiet_NaN();
  BOOST_TEST(example.error() <= tolerance(Precision::single_precision, 5));
}

BOOST_AUTO_TEST_CASE(AlphaZeroDoesNotReadAAndB) {
  Example<double> example(3, 4, 5, false, false, 0.0, 0.5);
  for (double& value : example.a) value = std::numeric_limits<double>::quiet_NaN();
  for (double& value : example.b) value = std::numeric_limits<double>::quiet_NaN();
  BOOST_TEST(example.error() == 0.0);
  example.result[example.at(0, 0)] += 1e-6;
  BOOST_TEST(example.error() > tolerance(Precision::double_precision, 5));
}

BOOST_AUTO_TEST_CASE(DepthZeroIsBetaTimesC) {
  Example<double> example(3, 4, 0, false, false, 1.0, 0.5);
  BOOST_TEST(example.error() == 0.0);
}

BOOST_AUTO_TEST_CASE(AnythingButZeroIsInfinitelyWrongWhereNothingIsSummed) {
  Example<double> example(3, 4, 0, false, false, 1.0, 0.0);
  BOOST_TEST(example.error() == 0.0);
  example.result[example.at(1, 1)] = 1e-30;
  BOOST_TEST(example.error() == kInfinity);
}

BOOST_AUTO_TEST_CASE(OneWrongElementOfALargeProblemIsSeen) {
  Example<float> example(150, 120, 100, false, true, 1.0F, 0.0F);
  BOOST_TEST(example.error() <= tolerance(Precision::single_precision, 100));
  example.result[example.at(149, 119)] += 1e-3F;
  BOOST_TEST(example.error() > tolerance(Precision::single_precision, 100));
}

BOOST_AUTO_TEST_CASE(NumbersRepeatAsARing) {
  const std::vector<int> ring = {1, 2, 3};
  std::vector<int> found(8);
  std::size_t next = 2;
  repeat(ring, next, 5, found.data());
  repeat(ring, next, 3, found.data() + 5);
  BOOST_TEST((found == std::vector<int>{3, 1, 2, 3, 1, 2, 3, 1}));
}

BOOST_AUTO_TEST_CASE(MediansAreTheMiddle) {
  BOOST_TEST(median({3.0}) == 3.0);
  BOOST_TEST(median({9.0, 1.0, 5.0}) == 5.0);
  BOOST_TEST(median({4.0, 1.0, 3.0, 100.0}) == 3.5);
}

BOOST_AUTO_TEST_CASE(TightProblemsArePossibleAndNoTighterOnesAre) {
  for (const Layout layout : {Layout::row_major, Layout::column_major}) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        const Problem p = tight_problem(Precision::single_precision, 5, 7, 11, trans_a, trans_b, layout);
        BOOST_TEST(check(p).ok());
        for (std::size_t Problem::*ld : {&Problem::lda, &Problem::ldb, &Problem::ldc}) {
          Problem tighter = p;
          tighter.*ld -= 1;
          BOOST_TEST(!check(tighter).ok());
        }
        BOOST_TEST(check(tight_problem(Precision::single_precision, 0, 0, 0, trans_a, trans_b, layout)).ok());
      }
    }
  }
}

}  // namespace clbake::builder::test
