// Groups: products of different sizes in one launch, from a list and counted on the device; and single problems and
// batches by the same variants.
#include "kernels/edge_checks.hpp"

#include <clbake/finalize.hpp>

#include <climits>
#include <cmath>
#include <random>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;

namespace {

constexpr const char* kPoints[] = {
    "direct-s-nn-6x16x1-6x16x1-v16-group",
    "direct-h-tt-8x1x4-2x1x8-v1-group",
    "register_tile-s-tn-15x16x12-5x8x2-v4-group",
    "register_tile-d-nt-16x8x16-4x4x1-v2-group",
    "register_tile-b-nn-16x24x8-4x8x1-v4-group",
    "local_tile-b-nn-16x32x8-4x4x4-v4-buffers2-load4-padding4-mapzigzag-fragments2-group",
    "local_tile-s-nt-12x24x8-3x6x2-v1-noprefetch-shares2-group"};

std::size_t tile_of(const cache::Variant& v) { return product_launch(v).tile_m + product_launch(v).tile_n; }

// The problem of which the counts make `products`: some rows of each, in all at most `rows`.
Problem counted_problem(const cache::Variant& v, std::size_t rows, std::vector<std::int32_t>& counts,
                        std::vector<Problem>& products, std::size_t number) {
  std::mt19937 random(static_cast<std::uint32_t>(number));
  Problem problem = tight_problem(v.precision, rows, 1 + random() % 70, random() % 40, v.trans_a, v.trans_b);
  problem.lda += 2;
  problem.ldb += 1;
  problem.ldc += 3;
  problem.batch = 1 + random() % 9;
  problem.b_stride = extents(problem).b + 5;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < problem.batch; ++i) {
    const bool odd = random() % 4 == 0;
    counts.push_back(odd ? (random() % 2 == 0 ? -5 : INT32_MAX) : static_cast<std::int32_t>(random() % rows / 4));
    Problem p = problem;
    p.batch = 1;
    p.m = counts.back() < 0 ? 0 : std::min(static_cast<std::size_t>(counts.back()), rows - begin);
    p.offsets = {{v.trans_a ? begin : begin * p.lda, i * p.b_stride, begin * p.ldc}};
    begin += p.m;
    products.push_back(p);
  }
  return problem;
}

void check_group(const FromSource& made, GemmGroup& group, const std::vector<Problem>& products,
                 const GemmRunOptions& options) {
  BOOST_TEST(group.is_one_launch());
  const std::string failure = failure_of(made.where, group, products, options);
  BOOST_TEST(failure.empty(), failure);
}

template <typename Use>
void for_each_point(const Use& use) {
  for (const char* name : kPoints) {
    if (kernels::admits(devices()->front().limits, point(name))) use(compiled(point(name)));
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(PointsAreRightAtEdges) {
  for_each_point([](const FromSource& made) {
    const std::string failures = failures_at_edges(made.where, made.variant);
    BOOST_TEST(failures.empty(), failures);
  });
}

BOOST_AUTO_TEST_CASE(ListsAreRight) {
  for_each_point([](const FromSource& made) {
    for (std::size_t number = 0; number < kEpilogues; ++number) {
      GemmRunOptions options;
      const std::vector<Problem> products = random_group(made.variant, tile_of(made.variant), number, options);
      Result<GemmGroup> group = made.where.library.prepare_group(products, made.variant.name);
      BOOST_REQUIRE_MESSAGE(group.ok(), group.status().message());
      check_group(made, *group, products, options);
    }
  });
}

BOOST_AUTO_TEST_CASE(CountsOfTheDeviceAreClamped) {
  for_each_point([](const FromSource& made) {
    for (std::size_t number = 1; number < 30; ++number) {
      GemmRunOptions options;
      std::vector<Problem> products;
      Problem problem = counted_problem(made.variant, 1 + number * 7 % 90, options.counts, products, number);
      set_epilogue(problem, options, 5 * number);
      problem.epilogue.ldd = problem.ldc;
      for (Problem& p : products) p.epilogue = problem.epilogue;
      options.seed = static_cast<std::uint32_t>(number);
      options.beta = number % 2 == 0 ? 0 : -2;
      options.c_offset = 11;
      Result<GemmGroup> group = made.where.library.prepare_counted_group(problem, made.variant.name);
      BOOST_REQUIRE_MESSAGE(group.ok(), group.status().message());
      options.behind = problem.m * (problem.lda + problem.ldc) + problem.k * problem.lda;
      check_group(made, *group, products, options);
    }
  });
}

// Infinity times the empty sum of k = 0 is no NaN, and a product of k = 0 is beta * C beside others.
BOOST_AUTO_TEST_CASE(AnInfiniteAlphaLeavesEmptySums) {
  const FromSource made = compiled(point(kPoints[0]));
  const cl::Context context(made.where.session.context(), true);
  const cl::CommandQueue queue(made.where.session.queue(), true);
  std::vector<float> numbers = {1, 2, 3, 4};
  const cl::Buffer ab(context, CL_MEM_COPY_HOST_PTR, std::size_t{16}, numbers.data());
  const cl::Buffer c(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, std::size_t{16}, numbers.data());
  std::vector<Problem> products = {tight_problem(Precision::single_precision, 1, 2, 0),
                                   tight_problem(Precision::single_precision, 1, 1, 1)};
  products[1].offsets = {{0, 0, 3}};
  Result<GemmGroup> group = made.where.library.prepare_group(products, made.variant.name);
  BOOST_REQUIRE_MESSAGE(group.ok(), group.status().message());
  const Status status = group->enqueue(queue(), HUGE_VAL, {ab()}, {ab()}, 2, {c()});
  BOOST_TEST(status.ok(), status.message());
  BOOST_TEST(queue.enqueueReadBuffer(c, CL_TRUE, 0, 16, numbers.data()) == CL_SUCCESS);
  BOOST_TEST((numbers == std::vector<float>{2, 4, 3, HUGE_VALF}));
}
