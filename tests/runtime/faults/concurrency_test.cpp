// One library, many threads: each program is loaded once, and no thread holds a lock while the driver works.
// A deadlock shows as a test that does not end; run with the preset tsan, races show too.
#include "faults/fake_scene.hpp"
#include "system/temporary_directory.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

using namespace clbake;
using namespace clbake::test;

namespace {

constexpr std::size_t kThreads = 8;

// Starts all threads at the same time.
class Start {
 public:
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return arrived_ == kThreads; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t arrived_ = 0;
};

// Prepares and enqueues; "" when the result is right, else what is wrong. Boost's checks belong to the first thread.
std::string multiply(const Scene& scene, const Library& library, cl_command_queue queue, Case which) {
  const Problem problem = problem_of(which);
  const Operands operands(scene, problem);
  Result<Gemm> gemm = prepare(library, problem);
  if (!gemm) return gemm.status().message();
  const Status status = enqueue(*gemm, queue, operands);
  if (!status) return status.message();
  const double error = operands.error(queue);
  return error < kTolerance ? "" : "an error of " + std::to_string(error);
}

template <typename Work>
void in_threads(const Work& work) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) threads.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

BOOST_AUTO_TEST_CASE(EachProgramIsLoadedOnce) {
  bundle_bytes();
  for (int round = 0; round < 10; ++round) {
    {
      const Scene scene;
      fake::set_build_time(round == 0 ? 50 : 0);
      const Library library = *open_library(scene);
      fake::forget_calls();
      Start start;
      std::vector<std::string> wrong(kThreads);
      in_threads([&](std::size_t i) {
        start.wait();
        const cl_command_queue queue = i % 2 == 0 ? scene.queue : scene.unordered_queue;
        for (std::size_t c = 0; c < 4; ++c) wrong[i] += multiply(scene, library, queue, kAllCases[(i / 2 + c) % 4]);
      });
      for (const std::string& what : wrong) BOOST_TEST(what == "");
      BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 3U);  // one of them is rejected
      BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithSource) == 2U);
      BOOST_TEST(fake::calls(fake::Function::clBuildProgram) == 4U);
    }
    check_nothing_is_left();
  }
}

BOOST_AUTO_TEST_CASE(AFailedLoadIsSeenByAllThatWaitForIt) {
  bundle_bytes();
  {
    const Scene scene;
    fake::set_build_time(20);
    const Library library = *open_library(scene);
    fake::fail(fake::Function::clBuildProgram, fake::kEvery, CL_BUILD_PROGRAM_FAILURE);
    Start start;
    std::vector<Code> codes(kThreads);
    in_threads([&](std::size_t i) {
      start.wait();
      codes[i] = prepare(library, problem_of(Case::source)).status().code();
    });
    for (const Code code : codes) BOOST_TEST(name(code) == name(Code::build_failed));
    fake::fail_nothing();
  }
  check_nothing_is_left();
}

// While one thread is inside any of its calls to the driver, another one prepares and runs another problem, and the
// same one unless the first is about to load it: both have to come through.
BOOST_AUTO_TEST_CASE(NoLockIsHeldAcrossACallToTheDriver) {
  bundle_bytes();
  for (const Case which : {Case::source, Case::launches, Case::rejected}) {
    std::size_t calls = 1;
    for (std::size_t at = 0; at < calls; ++at) {
      {
        const Scene scene;
        const Library library = *open_library(scene);
        const Operands operands(scene, problem_of(which));
        std::optional<Gemm> gemm;
        std::string wrong;
        const std::thread::id first = std::this_thread::get_id();
        std::size_t number = 0;
        fake::set_hook([&](fake::Function) {
          if (std::this_thread::get_id() != first || number++ != at) return;
          const bool loaded = gemm.has_value();
          std::thread other([&] {
            wrong += multiply(scene, library, scene.queue, Case::native);
            if (loaded) wrong += multiply(scene, library, scene.queue, which);
          });
          other.join();
        });
        Result<Gemm> prepared = prepare(library, problem_of(which));
        BOOST_REQUIRE(prepared.ok());
        gemm = std::move(*prepared);
        BOOST_TEST(enqueue(*gemm, scene.queue, operands).ok());
        calls = number;
        fake::set_hook(nullptr);
        BOOST_TEST(operands.error(scene.queue) < kTolerance);
        BOOST_TEST(wrong == "");
      }
      check_nothing_is_left();
    }
    BOOST_TEST(calls > 20U);
  }
}

BOOST_AUTO_TEST_CASE(AGemmOutlivesItsLibrary) {
  bundle_bytes();
  {
    const Scene scene;
    auto library = std::make_unique<Library>(*open_library(scene));
    Start start;
    std::vector<double> errors(kThreads, 1);
    std::vector<Library> copies(kThreads, *library);
    library.reset();
    in_threads([&](std::size_t i) {
      const Problem problem = problem_of(kAllCases[i % 4]);
      const Operands operands(scene, problem);
      Result<Gemm> gemm = prepare(copies[i], problem);
      start.wait();
      { const Library last = std::move(copies[i]); }
      if (gemm && enqueue(*gemm, scene.queue, operands)) errors[i] = operands.error(scene.queue);
    });
    for (const double error : errors) BOOST_TEST(error < kTolerance);
  }
  check_nothing_is_left();
}

// All threads take cached plans and put them back; each has its own matrices.
BOOST_AUTO_TEST_CASE(CallsOfManyThreadsShareALibrary) {
  bundle_bytes();
  {
    const Scene scene;
    const Library library = *open_library(scene);
    Start start;
    std::vector<std::string> wrong(kThreads);
    in_threads([&](std::size_t i) {
      const Library mine = library;  // NOLINT(performance-unnecessary-copy-initialization): copies are tested, too
      start.wait();
      for (std::size_t round = 0; round < 12; ++round) {
        const Problem problem = problem_of(kAllCases[(i + round) % 4], 1 + round % 2);
        const Operands operands(scene, problem);
        const cl_command_queue queue = i % 2 == 0 ? scene.queue : scene.unordered_queue;
        const Status status =
            mine.gemm(queue, problem, Operands::kAlpha, operands.a, operands.b, Operands::kBeta, operands.c);
        if (!status) wrong[i] += status.message();
        if (!(operands.error(queue) < kTolerance)) wrong[i] += "wrong result";
      }
    });
    for (const std::string& what : wrong) BOOST_TEST(what == "");
    const Counters counters = library.counters();
    BOOST_TEST(counters.cached > 0U);
    BOOST_TEST(counters.cached + counters.loaded + counters.native + counters.source == 12U * kThreads);
  }
  check_nothing_is_left();
}

// Every thread has plans of its own: none waits for another one, however many calls there are.
BOOST_AUTO_TEST_CASE(CallsOfManyThreadsDoNotMeetAtALock) {
  bundle_bytes();
  constexpr std::size_t rounds = 500;
  {
    const Scene scene;
    const Library library = *open_library(scene);
    const Problem problem = problem_of(Case::native);
    const auto call = [&](const Operands& operands) {
      return library.gemm(scene.queue, problem, Operands::kAlpha, operands.a, operands.b, Operands::kBeta, operands.c)
          .ok();
    };
    const Operands first(scene, problem);
    BOOST_TEST(call(first));  // a plan that none of the threads may take
    Start start;
    std::vector<std::size_t> done(kThreads);
    in_threads([&](std::size_t i) {
      const Operands operands(scene, problem);
      start.wait();
      for (std::size_t round = 0; round < rounds; ++round) done[i] += call(operands) ? 1 : 0;
      clFinish(scene.queue);
    });
    for (const std::size_t calls : done) BOOST_TEST(calls == rounds);
    const Counters counters = library.counters();
    BOOST_TEST(counters.waits == 0U);
    BOOST_TEST(counters.cached == kThreads * (rounds - 1));
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(WarmLoadsEachProgramOnceAndReturnsTheFirstFailure) {
  {
    const Scene scene;
    const Library library = *open_library(scene);
    Problem impossible = problem_of(Case::native), unknown = problem_of(Case::native);
    impossible.lda = 0;
    unknown.trans_a = unknown.trans_b = true;
    unknown.lda = unknown.ldb = 20;
    std::vector<Problem> problems;
    for (int i = 0; i < 5; ++i) {
      for (const Case which : kAllCases) problems.push_back(problem_of(which));
      if (i == 1) problems.push_back(unknown);
      if (i == 2) problems.push_back(impossible);
    }
    BOOST_TEST(name(library.warm(problems).code()) == "no variant");
    BOOST_TEST(library.counters().failed == 2U);
    BOOST_TEST(library.counters().native == 2U);
    BOOST_TEST(library.counters().source == 2U);
    BOOST_TEST(library.counters().loaded == 16U);
    BOOST_TEST(library.warm({problem_of(Case::native)}).ok());
  }
  BOOST_TEST(fake::leaks() == "");
}

// A cached plan's workspace is busy until its product is done; a product on another queue must not wait for that.
BOOST_AUTO_TEST_CASE(CallsOnTwoQueuesDoNotWaitForEachOther) {
  bundle_bytes();
  {
    const Scene scene;
    const Library library = *open_library(scene);
    const Problem problem = problem_of(Case::launches);
    const Operands late(scene, problem);
    const Operands soon(scene, problem);
    cl_int error = CL_SUCCESS;
    cl_event gate = clCreateUserEvent(scene.context, &error);
    BOOST_REQUIRE(error == CL_SUCCESS);
    const auto call = [&](cl_command_queue queue, const Operands& o, cl_uint waits, const cl_event* list) {
      return library.gemm(queue, problem, Operands::kAlpha, o.a, o.b, Operands::kBeta, o.c, waits, list).message();
    };
    BOOST_TEST(call(scene.queue, late, 1, &gate) == "");
    BOOST_TEST(call(scene.unordered_queue, soon, 0, nullptr) == "");
    BOOST_TEST(soon.error(scene.unordered_queue) < kTolerance);  // would never come
    BOOST_TEST(clSetUserEventStatus(gate, CL_COMPLETE) == CL_SUCCESS);
    BOOST_TEST(late.error(scene.queue) < kTolerance);
    clReleaseEvent(gate);
  }
  check_nothing_is_left();
}

namespace {

std::size_t resident_pages() {
  std::size_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident;
}

// CLBAKE_SOAK_SECONDS of the environment, else 0.
std::chrono::seconds soak_time() {
  const char* wanted = std::getenv("CLBAKE_SOAK_SECONDS");
  return std::chrono::seconds(wanted ? std::strtol(wanted, nullptr, 10) : 0);
}

}  // namespace

// Eight threads share a library whose overlay fills, and each makes libraries of its own; again and again, for as long
// as the soak takes. What a round leaves behind would grow.
BOOST_AUTO_TEST_CASE(TheWholeRuntimeLeavesNothingBehindInTheLongRun) {
  bundle_bytes();
  const tests::TemporaryDirectory directory;
  const auto end = std::chrono::steady_clock::now() + soak_time();
  constexpr std::size_t kWarmUp = 10, kLeastRounds = 20;
  std::size_t rounds = 0, pages = 0;
  for (; rounds < kLeastRounds || std::chrono::steady_clock::now() < end; ++rounds) {
    {
      const Scene scene;
      Options options;
      options.on_miss = rounds % 2 == 0 ? OnMiss::compile : OnMiss::fallback;
      options.overlay = *open_overlay({directory.file(std::to_string(rounds % 3)), OverlayMode::read_write});
      const Result<Library> shared = open_library(scene, options);
      BOOST_REQUIRE(shared.ok());
      Start start;
      std::vector<std::string> wrong(kThreads);
      in_threads([&](std::size_t i) {
        start.wait();
        for (const Case which : kAllCases) {
          wrong[i] += multiply(scene, *shared, scene.queue, which);
          wrong[i] += multiply(scene, *open_library(scene, options), scene.unordered_queue, which);
        }
      });
      shared->finish();
      for (const std::string& what : wrong) BOOST_REQUIRE_EQUAL(what, "");
    }
    check_nothing_is_left();
    if (rounds == kWarmUp) pages = resident_pages();
    if (rounds % 1000 == 999) std::fprintf(stderr, "%zu rounds, %zu pages\n", rounds + 1, resident_pages());
  }
  BOOST_TEST(resident_pages() < 2 * pages + 4096);
}
