// Every call that the library makes to the driver fails once, with several errors: the library reports it or
// works without that call, leaks nothing, and recovers when the error has passed.
#include "faults/fake_scene.hpp"

#include <atomic>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

using namespace clbake;
using namespace clbake::test;

namespace {

bool begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

// Calls that may fail unreported: nothing can be done about references; the limit on work-groups, the state of
// an earlier event and a flush only improve what works without them.
bool harmless(fake::Function function) {
  const std::string name = fake::name(function);
  return begins(name, "clRetain") || begins(name, "clRelease") || name == "clGetKernelWorkGroupInfo" ||
         name == "clGetEventInfo" || name == "clFlush";
}

bool as_pocl() {
  const char* platform = std::getenv("FAKE_OPENCL_PLATFORM");
  return platform && std::string(platform) == "Portable Computing Language";
}

bool is_allocation_failure(cl_int error) { return error == CL_OUT_OF_HOST_MEMORY || error == CL_OUT_OF_RESOURCES; }

// Opens, prepares, enqueues and destroys; a step that fails is repeated once, without the error.
class Script {
 public:
  // No call may fail yet.
  explicit Script(const Scene& scene) : scene_(scene), gate_(clCreateUserEvent(scene.context, nullptr)) {
    clSetUserEventStatus(gate_, CL_COMPLETE);
  }
  ~Script() { clReleaseEvent(gate_); }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  // operands: two of each case.
  void run(const std::vector<std::unique_ptr<Operands>>& operands) {
    std::optional<Library> library = open();
    if (!library) return;
    for (const Case which : kWithComplex) {
      std::optional<Gemm> gemm = prepared(*library, which);
      if (!gemm) return;
      multiply(*gemm, *operands[2 * static_cast<std::size_t>(which)]);
      multiply(*gemm, *operands[2 * static_cast<std::size_t>(which) + 1]);  // may have to wait for the first
    }
  }

  std::vector<Status> failures;
  std::string said;  // all messages

 private:
  std::optional<Library> open() {
    std::optional<Library> opened;
    twice([&] {
      Result<Library> library = open_library(scene_);
      if (library) opened = *library;
      return library.status();
    });
    return opened;
  }

  // A library keeps the failures of a program, so that not every call tries it again: another library then does. It
  // does not keep those of the machine.
  std::optional<Gemm> prepared(Library& library, Case which) {
    std::optional<Gemm> gemm;
    twice([&] {
      if (!failures.empty() && failures.back().code() == Code::build_failed) library = *open_library(scene_);
      Result<Gemm> result = prepare(library, problem_of(which));
      if (result) gemm = std::move(*result);
      return result.status();
    });
    if (gemm) said += gemm->explanation().miss_message + "\n";
    return gemm;
  }

  void multiply(Gemm& gemm, const Operands& operands) {
    twice([&] {
      cl_event done = nullptr;
      const Status status = enqueue(gemm, scene_.unordered_queue, operands, 1, &gate_, &done);
      BOOST_TEST((done != nullptr) == status.ok());
      if (done) clReleaseEvent(done);
      return status;
    });
  }

  void twice(const std::function<Status()>& step) {
    const Status first = step();
    if (first) return;
    failures.push_back(first);
    said += first.message() + "\n";
    const Status second = step();
    BOOST_TEST(second.ok(), "repeated: " << second.message());
  }

  const Scene& scene_;
  cl_event gate_;
};

// Runs the script with the call number `at` failing, and has `judge(script, failed function, operands)` say whether C
// must be right; false when it makes no such call.
template <typename Judge>
bool run_with_failure(std::size_t at, cl_int error, const Judge& judge) {
  BOOST_TEST_CONTEXT("call " << at << " returns " << error) {
    {
      const Scene scene;
      std::vector<std::unique_ptr<Operands>> operands;
      for (const Case which : kWithComplex) {
        for (int i = 0; i < 2; ++i) operands.push_back(std::make_unique<Operands>(scene, problem_of(which)));
      }
      Script script(scene);
      fake::fail(fake::Function::count, at, error);
      script.run(operands);
      const fake::Function failed = fake::failed();
      fake::fail_nothing();
      if (failed == fake::Function::count) return false;
      BOOST_TEST_CONTEXT(fake::name(failed) << "; said: " << script.said) {
        BOOST_TEST(script.failures.size() <= 1U);
        const bool right = judge(script, failed);
        for (const auto& its : operands) {
          const double worst = its->error(scene.unordered_queue);
          if (right) BOOST_TEST(worst < kTolerance);
        }
      }
    }
    check_nothing_is_left();
  }
  return true;
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryCallMayFail) {
  bundle_bytes();  // its making calls the driver, too
  std::vector<cl_int> errors = {CL_OUT_OF_HOST_MEMORY, -9999, CL_OUT_OF_RESOURCES, CL_INVALID_VALUE};
  if (as_pocl()) errors.resize(2);  // makes large launches, too: half a minute for these two
  for (const cl_int error : errors) {
    const auto judge = [&](const Script& script, fake::Function failed) {
      // The warm-up launch for PoCL may fail silently: the product does not depend on it.
      const bool optional = as_pocl() && script.failures.empty();
      BOOST_TEST((has(script.said, fake::name(failed)) || harmless(failed) || optional));
      const Code expected = failed == fake::Function::clBuildProgram ? Code::build_failed
                            : is_allocation_failure(error)           ? Code::out_of_memory
                                                                     : Code::opencl;
      for (const Status& failure : script.failures) {
        BOOST_TEST(name(failure.code()) == name(expected));
        BOOST_TEST(failure.opencl_code() == error);
      }
      return true;
    };
    std::size_t calls = 0;
    while (run_with_failure(calls, error, judge)) ++calls;
    BOOST_TEST(calls > 100U);
  }
}

// Success with a null object, or with nothing built: the library reports a failure or finds another way, and never uses
// what is not there.
BOOST_AUTO_TEST_CASE(EveryCallMayLie) {
  bundle_bytes();
  std::size_t lies = 0;
  const auto judge = [&](const Script& script, fake::Function liar) {
    lies += script.failures.size();
    // A launch without its event has run, so that the repetition adds to what it left.
    return liar != fake::Function::clEnqueueNDRangeKernel || script.failures.empty();
  };
  for (std::size_t at = 0; run_with_failure(at, fake::kLie, judge); ++at) {
  }
  BOOST_TEST(lies > 5U);
}

// A driver of which one function never works.
BOOST_AUTO_TEST_CASE(ADriverFunctionMayAlwaysFail) {
  bundle_bytes();
  for (int f = 0; f < static_cast<int>(fake::Function::count); ++f) {
    {
      const Scene scene;
      const Problem problem = problem_of(Case::launches);
      const Operands operands(scene, problem);
      fake::fail(static_cast<fake::Function>(f), fake::kEvery, CL_INVALID_OPERATION);
      const Result<Library> library = open_library(scene);
      if (library) {
        Result<Gemm> gemm = prepare(*library, problem);
        if (gemm) static_cast<void>(enqueue(*gemm, scene.queue, operands));
      }
      fake::fail_nothing();
    }
    BOOST_TEST_INFO(fake::name(static_cast<fake::Function>(f)));
    BOOST_TEST(fake::leaks() == "");
    BOOST_TEST(fake::complaints().empty());
  }
}

// Else a call on another queue, which waits for what was launched before the failure, would wait for ever.
BOOST_AUTO_TEST_CASE(WhatWasLaunchedBeforeAFailureIsFlushed) {
  bundle_bytes();
  const Scene scene;
  const Problem problem = problem_of(Case::launches);
  const Operands first(scene, problem);
  const Operands second(scene, problem);
  const Library library = *open_library(scene);
  Result<Gemm> gemm = prepare(library, problem);
  BOOST_REQUIRE(gemm.ok());
  fake::set_lazy(true);
  fake::fail(fake::Function::clEnqueueNDRangeKernel, 2, CL_OUT_OF_RESOURCES);
  BOOST_TEST(name(enqueue(*gemm, scene.unordered_queue, first).code()) == name(Code::out_of_memory));
  fake::fail_nothing();
  BOOST_TEST(enqueue(*gemm, scene.queue, second).ok());
  BOOST_TEST(second.error(scene.queue) < kTolerance);
  clFinish(scene.unordered_queue);
  fake::set_lazy(false);
  for (const std::string& complaint : fake::complaints()) BOOST_TEST_ERROR(complaint);
}

// With every policy, whether the problem, the choice, the program or the kernels are at fault.
BOOST_AUTO_TEST_CASE(EveryFailedPrepareIsCountedAndLogged) {
  bundle_bytes();
  for (const OnMiss on_miss : {OnMiss::compile, OnMiss::fail, OnMiss::fallback}) {
    const Scene scene;
    LogLines warnings(LogLevel::warning);
    Options options;
    options.on_miss = on_miss;
    const Library library = *open_library(scene, warnings.in(options));
    std::uint64_t failures = 0;
    const auto require_counted = [&](const Status& status, Code code) {
      ++failures;
      BOOST_TEST(name(status.code()) == name(code));
      BOOST_TEST(library.counters().failed == failures);
      BOOST_REQUIRE(warnings.lines().size() == failures);
      BOOST_TEST(warnings.lines().back() == status.message());
    };
    const auto misses = [&](Code code) { return library.counters().misses[static_cast<std::size_t>(code)]; };
    const Problem unknown = make_problem({Precision::half_precision}, 4, 4, 4);
    Problem impossible = problem_of(Case::native);
    impossible.lda = 0;
    require_counted(library.prepare(unknown).status(), Code::no_variant);
    require_counted(library.warm({unknown}), Code::no_variant);
    BOOST_TEST(misses(Code::no_variant) == 2U);
    const Matrix none;
    require_counted(library.gemm(scene.queue, unknown, 1, none, none, 0, none), Code::no_variant);
    require_counted(library.prepare(impossible).status(), Code::invalid_argument);
    require_counted(library.prepare(problem_of(Case::native), "no-such-variant").status(), Code::no_variant);
    BOOST_TEST(misses(Code::no_variant) == 4U);
    BOOST_TEST(library.prepare(problem_of(Case::native)).ok());  // loads the program: what fails next is its kernel
    fake::fail(fake::Function::clCreateKernel, 0, CL_OUT_OF_HOST_MEMORY);
    require_counted(library.prepare(problem_of(Case::native)).status(), Code::out_of_memory);
    fake::fail_nothing();
    BOOST_TEST(library.prepare(problem_of(Case::native)).ok());
    BOOST_TEST(library.counters().failed == failures);
  }
}

// PoCL 3.1 aborts the process when a failure passes through an event without references, also where the handle is gone.
BOOST_AUTO_TEST_CASE(TheEventsOfAVariantOfSeveralKernelsLiveUntilTheCallHasEnded) {
  bundle_bytes();
  for (const bool handle_goes : {false, true}) {
    {
      const Scene scene;
      const Problem problem = problem_of(Case::launches);
      const Operands failing(scene, problem), second(scene, problem);
      const Library library = *open_library(scene);
      std::optional<Gemm> gemm = std::move(*prepare(library, problem));
      const int before = fake::alive(fake::Kind::event);
      cl_event gate = clCreateUserEvent(scene.context, nullptr);
      BOOST_TEST(enqueue(*gemm, scene.queue, failing, 1, &gate).ok());
      if (handle_goes) gemm.reset();
      BOOST_TEST(fake::alive(fake::Kind::event) == before + 1 + 4);
      BOOST_TEST(clSetUserEventStatus(gate, -1) == CL_SUCCESS);
      clReleaseEvent(gate);
      clFinish(scene.queue);
      if (handle_goes) BOOST_TEST(prepare(library, problem).ok());
      if (gemm) BOOST_TEST(enqueue(*gemm, scene.queue, second).ok());
      if (gemm) BOOST_TEST(second.error(scene.queue) < kTolerance);
      BOOST_TEST(fake::alive(fake::Kind::event) == before + (gemm ? 4 : 0));
    }
    check_nothing_is_left();
  }
}
