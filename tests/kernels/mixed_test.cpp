// Mixed products: bytes that are integers, e4m3 or e5m2, scales and zero points. Every combination of types, in every
// family that has them, is among the slow cases: ctest -L slow.
#include "kernels/edge_checks.hpp"

#include <clbake/builder/elements.hpp>

#include <cmath>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;
using kernels::Params;

BOOST_AUTO_TEST_CASE(PointsAreRightAtEdges) {
  for (const char* name :
       {"direct-iiw-nt-6x16x1-6x16x1-v16", "direct-uii-tn-8x1x4-2x1x8-v1-split3", "direct-eeh-nn-4x8x8-2x4x1-v4",
        "register_tile-uiw-tn-15x16x12-5x8x2-v4", "register_tile-ius-nn-15x16x12-5x8x2-v4",
        "register_tile-efe-tt-8x8x16-4x8x1-v8-split2", "register_tile-iuh-nt-15x16x12-5x8x2-v4",
        "local_tile-iub-nn-16x32x8-4x4x4-v4-split2-buffers2-load4-padding4-mapzigzag-fragments2",
        "local_tile-uuw-tt-12x24x8-3x6x2-v1-noprefetch",
        "local_tile-fef-nt-16x32x8-4x4x8-v2-split0-buffers2-load8-padding2-mapblocked"}) {
    check_at_edges(point(name));
  }
}

// Each pair of integer types, and of transposes, on CPUs with AVX512-VNNI; bfloat16 on those with AVX512-BF16.
BOOST_AUTO_TEST_CASE(DotsAreRightAtEdges) {
  for (const char* name :
       {"register_tile-iiw-nn-12x64x8-4x32x2-v16-dots", "register_tile-uus-nt-8x32x128-8x32x2-v16-dots",
        "register_tile-iuw-tt-136x32x64-8x32x4-v16-dots", "register_tile-uii-tn-10x48x16-5x48x1-v16-split2-dots",
        "register_tile-iuh-nn-16x32x12-2x32x1-v16-split3-dots", "register_tile-b-nn-12x64x8-4x32x2-v16-dots",
        "register_tile-b-tn-24x32x64-8x16x1-v16-dots", "register_tile-b-nt-10x48x16-5x48x1-v16-split2-dots",
        "register_tile-b-tt-136x32x64-8x32x4-v16-dots-lines"}) {
    check_at_edges(point(name));
  }
}

BOOST_AUTO_TEST_CASE(EveryCombinationOfTypesIsRight, *boost::unit_test::label("slow")) {
  for (const Precision precision : mixed_precisions) {
    for (const char* name : {"direct-s-nn-6x8x1-3x4x2-v4", "register_tile-s-nn-15x16x12-5x8x2-v4-split2",
                             "local_tile-s-nn-16x32x8-4x4x4-v4-split2-buffers2-load4-padding4"}) {
      Params p = point(name);
      p.precision = precision;
      const auto number = static_cast<std::uint32_t>(precision);
      p.trans_a = (number >> 16 & 1) != 0;
      p.trans_b = (number & 1) != 0;
      check_at_edges(p);
    }
  }
  for (const char* name :
       {"register_tile-iiw-tn-24x32x64-8x16x1-v16-dots", "register_tile-iiw-nt-16x32x64-8x16x1-v16-dots",
        "register_tile-uuw-tt-12x64x72-6x32x1-v16-dots"}) {
    check_at_edges(point(name));
  }
}

// Column-major problems exchange the types of A and B, too: a kernel of the one kind serves those of the other.
BOOST_AUTO_TEST_CASE(ColumnMajorBatchesAreRight) {
  for (const char* name : {"register_tile-ius-nn-15x16x12-5x8x2-v4", "direct-uii-tn-8x1x4-2x1x8-v1-split3"}) {
    const FromSource made = compiled(point(name));
    const Params p = point(name);
    for (std::size_t number = 1; number < 30; ++number) {
      const Precision stated = mixed(element_b(p.precision), element_a(p.precision), element_c(p.precision));
      Problem problem = tight_problem(stated, 13, 9 + number, 21, p.trans_b, p.trans_a, Layout::column_major);
      problem.batch = 1 + number % 4;
      problem.lda += 2;
      problem.ldc += 1;
      problem.a_stride = problem.lda * 40;
      problem.b_stride = number % 2 == 0 ? 0 : problem.ldb * 50;
      problem.c_stride = problem.ldc * (problem.n + 2);
      if (number % 3 == 0) {
        for (std::size_t i = 0; i < problem.batch; ++i) problem.offsets.push_back({3 * i, 700 * (i % 2), i * 1000});
      }
      GemmRunOptions options;
      options.seed = static_cast<std::uint32_t>(number);
      options.alpha = alpha_for(stated, 1);
      options.beta = beta_for(stated, number % 2 == 0 ? 0 : -1);
      set_epilogue(problem, options, number);
      const std::string failure = failure_of(made.where, made.variant.name, problem, options);
      BOOST_TEST(failure.empty(), failure);
    }
  }
}

// Sums of int8 reach beyond half's numbers, which end in infinity.
BOOST_AUTO_TEST_CASE(WhatIsTooLargeForHalfIsInfinite) {
  const FromSource made = compiled(point("register_tile-iuh-nt-15x16x12-5x8x2-v4"));
  const Problem problem = tight_problem(made.variant.precision, 20, 30, 40, false, true);
  const std::string failure = failure_of(made.where, made.variant.name, problem, {});
  BOOST_TEST(failure.empty(), failure);
}

// Calls that name what is wrong, and leave C as it was.
BOOST_AUTO_TEST_CASE(BadCallsAreRefusedByName) {
  const FromSource made = compiled(point("register_tile-ius-nn-15x16x12-5x8x2-v4"));
  const FromSource whole = compiled(point("direct-iiw-nt-6x16x1-6x16x1-v16"));
  const cl::Context context(made.where.session.context(), true), other(whole.where.session.context(), true);
  const cl::CommandQueue queue(made.where.session.queue(), true);
  const cl::Buffer all(context, CL_MEM_READ_WRITE, 4096), scales(context, CL_MEM_READ_WRITE, 4 * sizeof(float));
  Problem problem = tight_problem(made.variant.precision, 4, 4, 4);
  problem.quantization.row_scales = problem.quantization.column_scales = true;
  Result<Gemm> gemm = made.where.library.prepare(problem, made.variant.name);
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  const Matrix a{all(), 0}, b{all(), 64}, c{all(), 256};
  const auto refused = [&](const EpilogueBuffers& more, const Matrix& into) {
    return gemm->enqueue(queue(), 1, a, b, 0, into, more).argument();
  };
  BOOST_TEST((refused({{}, {}, {}, {scales()}}, c) == Argument::row_scales));
  BOOST_TEST((refused({{}, {}, {scales()}, {scales(), 1}}, c) == Argument::column_scales));
  BOOST_TEST((refused({{}, {}, {scales()}, {all(), 259}}, c) == Argument::column_scales));  // inside C
  BOOST_TEST((refused({{}, {}, {scales()}, {scales()}}, {all(), 1020}) == Argument::c_size));
  BOOST_TEST((refused({{}, {}, {scales()}, {scales()}}, {all(), 3}) == Argument::c_alias));  // bytes 12 to 76
  BOOST_TEST((refused({{}, {}, {scales()}, {scales()}}, c) == Argument::none));
  queue.finish();

  const Result<Gemm> exact =
      whole.where.library.prepare(tight_problem(whole.variant.precision, 1, 1, 1, false, true), whole.variant.name);
  BOOST_REQUIRE_MESSAGE(exact.ok(), exact.status().message());
  const cl::Buffer one(other, CL_MEM_READ_WRITE, 64);
  Result<Gemm> clone = exact->clone();
  for (const double scalar : {0.5, 3e9, std::nan("")}) {
    const cl_command_queue on = whole.where.session.queue();
    BOOST_TEST((clone->enqueue(on, scalar, {one(), 0}, {one(), 8}, 0, {one(), 8}).argument() == Argument::alpha));
    BOOST_TEST((clone->enqueue(on, 1, {one(), 0}, {one(), 8}, scalar, {one(), 8}).argument() == Argument::beta));
  }
}

// Each of the 256 codes as a number, and each number as a code.
BOOST_AUTO_TEST_CASE(EveryCodeOfEightBitsIsItsNumber) {
  for (const auto& [format, other, one] :
       {std::tuple(Element::e4m3, 'e', 0x38), std::tuple(Element::e5m2, 'f', 0x3C)}) {
    for (const bool to_itself : {false, true}) {
      const std::string letter(1, other);
      const FromSource made =
          compiled(point("direct-" + letter + letter + (to_itself ? letter : "s") + "-nn-4x1x1-1x1x1-v1"));
      const Element result = to_itself ? format : Element::single;
      std::vector<std::uint8_t> codes(256), ones(1, static_cast<std::uint8_t>(one)), found(256 * bytes_of(result));
      for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i);
      const cl::Context context(made.where.session.context(), true);
      const cl::CommandQueue queue(made.where.session.queue(), true);
      const cl::Buffer a(context, CL_MEM_COPY_HOST_PTR, codes.size(), codes.data());
      const cl::Buffer b(context, CL_MEM_COPY_HOST_PTR, ones.size(), ones.data());
      const cl::Buffer c(context, CL_MEM_READ_WRITE, found.size());
      const Problem problem = tight_problem(mixed(format, format, result), 256, 1, 1);
      Result<Gemm> gemm = made.where.library.prepare(problem, made.variant.name);
      BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
      BOOST_TEST(gemm->enqueue(queue(), 1, {a()}, {b()}, 0, {c()}).ok());
      BOOST_TEST(queue.enqueueReadBuffer(c, CL_TRUE, 0, found.size(), found.data()) == CL_SUCCESS);
      for (std::size_t i = 0; i < codes.size(); ++i) {
        const double expected = decode(format, &codes[i]);
        const bool clipped = to_itself && std::isinf(expected);  // becomes the largest number
        const double got = decode(result, &found[i * bytes_of(result)]);
        BOOST_TEST((std::isnan(expected) ? std::isnan(got)
                    : clipped            ? std::fabs(got) == 57344
                                         : got == expected),
                   "code " << i << " of " << name(format) << ": " << got << ", not " << expected);
      }
    }
  }
}
