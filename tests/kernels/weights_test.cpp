// Products of packed weights of 4 and 8 bits, in all groups, with and without zero points, on CPUs' and GPUs' tiles.
// Every combination of types is among the slow cases: ctest -L slow.
#include "kernels/edge_checks.hpp"

#include <clbake/kernels/defaults.hpp>
#include <clbake/weights/format.hpp>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;
using kernels::Params;

static Problem small_problem() { return tight_problem(mixed(Element::half, Element::q4, Element::half), 3, 20, 128); }

BOOST_AUTO_TEST_CASE(PointsAreRightAtEdges) {
  for (const char* name :
       {"weight_tile-hqh-nn-8x32x1-4x32x128-v16", "weight_tile-sqs-tn-4x16x1-2x16x256-v8-split2",
        "weight_tile-bvb-nn-1x16x1-1x16x128-v4", "weight_tile-hqs-tn-8x16x16-8x4x128-v4",
        "weight_tile-bqb-nn-2x32x8-2x4x256-v4-split3", "local_tile-hqh-nn-16x32x16-4x4x4-v4-bpad-split2-load4",
        "local_tile-bvb-tn-16x16x4-4x4x4-v4-apad-bcbl-buffers2",
        "local_tile-svs-nn-16x16x8-4x4x2-v2-brbl-split0-buffers2", "weight_tile-bvs-nn-4x16x64-4x1x128-v1"}) {
    check_at_edges(point(name));
  }
}

BOOST_AUTO_TEST_CASE(EveryCombinationOfTypesIsRight, *boost::unit_test::label("slow")) {
  for (const Precision precision : mixed_precisions) {
    if (!has_weights(precision)) continue;
    for (const kernels::DeviceType type : kernels::all_device_types) {
      for (const Params& p : kernels::default_variants(type, precision)) check_at_edges(p);
    }
  }
}

BOOST_AUTO_TEST_CASE(AllGroupsAndZeroPointsAreRightForAnyNumberOfRows, *boost::unit_test::label("slow")) {
  for (const char* name :
       {"weight_tile-hqh-nn-16x32x1-16x32x256-v16", "weight_tile-svs-nn-16x64x1-8x64x128-v4",
        "weight_tile-hqh-nn-16x16x1-8x16x384-v16", "weight_tile-hqh-nn-8x16x64-8x4x256-v4",
        "weight_tile-svs-nn-4x32x32-4x4x128-v4-split2", "local_tile-bqb-nn-16x32x8-4x4x4-v4-bpad",
        "weight_tile-hqh-nn-16x32x4-4x4x128-v4-mapmma", "weight_tile-bvb-nn-8x64x4-2x8x128-v4-mapmma"}) {
    if (!kernels::admits(devices()->front().limits, point(name))) continue;
    const FromSource made = compiled(point(name));
    std::uint32_t number = 0;
    for (const std::size_t group : {32U, 64U, 128U}) {
      for (const bool zeros : {false, true}) {
        for (const std::size_t m : {1U, 2U, 3U, 4U, 7U, 9U, 16U, 17U}) {
          Problem problem = tight_problem(made.variant.precision, m, 35 + number % 40, 128 * (1 + number % 9));
          problem.quantization.weight_group = group;
          problem.quantization.weight_zeros = zeros;
          GemmRunOptions options;
          options.seed = ++number;
          options.b_offset = 16 * (number % 3);
          const std::string failure = failure_of(made.where, made.variant.name, problem, options);
          BOOST_TEST(failure.empty(), failure);
        }
      }
    }
  }
}

// Column-major problems state the weights as A.
BOOST_AUTO_TEST_CASE(BatchesOfBothLayoutsAreRight) {
  for (const char* name : {"weight_tile-sqs-tn-4x16x1-2x16x256-v8-split2", "weight_tile-bvs-nn-4x16x64-4x1x128-v1",
                           "local_tile-bvb-tn-16x16x4-4x4x4-v4-apad-bcbl-buffers2"}) {
    const Params p = point(name);
    const FromSource made = compiled(p);
    for (std::size_t number = 1; number < 25; ++number) {
      const bool columns = number % 2 == 1;
      const Element a = element_a(p.precision), b = element_b(p.precision), c = element_c(p.precision);
      const std::size_t rows = 1 + number % 11;
      Problem problem = columns ? make_problem({mixed(b, a, c), false, p.trans_a}, 40, rows, 128, Layout::column_major)
                                : make_problem({p.precision, p.trans_a, false}, rows, 40, 128);
      problem.batch = 1 + number % 4;
      problem.ldc += 1;
      set_quantization(problem, number);
      const std::size_t packed = 16 * ((columns ? extents(problem).a : extents(problem).b) / 16 + number % 3);
      problem.a_stride = columns ? packed : problem.lda * 140;
      problem.b_stride = columns ? problem.ldb * 140 : packed;
      problem.c_stride = problem.ldc * (columns ? rows : 41);
      if (number % 3 == 0) {
        for (std::size_t i = 0; i < problem.batch; ++i) {
          const std::size_t weights = packed * (i % 2), other = 3 * i;
          problem.offsets.push_back({columns ? weights : other, columns ? other : weights, i * 2000});
        }
      }
      GemmRunOptions options;
      options.seed = static_cast<std::uint32_t>(number);
      options.beta = number % 2 == 0 ? 0 : -1;
      set_epilogue(problem, options, number);
      const std::string failure = failure_of(made.where, made.variant.name, problem, options);
      BOOST_TEST(failure.empty(), failure);
    }
  }
}

BOOST_AUTO_TEST_CASE(ImpossibleProblemsAreRefusedByName) {
  const auto message = [](const auto& change) {
    Problem problem = small_problem();
    change(problem);
    const Status status = check(problem);
    BOOST_TEST((status.argument() == Argument::quantization));
    return status.message();
  };
  BOOST_TEST(check(small_problem()).ok());
  BOOST_TEST(message([](Problem& p) { p.quantization.weight_group = 48; }) == "weight_group = 48 is not 32, 64 or 128");
  BOOST_TEST(message([](Problem& p) { p.k = p.lda = 96, p.quantization.weight_group = 64; }) ==
             "k = 96 is no multiple of weight_group = 64");
  BOOST_TEST(message([](Problem& p) { p.trans_b = true; }) == "packed weights are not transposed");
  BOOST_TEST(message([](Problem& p) { p.quantization.row_scales = true; }) == "scales: packed weights have their own");
  BOOST_TEST(message([](Problem& p) { p.quantization.zero_b = 1; }) == "zero points: packed weights have their own");
  BOOST_TEST(message([](Problem& p) { p.batch = 2, p.c_stride = 60, p.b_stride = 1000; }) ==
             "packed weights: a stride of 1000 bytes is no multiple of 16");
  BOOST_TEST(message([](Problem& p) {
               p.offsets = {{0, 8, 0}};
             }) == "packed weights: an offset of 8 is no multiple of 16");
  BOOST_TEST(message([](Problem& p) {
               p.precision = Precision::half_precision, p.ldb = 20, p.quantization.weight_zeros = true;
             }) == "weight_zeros: no operand is packed weights");
  Problem of_columns = small_problem();
  of_columns.layout = Layout::column_major;
  BOOST_TEST((check(of_columns).argument() == Argument::precision));  // the weights are A there
}

BOOST_AUTO_TEST_CASE(BadCallsAreRefusedByName) {
  const FromSource made = compiled(point("weight_tile-hqh-nn-8x32x1-4x32x128-v16"));
  const cl::Context context(made.where.session.context(), true);
  const cl::CommandQueue queue(made.where.session.queue(), true);
  const Problem problem = small_problem();
  const Extents sizes = extents(problem);
  BOOST_TEST(sizes.b == 64 + 2 * 4 * (32 + 256));
  const cl::Buffer a(context, CL_MEM_READ_WRITE, 2 * sizes.a), b(context, CL_MEM_READ_WRITE, sizes.b + 15),
      c(context, CL_MEM_READ_WRITE, 2 * sizes.c);
  Result<Gemm> gemm = made.where.library.prepare(problem, made.variant.name);
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  const auto refused = [&](const Matrix& weights) { return gemm->enqueue(queue(), 1, {a()}, weights, 0, {c()}); };
  BOOST_TEST((refused({b(), 8}).argument() == Argument::b));
  BOOST_TEST(refused({b(), 8}).message() == "B: packed weights at byte 8, which is no multiple of 16");
  BOOST_TEST((refused({b(), 16}).argument() == Argument::b_size));
  BOOST_TEST((refused({c(), 0}).argument() == Argument::b_size));
  BOOST_TEST(refused({b(), 0}).ok());
  queue.finish();
}
