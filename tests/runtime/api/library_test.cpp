// The library's functions beside prepare and enqueue, on this machine's first device.
#include "api/library_scene.hpp"
#include "driver_main.hpp"

#include <atomic>
#include <thread>

using namespace clbake;
using namespace clbake::tests;

namespace {

// A variant of the bundle for single-precision NN problems that needs a workspace of buffers; empty: none.
std::string variant_with_workspace(const Bundle& bundle) {
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> v = bundle.variant(i);
    if (v && v->precision == Precision::single_precision && !v->trans_a && !v->trans_b && v->launches.size() > 1 &&
        !v->image_a && !v->image_b) {
      return v->name;
    }
  }
  return {};
}

}  // namespace

BOOST_AUTO_TEST_CASE(ClonesRunInThreadsOfTheirOwn) {
  const Bundle bundle = baked();
  const Library library = library_of(bundle);
  const Problem problem = small_problem();
  const std::string variant = variant_with_workspace(bundle);
  Result<Gemm> gemm = library.prepare(problem, variant);
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t) {
    Result<Gemm> clone = gemm->clone();
    BOOST_REQUIRE_MESSAGE(clone.ok(), clone.status().message());
    BOOST_TEST(clone->program() == gemm->program());
    threads.emplace_back([&failures, &problem, mine = std::move(*clone)]() mutable {
      for (int i = 0; i < 20; ++i) {
        if (!failure_of(mine, problem).empty()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(failures == 0);
}

BOOST_AUTO_TEST_CASE(AMovedFromHandleFailsWithoutHarm) {
  const Library library = library_of(baked());
  Result<Gemm> gemm = library.prepare(small_problem());
  BOOST_REQUIRE(gemm.ok());
  const Gemm taken = std::move(*gemm);
  BOOST_TEST(name(gemm->enqueue(nullptr, 1, {}, {}, 0, {}).code()) == name(Code::invalid_argument));
  BOOST_TEST(name(gemm->clone().status().code()) == name(Code::invalid_argument));
  BOOST_TEST(name(gemm->use_workspace(nullptr).code()) == name(Code::invalid_argument));
  BOOST_TEST(gemm->explanation().variant.empty());
  BOOST_TEST((gemm->program() == nullptr));
}

BOOST_AUTO_TEST_CASE(AFallbackServesUntilTheWantedVariantIsCompiled) {
  std::string wanted;
  const Bundle bundle = bundle_with_a_miss(wanted);
  Lines lines;
  Options options;
  options.on_miss = OnMiss::fallback;
  options.log = keep_line;
  options.log_data = &lines;
  const Library library = library_of(bundle, options);
  const Problem problem = small_problem();

  BOOST_TEST(failure_of(library, problem) == "");
  BOOST_TEST(library.counters().fallback == 1U);
  BOOST_TEST(library.counters().misses[static_cast<std::size_t>(Code::no_entry)] == 1U);

  library.finish();
  BOOST_TEST(failure_of(library, problem) == "");  // not from the plan of the fallback
  const Result<Gemm> gemm = library.prepare(problem);
  BOOST_REQUIRE(gemm.ok());
  BOOST_TEST(gemm->explanation().variant == wanted);
  BOOST_TEST(gemm->explanation().waits_for.empty());
  BOOST_TEST((gemm->explanation().origin == Origin::source));
  BOOST_TEST(library.counters().fallback == 1U);
  const std::lock_guard<std::mutex> lock(lines.mutex);
  BOOST_TEST(!lines.all.empty());
}

// The last copy of a library is destroyed while its thread compiles.
BOOST_AUTO_TEST_CASE(ALibraryMayBeDestroyedWhileItCompiles) {
  std::string wanted;
  const Bundle bundle = bundle_with_a_miss(wanted);
  Options options;
  options.on_miss = OnMiss::fallback;
  Result<Gemm> gemm = library_of(bundle, options).prepare(small_problem());
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  BOOST_TEST(gemm->explanation().waits_for == wanted);
  BOOST_TEST(failure_of(*gemm, small_problem()) == "");
}

BOOST_AUTO_TEST_CASE(AMovedFromLibraryStillWorks) {
  Library library = library_of(baked());
  const Library other = std::move(library);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested
  BOOST_TEST(failure_of(library, small_problem()) == "");
  library = library_of(baked());
  BOOST_TEST(failure_of(other, small_problem()) == "");
}
