// Every variant of the baked bundle against the double-precision reference.
#include "driver_main.hpp"
#include "gemm_checks.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdlib>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;

namespace {

struct Baked {
  Bundle bundle;
  Surroundings where;
};

// Programs come from the bundle or the test fails: nothing is compiled here.
Result<Baked> open_baked() {
  const char* path = std::getenv("CLBAKE_TEST_BUNDLE");
  if (!path) return {Code::not_found, "CLBAKE_TEST_BUNDLE is not set"};
  Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status();
  const Result<std::vector<Device>> devices = list_devices();
  if (!devices) return devices.status();
  for (const Device& device : *devices) {
    if (!bundle->find_target(device.target)) continue;
    Result<Session> session = Session::open(device);
    if (!session) return session.status();
    Options options;
    options.on_miss = OnMiss::fail;
    Result<Library> library = Library::create(session->context(), device.id, {*bundle}, options);
    if (!library) return library.status();
    return Baked{*bundle, {device, *session, *library}};
  }
  return {Code::no_target, "the bundle has nothing for a device of this machine"};
}

Result<Baked>& baked() {
  static Result<Baked> opened = open_baked();
  return opened;
}

template <typename Body>
void for_each_variant(Body body) {
  BOOST_REQUIRE_MESSAGE(baked().ok(), baked().status().message());
  const Bundle& bundle = baked()->bundle;
  std::size_t tried = 0;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    BOOST_REQUIRE(variant.ok());
    const Result<std::uint32_t> target = bundle.find_target(baked()->where.device.target);
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
    const std::string failures = failures_at_edges(baked()->where, v);
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
    std::string failures = failure_of(baked()->where, v.name, problem, options);
    for (std::size_t epilogue = 7; epilogue < kEpilogues; epilogue += 8) {  // each bias, with and without D
      Problem finished = problem;
      set_epilogue(finished, options, epilogue);
      if (finished.epilogue.has_d) finished.epilogue.ldd = problem.m + 3;
      failures += failure_of(baked()->where, v.name, finished, options);
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
    std::string failures = failure_of(baked()->where, v.name, problem, options);
    options.beta = 0;
    failures += failure_of(baked()->where, v.name, problem, options);
    BOOST_TEST(failures.empty(), failures);
  });
}

BOOST_AUTO_TEST_CASE(TheSameInputsGiveTheSameBits) {
  for_each_variant([](const cache::Variant& v) {
    const Problem problem = tight_problem(v.precision, 130, 70, 90, v.trans_a, v.trans_b);
    Result<GemmRun> trial = GemmRun::create(baked()->where.session, baked()->where.device, problem);
    BOOST_REQUIRE(trial.ok());
    Result<Gemm> gemm = baked()->where.library.prepare(problem, v.name);
    BOOST_REQUIRE(gemm.ok());
    const Origin baked_as = gives_machine_code(baked()->where.device) ? Origin::native : Origin::portable;
    BOOST_TEST((gemm->explanation().origin == baked_as));
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
