#include <clbake/choice.hpp>

#include <boost/test/unit_test.hpp>
#include <climits>
#include <cstdint>
#include <limits>
#include <string>

using namespace clbake;

namespace {

// op(A) 3 x 5, op(B) 5 x 4, C 3 x 4.
Problem small_problem() {
  Problem p;
  p.m = 3;
  p.n = 4;
  p.k = 5;
  p.lda = 5;
  p.ldb = 4;
  p.ldc = 4;
  return p;
}

// The argument that `check` refuses; its name begins the message.
Argument require_refused(const Problem& p, const std::string& field) {
  const Status status = check(p);
  BOOST_TEST((status.code() == Code::invalid_argument));
  BOOST_TEST(status.opencl_code() == 0);
  BOOST_TEST(status.message().find(field) == 0U, status.message());
  return status.argument();
}

void require_argument(const Problem& p, const std::string& field, Argument argument) {
  BOOST_TEST((require_refused(p, field) == argument), field);
}

}  // namespace

BOOST_AUTO_TEST_CASE(AMadeProblemHasTheLeastLeadingDimensions) {
  for (const Layout layout : {Layout::row_major, Layout::column_major}) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        const Problem p = make_problem({Precision::double_precision, trans_a, trans_b}, 3, 4, 5, layout);
        BOOST_TEST(check(p).ok());
        BOOST_TEST((p.precision == Precision::double_precision && p.layout == layout && p.batch == 1));
        BOOST_TEST((p.m == 3 && p.n == 4 && p.k == 5 && p.trans_a == trans_a && p.trans_b == trans_b));
        // No gap: the extents are the numbers of elements.
        BOOST_TEST((extents(p).a == 15 && extents(p).b == 20 && extents(p).c == 12));
      }
    }
  }
  BOOST_TEST(check(make_problem({}, 0, 0, 0)).ok());
}

// Each field wrong together with all that come after it: the documented order decides which one is named.
BOOST_AUTO_TEST_CASE(TheFirstWrongFieldIsNamedAsAnArgument) {
  const std::size_t too_many = std::size_t{INT_MAX} + 1;
  Problem p = small_problem();
  p.batch = 2;
  p.offsets = {{0, 0, 0}};
  require_argument(p, "offsets", Argument::offsets);
  p.batch = too_many;
  require_argument(p, "batch", Argument::batch);
  p.ldc = 1;
  require_argument(p, "ldc", Argument::ldc);
  p.ldb = 1;
  require_argument(p, "ldb", Argument::ldb);
  p.lda = 1;
  require_argument(p, "lda", Argument::lda);
  p.k = too_many;
  require_argument(p, "k", Argument::k);
  p.n = too_many;
  require_argument(p, "n", Argument::n);
  p.m = too_many;
  require_argument(p, "m", Argument::m);
  p.layout = static_cast<Layout>(5);
  require_argument(p, "layout", Argument::layout);
  p.precision = static_cast<Precision>(9);
  require_argument(p, "precision", Argument::precision);

  p = small_problem();
  p.batch = 2;
  p.a_stride = p.b_stride = SIZE_MAX;
  require_argument(p, "c_stride", Argument::c_stride);
  p.c_stride = SIZE_MAX;
  require_argument(p, "a_stride", Argument::a_stride);
  p.a_stride = 0;
  require_argument(p, "b_stride", Argument::b_stride);
  p.b_stride = 0;
  require_argument(p, "c_stride", Argument::c_stride);
}

BOOST_AUTO_TEST_CASE(TheVersionIsTheProjects) {
  const std::string numbers = std::to_string(CLBAKE_VERSION_MAJOR) + "." + std::to_string(CLBAKE_VERSION_MINOR) + "." +
                              std::to_string(CLBAKE_VERSION_PATCH);
  BOOST_TEST(numbers == PROJECT_VERSION);
  BOOST_TEST(version() == CLBAKE_VERSION_NUMBER);
}

BOOST_AUTO_TEST_CASE(ALeadingDimensionOneTooSmallIsRefusedByName) {
  for (const bool column_major : {false, true}) {
    for (const bool trans : {false, true}) {
      Problem p = small_problem();
      p.layout = column_major ? Layout::column_major : Layout::row_major;
      p.trans_a = p.trans_b = trans;
      p.lda = trans != column_major ? 3 : 5;
      p.ldb = trans != column_major ? 5 : 4;
      p.ldc = column_major ? 3 : 4;
      BOOST_TEST(check(p).ok());
      Problem q = p;
      --q.lda;
      require_refused(q, "lda");
      q = p;
      --q.ldb;
      require_refused(q, "ldb");
      q = p;
      --q.ldc;
      require_refused(q, "ldc");
    }
  }
}

BOOST_AUTO_TEST_CASE(ALeadingDimensionOfZeroIsRefusedEvenForEmptyMatrices) {
  Problem p;
  require_refused(p, "lda");
  p.lda = p.ldb = p.ldc = 1;
  BOOST_TEST(check(p).ok());
  p.lda = SIZE_MAX;
  require_refused(p, "lda");
}

BOOST_AUTO_TEST_CASE(ExtentsReachFromTheFirstToTheLastElement) {
  Problem p = small_problem();
  p.lda = 10, p.ldb = 20, p.ldc = 30;
  BOOST_TEST((extents(p).a == 2 * 10 + 5U && extents(p).b == 4 * 20 + 4U && extents(p).c == 2 * 30 + 4U));
  p.trans_a = p.trans_b = true;
  BOOST_TEST((extents(p).a == 4 * 10 + 3U && extents(p).b == 3 * 20 + 5U));
  p.trans_a = p.trans_b = false;
  p.layout = Layout::column_major;
  BOOST_TEST((extents(p).a == 4 * 10 + 3U && extents(p).b == 3 * 20 + 5U && extents(p).c == 3 * 30 + 3U));
  p = small_problem();
  p.k = 0;
  BOOST_TEST((extents(p).a == 0U && extents(p).b == 0U && extents(p).c == 12U));
  p = small_problem();
  p.batch = 3;
  p.a_stride = 100, p.b_stride = 0, p.c_stride = 20;
  BOOST_TEST((extents(p).a == 200 + 15U && extents(p).b == 20U && extents(p).c == 40 + 12U));
  p.offsets = {{5, 90, 0}, {50, 0, 24}, {0, 0, 12}};
  BOOST_TEST((extents(p).a == 50 + 15U && extents(p).b == 90 + 20U && extents(p).c == 24 + 12U));
  p.batch = 0;
  p.offsets.clear();
  BOOST_TEST((extents(p).a == 0U && extents(p).c == 0U));
}

BOOST_AUTO_TEST_CASE(NullHandlesAreRefused) {
  BOOST_TEST((identify(nullptr).status().argument() == Argument::device));
  BOOST_TEST((Library::create(nullptr, nullptr, {}).status().argument() == Argument::context));
  BOOST_TEST((preload(nullptr).argument() == Argument::platform));
}

BOOST_AUTO_TEST_CASE(OffsetsOfABatchAreAsManyAsItsProductsAndCanBeAddressed) {
  Problem p = small_problem();
  p.batch = 2;
  p.offsets = {{0, 0, 0}, {0, 0, SIZE_MAX}};
  require_refused(p, "an offset");
  p.offsets = {{0, 0, 12}, {7, 0, 0}};
  BOOST_TEST(check(p).ok());
}

BOOST_AUTO_TEST_CASE(TheFirstWrongPartOfAnEpilogueIsNamed) {
  Problem p = small_problem();
  p.epilogue.has_d = true;
  p.epilogue.ldd = 3;
  p.epilogue.d_stride = SIZE_MAX;
  p.epilogue.activation = Activation::clamp;
  p.epilogue.low = 2;
  p.epilogue.high = 1;
  p.epilogue.bias = static_cast<Bias>(3);
  p.epilogue.bias_stride = SIZE_MAX;
  require_argument(p, "bias", Argument::bias);
  p.epilogue.bias = Bias::per_column;
  require_argument(p, "bias_stride", Argument::bias_stride);
  p.epilogue.bias_stride = 4;
  require_argument(p, "clamp", Argument::bounds);
  p.epilogue.high = std::numeric_limits<double>::quiet_NaN();
  require_argument(p, "clamp", Argument::bounds);
  p.epilogue.activation = static_cast<Activation>(7);
  require_argument(p, "activation", Argument::activation);
  p.epilogue.activation = Activation::gelu_tanh;
  require_argument(p, "ldd", Argument::ldd);
  p.epilogue.ldd = 6;
  require_argument(p, "d_stride", Argument::d_stride);
  p.epilogue.d_stride = 100;
  BOOST_TEST(check(p).ok());
}

BOOST_AUTO_TEST_CASE(WhatAQuantizationCannotBeIsRefused) {
  const auto refuse = [](const Quantization& q, Element a, Element b, Element c, const std::string& named) {
    Problem p = small_problem();
    p.precision = mixed(a, b, c);
    BOOST_TEST(check(p).ok());
    p.quantization = q;
    require_argument(p, named, Argument::quantization);
  };
  const Element s8 = Element::int8, u8 = Element::uint8, half = Element::half;
  Quantization q;
  q.row_scales = true;
  refuse(q, s8, s8, Element::int32, "scales");
  q.row_scale_stride = SIZE_MAX;
  refuse(q, s8, s8, half, "row_scale_stride");
  for (const auto& [zero, element] : {std::pair(128, s8), std::pair(-129, s8), std::pair(-1, u8), std::pair(256, u8)}) {
    q = {};
    q.zero_a = zero;
    refuse(q, element, s8, half, "zero_a");
    q = {};
    q.zero_b = zero;
    refuse(q, s8, element, half, "zero_b");
    q = {};
    q.zero_c = zero;
    refuse(q, s8, s8, element, "zero_c");
  }
  refuse(q, Element::e4m3, Element::e4m3, half, "zero_c");
  Problem p = small_problem();
  p.quantization.column_scales = true;
  require_argument(p, "scales", Argument::quantization);
  p.quantization = {};
  p.precision = mixed(s8, Element::e4m3, half);
  require_argument(p, "precision", Argument::precision);
  p.precision = mixed(s8, s8, Element::int32);
  p.epilogue.activation = Activation::gelu;
  require_argument(p, "activation", Argument::activation);
  p.epilogue.activation = Activation::clamp;
  p.epilogue.high = 1.5;
  require_argument(p, "clamp", Argument::bounds);
}

BOOST_AUTO_TEST_CASE(AMixedColumnMajorProblemExchangesTypesAndScales) {
  Problem p = make_problem({mixed(Element::int8, Element::uint8, Element::half)}, 3, 4, 5, Layout::column_major);
  p.quantization.row_scales = true;
  p.quantization.row_scale_stride = 3;
  p.quantization.zero_b = 200;
  const Problem row = row_major(p);
  BOOST_TEST((row.precision == mixed(Element::uint8, Element::int8, Element::half)));
  BOOST_TEST((row.quantization.column_scales && !row.quantization.row_scales));
  BOOST_TEST(row.quantization.column_scale_stride == 3U);
  BOOST_TEST(row.quantization.zero_a == 200);
  BOOST_TEST(extents(p).row_scales == 3U);
  BOOST_TEST(extents(row).column_scales == 3U);
}

BOOST_AUTO_TEST_CASE(WhatComplexProblemsLackIsRefused) {
  Problem p = small_problem();
  p.conj_b = true;
  require_argument(p, "conj_b", Argument::conj_b);
  p.conj_a = true;
  require_argument(p, "conj_a", Argument::conj_a);
  for (const Precision precision : complex_precisions) {
    p.precision = precision;
    BOOST_TEST(check(p).ok());
    Problem with = p;
    with.epilogue.has_d = true;
    with.epilogue.ldd = 4;
    require_argument(with, "has_d", Argument::ldd);
    with.epilogue.activation = Activation::relu;
    require_argument(with, "activation", Argument::activation);
    with.epilogue.bias = Bias::per_row;
    require_argument(with, "bias", Argument::bias);
    Problem large = p;
    large.ldb = large.ldc = large.n = (std::size_t{1} << 30) - 1;
    BOOST_TEST(check(large).ok());
    large.ldc += 1;
    require_argument(large, "ldc", Argument::ldc);
    large.n += 1;
    require_argument(large, "n", Argument::n);
  }
}

BOOST_AUTO_TEST_CASE(ExtentsOfAnEpilogueAreThoseOfItsLayout) {
  Problem p = small_problem();
  BOOST_TEST((extents(p).d == 0U && extents(p).bias == 0U));
  p.epilogue.has_d = true;
  p.epilogue.ldd = 6;
  p.epilogue.d_stride = 100;
  p.epilogue.bias = Bias::per_row;
  p.epilogue.bias_stride = 10;
  p.batch = 3;
  p.c_stride = 12;
  BOOST_TEST((extents(p).d == 200 + 2 * 6 + 4U && extents(p).bias == 20 + 3U));
  p.epilogue.bias = Bias::per_column;
  BOOST_TEST(extents(p).bias == 20 + 4U);
  p.offsets = {{0, 0, 0}, {0, 0, 50}, {0, 0, 25}};
  BOOST_TEST((extents(p).d == 50 + 2 * 6 + 4U && extents(p).bias == 20 + 4U));
  p.m = 0;
  BOOST_TEST((extents(p).d == 0U && extents(p).bias == 0U));
}
