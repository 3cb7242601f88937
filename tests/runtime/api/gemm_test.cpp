// Every variant of the baked bundle against the double-precision reference.
#include "api/library_scene.hpp"
#include "driver_main.hpp"
#include "gemm_checks.hpp"

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;

namespace {

// Programs come from the bundle or the test fails: nothing is compiled here.
const Surroundings& where() {
  static const Surroundings only = [] {
    Options options;
    options.on_miss = OnMiss::fail;
    return Surroundings{here().device, here().session, library_of(baked(), options)};
  }();
  return only;
}

template <typename Body>
void for_each_variant(Body body) {
  const Bundle bundle = baked();
  std::size_t tried = 0;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    BOOST_REQUIRE(variant.ok());
    const Result<std::uint32_t> target = bundle.find_target(where().device.target);
    BOOST_REQUIRE(target.ok());
    if (variant->is_program() || !bundle.find_entry(*target, i)) continue;  // in the bundle as source only
    ++tried;
    body(*variant);
  }
  BOOST_TEST(tried > 0U);
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryVariantIsRightAtEdgeSizes) {
  for_each_variant([](const cache::Variant& v) {
    const std::string failures = failures_at_edges(where(), v);
    BOOST_TEST(failures.empty(), failures);
  });
}

BOOST_AUTO_TEST_CASE(EveryVariantServesColumnMajorMatrices) {
  for_each_variant([](const cache::Variant& v) {
    // A column-major problem asks for the variant whose transposes are exchanged.
    Problem problem = tight_problem(v.precision, 37, 53, 29, v.trans_b, v.trans_a, Layout::column_major);
    problem.ldc += 2;
    GemmRunOptions options;
    options.beta = 0.5;
    options.a_offset = 5;
    std::string failures = failure_of(where(), v.name, problem, options);
    for (std::size_t epilogue = 7; epilogue < kEpilogues; epilogue += 8) {  // each bias, with and without D
      Problem finished = problem;
      set_epilogue(finished, options, epilogue);
      if (finished.epilogue.has_d) finished.epilogue.ldd = problem.m + 3;
      failures += failure_of(where(), v.name, finished, options);
    }
    BOOST_TEST(failures.empty(), failures);
  });
}

BOOST_AUTO_TEST_CASE(AlphaAndBetaAreRoundedToThePrecision) {
  for_each_variant([](const cache::Variant& v) {
    GemmRunOptions options;
    options.alpha = 1e-60;  // 0 in single precision
    options.beta = 0.1;
    const Problem problem = tight_problem(v.precision, 5, 6, 7, v.trans_a, v.trans_b);
    std::string failures = failure_of(where(), v.name, problem, options);
    options.beta = 0;
    failures += failure_of(where(), v.name, problem, options);
    BOOST_TEST(failures.empty(), failures);
  });
}

BOOST_AUTO_TEST_CASE(TheSameInputsGiveTheSameBits) {
  for_each_variant([](const cache::Variant& v) {
    const Problem problem = tight_problem(v.precision, 130, 70, 90, v.trans_a, v.trans_b);
    Result<GemmRun> trial = GemmRun::create(where().session, where().device, problem);
    BOOST_REQUIRE(trial.ok());
    Result<Gemm> gemm = where().library.prepare(problem, v.name);
    BOOST_REQUIRE(gemm.ok());
    BOOST_TEST((gemm->explanation().origin == Origin::native));
    double first_error = -1;
    for (int i = 0; i < 3; ++i) {
      BOOST_REQUIRE(trial->run(*gemm).ok());
      const Result<Check> check = trial->check();
      BOOST_REQUIRE(check.ok());
      if (i == 0) first_error = check->max_error;
      BOOST_TEST(check->max_error == first_error);
    }
  });
}
