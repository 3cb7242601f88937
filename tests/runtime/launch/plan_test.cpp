// Launch plans against the text of the kernel contract (kernels/KERNELS.md), without OpenCL.
#include "launch/plan.hpp"

#include <boost/test/unit_test.hpp>
#include <random>

using namespace clbake;

namespace {

using cache::Role;

cache::Launch launch(Role role, std::uint32_t local, std::uint32_t tile_m, std::uint32_t tile_n) {
  cache::Launch l;
  l.role = role;
  l.local[0] = local;
  l.tile_m = tile_m;
  l.tile_n = tile_n;
  return l;
}

// Tiles of 4 x 8.
cache::Variant direct() {
  cache::Variant v;
  v.name = "direct";
  v.block_m = 4;
  v.block_n = 8;
  v.block_k = 2;
  v.launches = {launch(Role::gemm, 16, 4, 8)};
  return v;
}

// With copies of A and B, an image of B if wanted.
cache::Variant packed(std::uint32_t split_k, bool image_b = false) {
  cache::Variant v = direct();
  v.name = "packed";
  v.split_k = split_k;
  v.image_b = image_b;
  v.launches = {launch(Role::pack_a, 64, 16, 16), launch(Role::pack_b, 64, 16, 16), v.launches[0]};
  if (split_k != 1) v.launches.push_back(launch(Role::reduce, 64, 1, 64));
  return v;
}

cache::Variant with_tail() {
  cache::Variant v = direct();
  v.name = "tail";
  v.split_k = 0;
  v.launches.push_back(launch(Role::reduce, 64, 1, 16));
  return v;
}

DeviceLimits limits() {
  DeviceLimits l;
  l.units = 5;
  l.largest_buffer = std::size_t{1} << 28;
  l.image_width = l.image_height = 16384;
  l.alignment = 128;
  return l;
}

Problem single(std::size_t m, std::size_t n, std::size_t k, std::size_t batch = 1) {
  Problem p = make_problem({Precision::single_precision}, m, n, k);
  p.batch = batch;
  p.a_stride = m * k;
  p.b_stride = k * n;
  p.c_stride = m * n;
  return p;
}

LaunchPlan plan(const Problem& problem, const cache::Variant& variant, std::size_t complex_items = 1) {
  Result<LaunchPlan> made = plan_launches(problem, variant, limits(), complex_items);
  BOOST_REQUIRE_EQUAL(made.status().message(), "");
  return std::move(*made);
}

using Groups = std::array<std::size_t, 3>;
void check_step(const Step& step, std::size_t kernel, const Groups& groups, When when = When::always) {
  BOOST_TEST(step.kernel == kernel);
  BOOST_TEST(step.groups == groups, boost::test_tools::per_element());
  BOOST_TEST((step.when == when));
}

std::vector<Value> values(const PlannedKernel& kernel) {
  std::vector<Value> all;
  for (const KernelArgument& argument : kernel.arguments) all.push_back(argument.value);
  return all;
}

std::vector<Step> steps_without_operands(const LaunchPlan& p) {
  std::vector<Step> steps;
  append_steps(p, 0, p.stated.batch, false, steps);
  return steps;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ADirectVariantIsOneLaunch) {
  const cache::Variant v = direct();
  const LaunchPlan p = plan(single(9, 17, 3, 5), v);
  BOOST_REQUIRE(p.steps.size() == 1U);
  check_step(p.steps[0], 0, {3, 3, 5});
  BOOST_TEST(p.workspace_bytes() == 0U);
  using V = Value;
  BOOST_TEST(
      (values(p.kernels[0]) == std::vector<V>{V::a, V::b, V::c, V::offsets, V::bias, V::d, V::numbers, V::scalars}));
}

// The terms of those zero points alone that there are.
BOOST_AUTO_TEST_CASE(TermsComeBeforeAProductWithZeroPoints) {
  cache::Variant v = direct();
  v.precision = mixed(Element::int8, Element::int8, Element::single);
  v.launches = {launch(Role::row_terms, 64, 1, 64), launch(Role::column_terms, 64, 1, 64), v.launches[0]};
  Problem problem = single(9, 130, 3, 5);
  problem.precision = v.precision;
  BOOST_TEST(plan(problem, v).steps.size() == 1U);
  problem.quantization.zero_a = 7;
  const LaunchPlan columns = plan(problem, v);
  BOOST_REQUIRE(columns.steps.size() == 2U);
  check_step(columns.steps[0], 1, {3, 1, 5});
  BOOST_TEST(columns.bytes_of(Value::column_terms) == 5U * 130 * 4);
  BOOST_TEST(columns.bytes_of(Value::row_terms) == 0U);
  problem.quantization.zero_b = -1;
  const LaunchPlan both = plan(problem, v);
  BOOST_REQUIRE(both.steps.size() == 3U);
  check_step(both.steps[0], 0, {1, 1, 5});
  BOOST_TEST(steps_without_operands(both).size() == 1U);
  using V = Value;
  BOOST_TEST((values(both.kernels[0]) == std::vector<V>{V::a, V::row_terms, V::offsets, V::numbers, V::quantization}));
  BOOST_TEST((values(both.kernels[2]) == std::vector<V>{V::a, V::b, V::c, V::offsets, V::bias, V::d, V::numbers,
                                                        V::scalars, V::row_scales, V::column_scales, V::row_terms,
                                                        V::column_terms, V::quantization}));
}

BOOST_AUTO_TEST_CASE(CopiesComeBeforeTheProductAndItsReductionLast) {
  const cache::Variant v = packed(3, true);
  const LaunchPlan p = plan(single(9, 17, 3, 2), v);
  BOOST_REQUIRE(p.steps.size() == 4U);
  check_step(p.steps[0], 0, {1, 1, 2});  // padded_m = 12 columns, padded_k = 4 rows
  check_step(p.steps[1], 1, {2, 1, 2});  // padded_n = 24 columns
  check_step(p.steps[2], 2, {3, 3, 6});  // three slices of each product
  check_step(p.steps[3], 3, {3, 1, 2});  // 9 * 17 elements
  BOOST_TEST(p.bytes_of(Value::packed_a) == 2U * 12 * 4 * 4);
  BOOST_TEST(p.bytes_of(Value::packed_b) == 0U);  // an image
  BOOST_TEST(p.bytes_of(Value::partials) == 2U * 3 * 9 * 17 * 4);
  BOOST_TEST(p.workspace_bytes() == 384U + 3712);  // at multiples of 128
  using V = Value;
  BOOST_TEST((values(p.kernels[0]) == std::vector<V>{V::a, V::packed_a, V::offsets, V::numbers}));
  BOOST_TEST((values(p.kernels[1]) == std::vector<V>{V::b, V::packed_b, V::offsets, V::numbers}));
  BOOST_TEST((values(p.kernels[2]) == std::vector<V>{V::packed_a, V::packed_b, V::partials, V::offsets, V::bias, V::d,
                                                     V::numbers, V::scalars}));
  BOOST_TEST(
      (values(p.kernels[3]) == std::vector<V>{V::partials, V::c, V::offsets, V::bias, V::d, V::numbers, V::scalars}));
}

BOOST_AUTO_TEST_CASE(WithoutOperandsNothingIsCopiedAndBetaOfOneLaunchesNothing) {
  const cache::Variant v = packed(3);
  const LaunchPlan p = plan(single(9, 17, 3), v);
  const std::vector<Step> steps = steps_without_operands(p);
  BOOST_REQUIRE(steps.size() == 2U);
  check_step(steps[0], 2, {3, 3, 3}, When::beta_is_not_one);
  check_step(steps[1], 3, {3, 1, 1}, When::beta_is_not_one);
  BOOST_TEST(plan(single(9, 17, 0), v).steps.size() == 2U);  // the same with k = 0
  Problem relu = single(9, 17, 3);
  relu.epilogue.activation = Activation::relu;
  BOOST_TEST((steps_without_operands(plan(relu, v))[0].when == When::always));
}

BOOST_AUTO_TEST_CASE(EmptyProductsHaveNoSteps) {
  const cache::Variant v = direct();
  for (const Problem& p : {single(0, 4, 4), single(4, 0, 4), single(4, 4, 4, 0)}) BOOST_TEST(plan(p, v).steps.empty());
}

// tiles = 12, units = 5: behind = 2, room = 4, slices = min(4 / 2, 100 / (4 * 2)) = 2.
BOOST_AUTO_TEST_CASE(TheTailIsCutAndReduced) {
  const cache::Variant v = with_tail();
  const LaunchPlan p = plan(single(16, 24, 100), v);
  BOOST_REQUIRE(p.steps.size() == 2U);
  check_step(p.steps[0], 0, {10 + 2 * 2, 1, 1});
  check_step(p.steps[1], 1, {4 * 8 / 16, 2, 1});
  BOOST_TEST((p.steps[0].tail.whole == 10U && p.steps[0].tail.slices == 2U));
  BOOST_TEST(p.bytes_of(Value::partials) == 4U * 4 * 8 * 4);
  using V = Value;
  BOOST_TEST((values(p.kernels[0]) == std::vector<V>{V::a, V::b, V::c, V::partials, V::tail, V::offsets, V::bias, V::d,
                                                     V::numbers, V::scalars}));
  BOOST_TEST((values(p.kernels[1]) ==
              std::vector<V>{V::partials, V::c, V::tail, V::offsets, V::bias, V::d, V::numbers, V::scalars}));
  const LaunchPlan full = plan(single(16, 40, 100), v);  // four full waves
  BOOST_REQUIRE(full.steps.size() == 1U);
  check_step(full.steps[0], 0, {20, 1, 1});
  BOOST_TEST(steps_without_operands(p).size() == 1U);  // k = 0 is not cut
}

BOOST_AUTO_TEST_CASE(AComplexProductCopiesItsOperandsAndScalesCFirst) {
  const cache::Variant v = direct();
  Problem complex = make_problem({Precision::complex_single, true, false}, 9, 17, 3);
  const LaunchPlan p = plan(complex, v, 4);
  BOOST_REQUIRE(p.steps.size() == 4U);
  check_step(p.steps[0], 1, {3, 3, 1});  // A is stored as 3 rows of 9
  check_step(p.steps[1], 2, {5, 3, 1});
  check_step(p.steps[2], 3, {5, 9, 1}, When::beta_is_complex);
  check_step(p.steps[3], 0, {5, 3, 1});  // 9 x 34
  BOOST_TEST((p.kernels[1].name == "clbake_complex_a" && p.kernels[1].local[0] == 4U));
  using V = Value;
  BOOST_TEST((values(p.kernels[2]) == std::vector<V>{V::integer, V::integer, V::b, V::b_offset, V::integer, V::distance,
                                                     V::complex_offsets, V::first_product, V::copy_b, V::distance,
                                                     V::integer, V::complex_alpha, V::sign, V::sign}));
  BOOST_TEST((values(p.kernels[0])[0] == V::copy_a && values(p.kernels[0])[1] == V::copy_b));
  complex.trans_a = false;
  complex.lda = 3;
  BOOST_TEST(plan(complex, v).steps.size() == 3U);  // A is read where it is
  const std::vector<Step> unread = steps_without_operands(plan(complex, v));
  BOOST_REQUIRE(unread.size() == 2U);
  BOOST_TEST((unread[0].when == When::beta_is_complex && unread[1].when == When::beta_is_not_one));
}

// Each product of each row is computed once, in order, by grids that every device has.
BOOST_AUTO_TEST_CASE(PartsCoverAllRowsOfAllProducts) {
  std::mt19937 random(3);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
  const cache::Variant variants[] = {direct(), packed(1), packed(4, true), with_tail()};
  for (int round = 0; round < 400; ++round) {
    const bool tall = round % 4 == 0;
    const Problem problem = single(tall ? 1 + below(3000000) : 1 + below(40), 1 + below(20), below(30),
                                   tall ? 1 + below(3) : 1 + below(200000));
    const cache::Variant& v = variants[below(4)];
    const LaunchPlan p = plan(problem, v);
    std::size_t product = 0, row = 0, launches = 0;
    for (const Step& step : p.steps) {
      const std::size_t in_xyz[3] = {std::size_t{INT32_MAX}, kMaxGroups, kMaxGroups};
      for (std::size_t i = 0; i < 3; ++i) BOOST_REQUIRE((step.groups[i] >= 1 && step.groups[i] <= in_xyz[i]));
      if (v.launches[step.kernel].role != Role::gemm) continue;
      ++launches;
      BOOST_REQUIRE_EQUAL(step.part.first_product, product);
      BOOST_REQUIRE_EQUAL(step.part.first_row, row);
      row += step.part.rows;
      if (row < problem.m) continue;
      row = 0;
      product += step.part.products;
    }
    BOOST_REQUIRE_EQUAL(product, problem.batch);
    BOOST_REQUIRE(launches >= 1);
  }
}

BOOST_AUTO_TEST_CASE(ABatchIsComputedInPartsThatTheWorkspaceHolds) {
  const cache::Variant v = packed(1);
  const LaunchPlan p = plan(single(1024, 1024, 1024, 100), v);  // 8 MiB of copies for each product: 32 at a time
  BOOST_TEST(p.most.products == 32U);
  BOOST_TEST(p.workspace_bytes() == std::size_t{256} << 20);
  BOOST_TEST(p.steps.size() == 4U * 3);
  BOOST_TEST(p.steps.back().part.products == 4U);
}

BOOST_AUTO_TEST_CASE(AWorkspaceThatTheDeviceCannotHoldIsRefused) {
  const cache::Variant v = packed(1, true);
  const Status deep = plan_launches(single(3, 5, 16400), v, limits()).status();
  BOOST_TEST((deep.code() == Code::out_of_memory));
  BOOST_TEST(deep.message() == "packed: the height of an operand's image would be 16400, the device's limit is 16384");
  const Status large = plan_launches(single(10000, 8, 10000), v, limits()).status();
  BOOST_TEST(large.message() ==
             "packed: the workspace of one product, in elements, would be 100000000, the device's limit is 67108864");
}

BOOST_AUTO_TEST_CASE(AWarmUpWidensTheReductionOnly) {
  const cache::Variant splits = packed(3), direct_one = direct(), tail = with_tail();
  const Step step = widened_reduction(plan(single(16, 16, 1), splits), 6400);
  check_step(step, 3, {100, 1, 1});
  BOOST_TEST(widened_reduction(plan(single(16, 16, 1), direct_one), 6400).groups[0] == 0U);
  BOOST_TEST(widened_reduction(plan(single(16, 24, 100), tail), 6400).groups[0] == 0U);
}
