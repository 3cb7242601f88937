// Complex products: the kernels that rearrange their operands, and the real variants that then compute them.
#include "complex_scene.hpp"

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;

namespace {

void check(const Scene& in, const std::string& way, const Problem& problem, const GemmRunOptions& options) {
  // Doubles go one way: the others are the same real variants again, and slow to compile.
  const std::string used = problem.precision == Precision::complex_double ? kWays[0] : way;
  const std::string variant = kernels::name(variant_for(used, problem));
  const std::string failure = failure_of(in.where, variant, problem, options);
  BOOST_TEST(failure.empty(), failure);
}

// BLAS' N, T, C, and the conjugate alone.
void set_operation(Problem& p, bool of_a, int operation) {
  (of_a ? p.trans_a : p.trans_b) = operation == 1 || operation == 2;
  (of_a ? p.conj_a : p.conj_b) = operation >= 2;
}

Problem problem_of(Precision precision, int of_a, int of_b, Layout layout, Size size) {
  Problem operations;
  set_operation(operations, true, of_a);
  set_operation(operations, false, of_b);
  Problem p = tight_problem(precision, size.m, size.n, size.k, operations.trans_a, operations.trans_b, layout);
  p.conj_a = operations.conj_a;
  p.conj_b = operations.conj_b;
  return p;
}

// Whole vectors, what is left over, nothing; deeper and wider than the bounded grids.
constexpr Size kSizes[] = {{0, 3, 4},  {3, 0, 4},  {3, 4, 0},    {1, 1, 1},
                           {1, 17, 5}, {19, 1, 9}, {16, 24, 32}, {37, 41, 53}};

}  // namespace

BOOST_AUTO_TEST_CASE(EveryOperationIsRight) {
  std::uint32_t seed = 0;
  for (const DeviceType form : {DeviceType::cpu, DeviceType::gpu}) {
    for (const Precision precision : precisions()) {
      for (int operations = 0; operations < 16; ++operations) {
        for (const Layout layout : {Layout::row_major, Layout::column_major}) {
          Problem p = problem_of(precision, operations / 4, operations % 4, layout, {13, 22, 35});
          GemmRunOptions options;
          options.seed = ++seed;
          options.alpha = {1.25, seed % 2 ? -0.5 : 0.0};
          options.beta = {seed % 3 ? 0.75 : 0.0, seed % 3 == 1 ? -2.0 : 0.0};
          check(scene(form), kWays[seed % std::size(kWays)], p, options);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(EdgesGapsAndOffsetsAreRight) {
  std::uint32_t seed = 0;
  for (const Size& size : kSizes) {
    for (const char* way : kWays) {
      for (const int operation : {0, 2}) {
        ++seed;
        Problem p = problem_of(precisions()[seed % precisions().size()], operation, 2 - operation,
                               seed % 4 < 2 ? Layout::row_major : Layout::column_major, size);
        GemmRunOptions options;
        options.seed = seed;
        check(scene(), way, p, options);
        p.lda += 1;
        p.ldb += 9;
        p.ldc += 5;
        options.a_offset = 3;
        options.b_offset = 7;
        options.c_offset = 21;
        options.alpha = {-1.5, 0.25};
        options.beta = seed % 2 ? std::complex<double>(0, 1) : std::complex<double>(-2, 0);
        check(scene(seed % 2 ? DeviceType::cpu : DeviceType::gpu), way, p, options);
      }
    }
  }
}

// More rows and columns than the grid of a copy has groups or items.
BOOST_AUTO_TEST_CASE(CopiesLargerThanTheirGridsAreRight) {
  for (const DeviceType form : {DeviceType::cpu, DeviceType::gpu}) {
    check(scene(form), kWays[1], problem_of(Precision::complex_single, 2, 2, Layout::row_major, {3, 4111, 2}), {});
    check(scene(form), kWays[1], problem_of(Precision::complex_single, 3, 3, Layout::row_major, {3, 4111, 2}), {});
    check(scene(form), kWays[1], problem_of(Precision::complex_single, 1, 0, Layout::row_major, {4111, 2, 3}), {});
  }
}

BOOST_AUTO_TEST_CASE(BatchesAreRight) {
  std::uint32_t seed = 0;
  for (const char* way : kWays) {
    for (const int operation : {0, 1, 2}) {
      for (const Layout layout : {Layout::row_major, Layout::column_major}) {
        ++seed;
        Problem p = problem_of(precisions()[seed % precisions().size()], operation, 2 - operation, layout, {9, 11, 14});
        const Extents one = extents(p);
        p.batch = 4;
        p.a_stride = one.a + 3;
        p.c_stride = one.c + 7;
        GemmRunOptions options;
        options.seed = seed;
        options.alpha = {0.75, 1};
        options.beta = {0, -0.5};
        options.a_offset = 5;
        check(scene(), way, p, options);
        p.batch = 3;
        p.offsets = {{2 * one.a, 0, one.c + 1}, {0, one.b + 4, 2 * one.c + 2}, {one.a, one.b + 4, 0}};
        check(scene(), way, p, options);
      }
    }
  }
}

// By the third dimension of a grid; the copies of each part begin at the start of the workspace.
BOOST_AUTO_TEST_CASE(LargeBatchesAreCutIntoLaunches) {
  for (const char* way : kWays) {
    Problem p = problem_of(Precision::complex_single, 2, 0, Layout::row_major, {1, 1, 2});
    p.batch = 65535 + 3;
    p.a_stride = p.c_stride = 1;
    GemmRunOptions options;
    check(scene(), way, p, options);
    for (std::size_t i = 0; i < p.batch; ++i) p.offsets.push_back({i, 2 * i, i});
    check(scene(), way, p, options);
  }
}

BOOST_AUTO_TEST_CASE(EachProductHasScalarsOfItsOwn) {
  std::vector<Precision> all = precisions();
  all.push_back(Precision::single_precision);
  for (const Precision precision : all) {
    for (const char* way : kWays) {
      for (const bool by_offsets : {false, true}) {
        Problem p = problem_of(precision, is_complex(precision) ? 2 : 1, 0, Layout::row_major, {9, 11, 14});
        const Extents one = extents(p);
        p.batch = 7;
        p.a_stride = one.a;
        p.b_stride = one.b + 1;
        p.c_stride = one.c + 7;
        for (std::size_t i = 0; by_offsets && i < p.batch; ++i)
          p.offsets.push_back({one.a * i, 3 * i, one.c * (7 - i)});
        const double y = is_complex(precision) ? 0.5 : 0;
        GemmRunOptions options;
        options.each = {{1, 0}, {1, 0}, {{-2, y}, {1, -y}}, {0, {0.5, y}}, {{0.5, y}, 0}, {0.5, -1.0}, {0, 0}};
        check(scene(), way, p, options);
      }
    }
  }
}

// An infinite element of A reaches its row of C and no other, whatever alpha and beta are.
BOOST_AUTO_TEST_CASE(InfinityStaysWhereItBelongs) {
  for (const std::complex<double> alpha : {std::complex<double>(1), std::complex<double>(-2)}) {
    Problem p = problem_of(Precision::complex_single, 0, 0, Layout::row_major, {5, 6, 7});
    GemmRunOptions options;
    options.alpha = alpha;
    options.infinite_a = true;
    check(scene(), kWays[1], p, options);
  }
}
