// Host cost of a prepared call: no allocation, and as many calls to the driver as the kernels have arguments,
// plus a few.
#include "allocation_watch.hpp"
#include "faults/fake_scene.hpp"

using namespace clbake;
using namespace clbake::test;

namespace {

std::string calls_by_name() {
  std::string text;
  for (int f = 0; f < static_cast<int>(fake::Function::count); ++f) {
    const auto function = static_cast<fake::Function>(f);
    if (fake::calls(function) > 0) text += " " + std::to_string(fake::calls(function)) + " " + fake::name(function);
  }
  return text;
}

// Recording may cost no more than an increment.
Result<Library> open_recording_library(const Scene& scene) {
  Options options;
  options.record = true;
  return open_library(scene, options);
}

}  // namespace

BOOST_AUTO_TEST_CASE(APreparedCallAllocatesNothing) {
  const Scene scene;
  const Library library = *open_recording_library(scene);
  for (const Case which : kWithComplex) {
    Result<Gemm> gemm = prepare(library, problem_of(which, 2));
    BOOST_REQUIRE(gemm.ok());
    const Operands operands(scene, problem_of(which, 2));
    cl_event first = nullptr;
    BOOST_TEST(enqueue(*gemm, scene.queue, operands, 0, nullptr, &first).ok());
    for (const bool with_events : {false, true}) {
      cl_event second = nullptr;
      fake::forget_calls();
      cache::test::reset_largest_allocation();
      const Status status = with_events ? enqueue(*gemm, scene.queue, operands, 1, &first, &second)
                                        : enqueue(*gemm, scene.queue, operands);
      const std::size_t largest = cache::test::largest_allocation();
      BOOST_TEST(status.ok());
      BOOST_TEST_MESSAGE("case " << static_cast<int>(which) << (with_events ? " with events:" : ":")
                                 << calls_by_name());
      BOOST_TEST(largest == 0U);
      // At most the arguments (19 of the product; with all launches 10 of each copy and 12 of the reduction): scalars
      // that a kernel holds already are not set again. Beside them queue and buffers are looked at, and of several
      // launches an event of each is kept.
      BOOST_TEST(fake::calls() <= (which == Case::launches  ? 51U + 25U
                                   : which == Case::complex ? 55U + 25U
                                                            : 19U + 9U));
      if (second) clReleaseEvent(second);
    }
    clReleaseEvent(first);
  }
}

BOOST_AUTO_TEST_CASE(ACallWithACachedPlanAllocatesNothingAndCallsTheDriverAsOften) {
  const Scene scene;
  const Library library = *open_recording_library(scene);
  for (const Case which : kWithComplex) {
    const Problem problem = problem_of(which, 2);
    const Operands operands(scene, problem);
    Result<Gemm> gemm = prepare(library, problem);
    BOOST_REQUIRE(gemm.ok());
    const auto one_call = [&] {
      return library.gemm(scene.queue, problem, operands.alpha(), operands.a, operands.b, Operands::kBeta, operands.c);
    };
    BOOST_TEST(enqueue(*gemm, scene.queue, operands).ok());
    fake::forget_calls();
    BOOST_TEST(enqueue(*gemm, scene.queue, operands).ok());
    const std::size_t prepared_calls = fake::calls();
    BOOST_TEST(one_call().ok());
    fake::forget_calls();
    cache::test::reset_largest_allocation();
    const Status status = one_call();
    const std::size_t largest = cache::test::largest_allocation();
    BOOST_TEST(status.ok());
    BOOST_TEST(largest == 0U);
    BOOST_TEST(fake::calls() == prepared_calls);
  }
  BOOST_TEST(library.counters().cached == std::size(kWithComplex));
}

// More plans than are kept, which differ in their strides alone: each call gets its own one.
BOOST_AUTO_TEST_CASE(EvictedPlansAreReplacedByTheRightOnes) {
  const Scene scene;
  const Library library = *open_library(scene);
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < Library::kPlans + 8; ++i) {
      Problem problem = problem_of(Case::native, 2);
      problem.c_stride += i;
      const Operands operands(scene, problem);
      const Status status =
          library.gemm(scene.queue, problem, Operands::kAlpha, operands.a, operands.b, Operands::kBeta, operands.c);
      BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
      BOOST_TEST(operands.error(scene.queue) < kTolerance, "stride " << problem.c_stride << ", pass " << pass);
    }
  }
}
