// Every allocation of the library fails once, or with all that follow: each call reports it or works without, leaks
// nothing, and recovers when there is memory again. The driver's own allocations do not fail.
#include "faults/fake_scene.hpp"
#include "system/faulty_memory.hpp"
#include "system/temporary_directory.hpp"

#include <optional>

using namespace clbake;
using namespace clbake::test;

namespace {

using Directory = tests::TemporaryDirectory;

// How far a scenario came. Nothing is copied or destroyed while allocations fail.
struct Outcome {
  std::optional<Result<Library>> library;
  std::optional<Result<Gemm>> gemm;
  Status enqueued;

  Status first_failure() const {
    if (!*library) return library->status();
    return *gemm ? enqueued : gemm->status();
  }
};

// Opens, prepares, enqueues, and waits for what is kept in the overlay; stops at the first failure.
void run(const Scene& scene, const std::vector<Bundle>& bundles, const Problem& problem, const Operands& operands,
         const Options& options, Outcome& outcome) {
  outcome.library.emplace(Library::create(scene.context, scene.device, bundles, options));
  if (!*outcome.library) return;
  outcome.gemm.emplace(prepare(**outcome.library, problem));
  if (!*outcome.gemm) return;
  outcome.enqueued = enqueue(**outcome.gemm, scene.queue, operands);
  (*outcome.library)->finish();
}

Options with_overlay(const Directory& directory) {
  Options options;
  const Result<std::shared_ptr<OverlayStore>> overlay = open_overlay({directory.path, OverlayMode::read_write});
  BOOST_REQUIRE(overlay.ok());
  options.overlay = *overlay;
  return options;
}

void check_nothing_is_left(std::size_t at) {
  BOOST_TEST_INFO("allocation " << at);
  BOOST_TEST(fake::leaks() == "");
  for (const std::string& complaint : fake::complaints()) BOOST_TEST_ERROR("allocation " << at << ": " << complaint);
}

// False when the scenario makes no allocation of this number.
bool run_with_failure(Case which, std::size_t at, bool lasting) {
  bool failed = false;
  {
    const Scene scene;
    const Directory directory;
    const Problem problem = problem_of(which);
    const Operands first(scene, problem);
    const Options options = with_overlay(directory);
    const std::vector<Bundle> bundles = {*Bundle::from_memory({bundle_bytes().data(), bundle_bytes().size()})};
    Outcome outcome;
    tests::fail_allocation(at, lasting, fake::inside);
    run(scene, bundles, problem, first, options, outcome);
    failed = tests::stop_failing_allocations();
    const Status failure = outcome.first_failure();
    BOOST_TEST_CONTEXT("allocation " << at << (lasting ? " and all that follow" : "")) {
      if (!failure) BOOST_TEST(name(failure.code()) == name(Code::out_of_memory));
      if (failure) BOOST_TEST(first.error(scene.queue) < kTolerance);
      // The same once more, with memory: with what is left of the first attempt, if it came so far.
      const Operands second(scene, problem);
      Result<Library> again = *outcome.library ? *outcome.library : open_library(scene, options);
      BOOST_REQUIRE_EQUAL(name(again.status().code()), "ok");
      Result<Gemm> gemm = prepare(*again, problem);
      BOOST_REQUIRE_EQUAL(name(gemm.status().code()), "ok");
      BOOST_TEST(enqueue(*gemm, scene.queue, second).message() == "");
      BOOST_TEST(second.error(scene.queue) < kTolerance);
    }
  }
  check_nothing_is_left(at);
  return failed;
}

void check_every_allocation(Case which, bool lasting) {
  bundle_bytes();
  std::size_t at = 0;
  while (run_with_failure(which, at, lasting)) ++at;
  BOOST_TEST_MESSAGE(at << " allocations failed");
  BOOST_TEST(at > 50U);
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryAllocationMayFailWithMachineCode) { check_every_allocation(Case::native, false); }
BOOST_AUTO_TEST_CASE(EveryAllocationMayFailWhileASourceIsCompiledAndStored) {
  check_every_allocation(Case::source, false);
}
BOOST_AUTO_TEST_CASE(EveryAllocationMayFailWithSeveralLaunches) { check_every_allocation(Case::launches, false); }
BOOST_AUTO_TEST_CASE(EveryAllocationMayFailWithAComplexProduct) { check_every_allocation(Case::complex, false); }
BOOST_AUTO_TEST_CASE(EveryAllocationMayFailWithARejectedProgram) { check_every_allocation(Case::rejected, false); }
BOOST_AUTO_TEST_CASE(MemoryMayRunOutForGood) { check_every_allocation(Case::source, true); }
