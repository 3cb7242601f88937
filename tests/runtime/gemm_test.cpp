// Every variant of the baked bundle against the double-precision reference: edge sizes, transposes, leading
// dimensions, offsets, beta = 0 over NaN, guards around C.
#include <clbake/builder/trial.hpp>

#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>

using namespace clbake;
using namespace clbake::builder;

namespace {

struct Baked {
  Bundle bundle;
  Device device;
  Session session;
  Library library;
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
    return Baked{*bundle, device, *session, *library};
  }
  return {Code::no_target, "the bundle has nothing for a device of this machine"};
}

Result<Baked>& baked() {
  static Result<Baked> opened = open_baked();
  return opened;
}

struct Case {
  std::size_t m, n, k;
};

// 0, 1, tile - 1, tile, tile + 1, more than two tiles, odd and thin; depths around unrolling and k blocks.
std::vector<Case> cases_for(const cache::Launch& launch) {
  const std::size_t m = launch.tile_m;
  const std::size_t n = launch.tile_n;
  return {{0, 3, 4},      {3, 0, 4},         {3, 4, 0},         {1, 1, 1},          {1, n, 7},
          {m, 1, 7},      {m - 1, n - 1, 8}, {m, n, 16},        {m + 1, n + 1, 17}, {m, n - 1, 513},
          {m - 1, n, 31}, {2 * m + 3, n, 5}, {m, 2 * n + 3, 5}, {2 * m, 2 * n, 32}, {2 * m + 1, 2 * n + 1, 65},
          {1, 257, 33},   {257, 1, 33},      {3, 5, 1030},      {67, 131, 64},      {m + 7, n + 9, 129}};
}

void require_right(const cache::Variant& variant, const Problem& problem, const TrialOptions& options) {
  const std::string what = variant.name + " at " + std::to_string(problem.m) + " x " + std::to_string(problem.n) +
                           " x " + std::to_string(problem.k) + ", beta " + std::to_string(options.beta) +
                           (problem.layout == Layout::column_major ? ", column-major" : "");
  Result<Trial> trial = Trial::create(baked()->session, baked()->device, problem, options);
  BOOST_REQUIRE_MESSAGE(trial.ok(), what << ": " << trial.status().message());
  Result<Gemm> gemm = baked()->library.prepare(problem, variant.name);
  BOOST_REQUIRE_MESSAGE(gemm.ok(), what << ": " << gemm.status().message());
  BOOST_REQUIRE(gemm->explanation().origin == Origin::bundle);
  const Result<double> ran = trial->run(*gemm);
  BOOST_REQUIRE_MESSAGE(ran.ok(), what << ": " << ran.status().message());
  const Result<Check> check = trial->check();
  BOOST_REQUIRE_MESSAGE(check.ok(), what << ": " << check.status().message());
  BOOST_TEST(check->guards_intact, what << ": wrote outside C");
  BOOST_TEST(check->max_error <= check->tolerance, what << ": error " << check->max_error);
}

template <typename Body>
void for_each_variant(Body body) {
  BOOST_REQUIRE_MESSAGE(baked().ok(), baked().status().message());
  const Bundle& bundle = baked()->bundle;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    BOOST_REQUIRE(variant.ok());
    if (variant->precision == Precision::double_precision && !baked()->device.limits.fp64) continue;
    body(*variant);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryVariantIsRightAtEdgeSizes) {
  for_each_variant([](const cache::Variant& v) {
    std::uint32_t seed = 100;
    for (const Case& c : cases_for(v.launches.front())) {
      TrialOptions options;
      options.seed = ++seed;
      options.alpha = seed % 2 ? 1.0 : -1.5;
      options.beta = seed % 3 == 0 ? 0.0 : seed % 3 == 1 ? 1.0 : 0.75;
      require_right(v, tight_problem(v.precision, c.m, c.n, c.k, v.trans_a, v.trans_b), options);
    }
  });
}

BOOST_AUTO_TEST_CASE(EveryVariantKeepsToItsMatricesInLargerBuffers) {
  for_each_variant([](const cache::Variant& v) {
    std::uint32_t seed = 200;
    for (const Case& c : cases_for(v.launches.front())) {
      TrialOptions options;
      options.seed = ++seed;
      options.a_offset = 3;
      options.b_offset = 7;
      options.c_offset = 21;
      options.beta = seed % 2 ? 0.0 : -2.0;
      Problem problem = tight_problem(v.precision, c.m, c.n, c.k, v.trans_a, v.trans_b);
      problem.lda += 1;
      problem.ldb += 9;
      problem.ldc += 5;
      require_right(v, problem, options);
    }
  });
}

BOOST_AUTO_TEST_CASE(EveryVariantServesColumnMajorMatrices) {
  for_each_variant([](const cache::Variant& v) {
    // A column-major problem asks for the variant whose transposes are exchanged.
    Problem problem = tight_problem(v.precision, 37, 53, 29, v.trans_b, v.trans_a, Layout::column_major);
    problem.ldc += 2;
    TrialOptions options;
    options.beta = 0.5;
    options.a_offset = 5;
    require_right(v, problem, options);
  });
}

BOOST_AUTO_TEST_CASE(TheSameInputsGiveTheSameBits) {
  for_each_variant([](const cache::Variant& v) {
    const Problem problem = tight_problem(v.precision, 130, 70, 90, v.trans_a, v.trans_b);
    Result<Trial> trial = Trial::create(baked()->session, baked()->device, problem);
    BOOST_REQUIRE(trial.ok());
    Result<Gemm> gemm = baked()->library.prepare(problem, v.name);
    BOOST_REQUIRE(gemm.ok());
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

int main(int argc, char** argv) {
  const Result<std::vector<Device>> devices = list_devices();
  if (!devices) {
    std::printf("skipped: %s\n", devices.status().message().c_str());
    return 77;
  }
  return boost::unit_test::unit_test_main(init_unit_test, argc, argv);
}
