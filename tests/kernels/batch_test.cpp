// Several launches for one call: batches, by strides and by offsets, and matrices longer than a grid, through each kind
// of launch: a single kernel, packed operands, split-k.
#include "driver_main.hpp"
#include "gemm_checks.hpp"

#include <clbake/finalize.hpp>

#include <cstdlib>
#include <map>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;

namespace {

// Each kind of launch. The last two make three tiles of a product of problem_of, row-major: on seven units, PoCL's in
// this test, batches leave a tail.
constexpr const char* kVariants[] = {"direct-s-nn-4x4x1-4x4x1-v4",
                                     "local_tile-s-nn-16x16x8-2x2x1-v1-acbl-bpad",
                                     "local_tile-s-tn-16x16x8-2x2x1-v1-split3",
                                     "local_tile-h-nt-16x16x8-2x2x1-v1-arbl-bpad-split2",
                                     "local_tile-s-nn-32x16x4-2x2x1-v1-split0",
                                     "local_tile-b-nn-32x16x4-2x2x1-v1-apad-split0"};

// Never released, as some drivers fail when objects go after main.
const FromSource& compiled(const std::string& name) {
  static auto* const all = new std::map<std::string, FromSource>;
  const auto known = all->find(name);
  if (known != all->end()) return known->second;
  Result<FromSource> made = from_source(devices()->front(), std::get<kernels::Params>(kernels::parse(name)));
  BOOST_REQUIRE_MESSAGE(made.ok(), made.status().message());
  return all->emplace(name, std::move(*made)).first->second;
}

Problem problem_of(const cache::Variant& v, Layout layout) {
  Problem p = tight_problem(v.precision, 21, 35, 44, v.trans_a, v.trans_b, layout);
  if (layout == Layout::column_major) {
    // The runtime exchanges A and B, and so their transposes.
    p = tight_problem(v.precision, 21, 35, 44, v.trans_b, v.trans_a, layout);
  }
  p.lda += 2;
  p.ldc += 3;
  return p;
}

GemmRunOptions some_options() {
  GemmRunOptions options;
  options.alpha = 0.75;
  options.beta = -0.5;
  options.a_offset = 5;
  options.c_offset = 9;
  return options;
}

template <typename Use>
void for_each_variant(const Use& use) {
  for (const char* name : kVariants) {
    for (const Layout layout : {Layout::row_major, Layout::column_major}) use(compiled(name), layout);
  }
}

void check(const FromSource& compiled, const Problem& problem, const GemmRunOptions& options = some_options()) {
  const std::string failure = failure_of(compiled.where, compiled.variant.name, problem, options);
  BOOST_TEST(failure.empty(), failure);
}

}  // namespace

BOOST_AUTO_TEST_CASE(StridedBatchesAreRight) {
  for_each_variant([](const FromSource& compiled, Layout layout) {
    Problem p = problem_of(compiled.variant, layout);
    p.batch = 5;
    const Extents one = extents(p);
    BOOST_REQUIRE(one.c > 0);
    p.a_stride = one.a + 3;
    p.b_stride = one.b;
    p.c_stride = one.c + 7;
    check(compiled, p);
    p.a_stride = 0;  // one A for all
    check(compiled, p);
  });
}

BOOST_AUTO_TEST_CASE(BatchesByOffsetsAreRight) {
  for_each_variant([](const FromSource& compiled, Layout layout) {
    Problem p = problem_of(compiled.variant, layout);
    const Extents one = extents(p);
    p.batch = 3;
    p.offsets = {{2 * one.a, 0, one.c + 1}, {0, one.b + 4, 2 * one.c + 2}, {one.a, one.b + 4, 0}};
    check(compiled, p);
  });
}

BOOST_AUTO_TEST_CASE(LargeBatchesAreCutIntoLaunches) {
  for_each_variant([](const FromSource& compiled, Layout layout) {
    if (layout == Layout::column_major) return;
    Problem p = tight_problem(compiled.variant.precision, 1, 1, 2, compiled.variant.trans_a, compiled.variant.trans_b);
    p.batch = 65535 + 3;  // more than the third dimension of a grid allows on every device
    p.a_stride = 1;
    p.c_stride = 1;
    check(compiled, p);
  });
}

// More rows of tiles than the second dimension of a grid allows on every device.
BOOST_AUTO_TEST_CASE(LongMatricesAreCutIntoLaunches) {
  std::size_t number = 0;  // long rows are slow: one layout for each variant
  for_each_variant([&number](const FromSource& compiled, Layout layout) {
    const bool skipped = (number / 2 + number) % 2 == 1;
    ++number;
    if (skipped) return;
    const cache::Variant& v = compiled.variant;
    const std::size_t rows = std::size_t{65535} * product_launch(v).tile_m + 3;
    Problem p = tight_problem(v.precision, rows, 2, 3, v.trans_a, v.trans_b);
    if (layout == Layout::column_major) p = tight_problem(v.precision, 2, rows, 3, v.trans_b, v.trans_a, layout);
    p.batch = 2;
    p.a_stride = extents(p).a;
    p.b_stride = extents(p).b;
    p.c_stride = extents(p).c + 7;
    GemmRunOptions options = some_options();
    set_epilogue(p, options, layout == Layout::row_major ? 29 : 36);  // a bias for each row, or for each column, and D
    check(compiled, p, options);
  });
}

// The same of packed operands, whose rows are steps of k.
BOOST_AUTO_TEST_CASE(DeepOperandsArePackedWhole) {
  for_each_variant([](const FromSource& compiled, Layout layout) {
    const cache::Variant& v = compiled.variant;
    if (v.launches.size() < 3 || layout == Layout::column_major) return;
    check(compiled, tight_problem(v.precision, 2, 3, 64 * 65535 + 21, v.trans_a, v.trans_b));
  });
}

BOOST_AUTO_TEST_CASE(AnEmptyBatchDoesNothing) {
  for_each_variant([](const FromSource& compiled, Layout layout) {
    Problem p = problem_of(compiled.variant, layout);
    p.batch = 0;
    check(compiled, p);
  });
}

// Five products of three tiles are 14 whole ones then, and one in two slices (KERNELS.md). CTest sets the variable.
BOOST_AUTO_TEST_CASE(PoclHasSevenUnits) {
  const Device& device = devices()->front();
  if (!std::getenv("POCL_MAX_PTHREAD_COUNT") || device.target.platform_name != "Portable Computing Language") return;
  BOOST_TEST(device.compute_units == 7U);
}

// Deep enough to cut the tail, which each launch has for itself.
BOOST_AUTO_TEST_CASE(EachLaunchHasItsTail) {
  const FromSource& tail = compiled("local_tile-s-nn-4x16x4-2x2x1-v1-split0");
  for (const std::size_t rows : {std::size_t{65535} * 4 + 3, std::size_t{65535} * 4 + 7}) {
    check(tail, tight_problem(Precision::single_precision, rows, 2, 33));
  }
}
