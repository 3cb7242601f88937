// The library's functions beside prepare and enqueue, on this machine's first device.
#include "api/library_scene.hpp"
#include "driver_main.hpp"

#include <clbake/builder/jobs.hpp>

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

BOOST_AUTO_TEST_CASE(RepeatedCallsAreRightAndPrepareOnce) {
  const Library library = library_of(baked());
  const Problem problem = small_problem();
  for (int call = 0; call < 3; ++call) {
    Matrices matrices(problem);
    const Status status = run_once(library, problem, matrices);
    BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
    BOOST_TEST(matrices.error() < kTolerance);
  }
  const Counters counters = library.counters();
  BOOST_TEST(counters.native == 1U);
  BOOST_TEST(counters.cached == 2U);
  BOOST_TEST(counters.failed == 0U);
  BOOST_TEST((counters.create_us + counters.build_us + counters.kernel_us) > 0U);
}

// More problems than plans are kept, by several threads at once.
BOOST_AUTO_TEST_CASE(CallsFromManyThreadsAreRight) {
  const Library library = library_of(baked());
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (std::size_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      const Library mine = library;  // NOLINT(performance-unnecessary-copy-initialization): copies are tested, too
      for (std::size_t i = 0; i < 2 * Library::kPlans; ++i) {
        const Problem p =
            builder::tight_problem(Precision::single_precision, 1 + (i * 7 + t) % (Library::kPlans + 9), 5, 6);
        Matrices matrices(p);
        if (!run_once(mine, p, matrices) || !(matrices.error() < kTolerance)) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(failures == 0);
  BOOST_TEST(library.counters().failed == 0U);
}

BOOST_AUTO_TEST_CASE(ExplainLoadsNothingAndTellsWhatPrepareDoes) {
  const Library library = library_of(baked());
  const Problem problem = small_problem();
  const Result<Explanation> before = library.explain(problem);
  BOOST_REQUIRE_MESSAGE(before.ok(), before.status().message());
  BOOST_TEST(!before->loaded);
  BOOST_TEST(library.contains(problem));
  BOOST_TEST(library.counters().native == 0U);

  const Result<Gemm> gemm = library.prepare(problem);
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  BOOST_TEST(gemm->explanation().variant == before->variant);
  BOOST_TEST(gemm->explanation().reason == before->reason);
  BOOST_TEST(has(before->reason, here().device.target.device_name), before->reason);
  const Result<Explanation> after = library.explain(problem);
  BOOST_REQUIRE(after.ok());
  BOOST_TEST(after->loaded);
}

BOOST_AUTO_TEST_CASE(WarmLoadsAhead) {
  const Library library = library_of(baked());
  const Problem problem = small_problem();
  Problem impossible = problem;
  impossible.lda = 1;
  const Status status = library.warm({impossible, problem});
  BOOST_TEST(name(status.code()) == name(Code::invalid_argument));
  BOOST_TEST(has(status.message(), "lda"));
  BOOST_TEST(library.counters().native == 1U);  // in spite of the failure before it
  const Result<Gemm> gemm = library.prepare(problem);
  BOOST_REQUIRE(gemm.ok());
  BOOST_TEST(gemm->explanation().loaded);
  BOOST_TEST(library.counters().loaded == 1U);
}

// Progress reported to a caller of `warm`.
struct Told {
  std::vector<std::size_t> done;
  std::size_t total = 0;
  double seconds_left = -1;
  std::size_t stop_at = SIZE_MAX;
};

bool tell(std::size_t done, std::size_t total, double seconds_left, void* data) {
  Told& told = *static_cast<Told*>(data);
  told.done.push_back(done);
  told.total = total;
  told.seconds_left = seconds_left;
  return done != told.stop_at;
}

BOOST_AUTO_TEST_CASE(WarmTellsHowFarItIs) {
  const Library library = library_of(baked());
  Told told;
  BOOST_TEST(library.warm({small_problem(), small_problem()}, tell, &told).ok());
  BOOST_TEST((told.done == std::vector<std::size_t>{0, 1, 2}));
  BOOST_TEST(told.total == 2U);
  BOOST_TEST(told.seconds_left == 0);
  Told nothing;
  BOOST_TEST(library.warm({}, tell, &nothing).ok());
  BOOST_TEST((nothing.done == std::vector<std::size_t>{0}));
}

BOOST_AUTO_TEST_CASE(WarmStopsWhenItIsAskedTo) {
  const Library library = library_of(baked());
  Told told;
  told.stop_at = 1;
  const Status stopped = library.warm({small_problem(), small_problem()}, tell, &told);
  BOOST_TEST(name(stopped.code()) == name(Code::cancelled));
  BOOST_TEST(has(stopped.message(), "after 1 of 2 problems"));
  BOOST_TEST(library.counters().native == 1U);  // what was loaded stays
  BOOST_TEST(library.counters().loaded == 0U);

  // A failure counts more than the stop; at the end there is nothing left to stop.
  Problem impossible = small_problem();
  impossible.lda = 1;
  Told after_failure;
  after_failure.stop_at = 1;
  const Status failed = library.warm({impossible, small_problem()}, tell, &after_failure);
  BOOST_TEST(name(failed.code()) == name(Code::invalid_argument));
  Told at_the_end;
  at_the_end.stop_at = 1;
  BOOST_TEST(library.warm({small_problem()}, tell, &at_the_end).ok());
}

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
        Matrices m(problem);
        const Status status = mine.enqueue(here().session.queue(), 1.0, {m.a}, {m.b}, 0.0, {m.c});
        if (!status || !(m.error() < kTolerance)) ++failures;
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

BOOST_AUTO_TEST_CASE(TheCallersWorkspaceServes) {
  const Bundle bundle = baked();
  const std::string variant = variant_with_workspace(bundle);
  if (variant.empty()) return;
  const Library library = library_of(bundle);
  const Problem problem = small_problem();
  Result<Gemm> gemm = library.prepare(problem, PrepareOptions{variant, true});
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  Matrices m(problem);
  const auto enqueue = [&] { return gemm->enqueue(here().session.queue(), 1.0, {m.a}, {m.b}, 0.0, {m.c}); };
  BOOST_TEST(name(enqueue().code()) == name(Code::invalid_argument));

  const std::size_t bytes = gemm->workspace_bytes();
  BOOST_REQUIRE(bytes > 0U);
  cl_uint bits = 0;
  clGetDeviceInfo(here().device.id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, nullptr);
  const std::size_t offset = 2 * std::size_t{bits} / 8;
  const auto buffer = [&](std::size_t size) {
    return clCreateBuffer(here().session.context(), CL_MEM_READ_WRITE, size, nullptr, nullptr);
  };
  const cl_mem tight = buffer(offset + bytes);
  const cl_mem short_by_one = buffer(offset + bytes - 1);
  BOOST_TEST(has(gemm->use_workspace(short_by_one, offset).message(), "workspace"));
  BOOST_TEST(name(gemm->use_workspace(tight, offset + 1).code()) == name(Code::invalid_argument));
  BOOST_TEST(name(gemm->use_workspace(nullptr).code()) == name(Code::invalid_argument));
  BOOST_TEST(name(enqueue().code()) == name(Code::invalid_argument));  // refused workspaces leave it without
  const Status used = gemm->use_workspace(tight, offset);
  BOOST_TEST(used.ok(), used.message());
  clReleaseMemObject(tight);  // the handle holds it
  clReleaseMemObject(short_by_one);
  const Status status = enqueue();
  BOOST_TEST(status.ok(), status.message());
  BOOST_TEST(m.error() < kTolerance);
}

BOOST_AUTO_TEST_CASE(OperandsThatShareElementsWithCAreRefused) {
  const Library library = library_of(baked());
  const Problem problem = builder::tight_problem(Precision::single_precision, 16, 16, 16);
  Result<Gemm> gemm = library.prepare(problem);
  BOOST_REQUIRE(gemm.ok());
  Matrices m(problem);
  const cl_command_queue queue = here().session.queue();
  const Status a = gemm->enqueue(queue, 1.0, {m.c}, {m.b}, 0.0, {m.c});
  BOOST_TEST(name(a.code()) == name(Code::invalid_argument));
  BOOST_TEST(has(a.message(), "C and A"));
  const Status b = gemm->enqueue(queue, 1.0, {m.a}, {m.c}, 0.0, {m.c});
  BOOST_TEST(has(b.message(), "C and B"));
  BOOST_TEST(gemm->enqueue(queue, 0.0, {m.c}, {m.c}, 1.0, {m.c}).ok());  // alpha = 0 reads neither
  const Status fine = gemm->enqueue(queue, 1.0, {m.a}, {m.b}, 0.0, {m.c});
  BOOST_TEST(fine.ok());
  BOOST_TEST(m.error() < kTolerance);
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

  Matrices first(problem);
  const Status served = run_once(library, problem, first);
  BOOST_REQUIRE_MESSAGE(served.ok(), served.message());
  BOOST_TEST(first.error() < kTolerance);
  BOOST_TEST(library.counters().fallback == 1U);
  BOOST_TEST(library.counters().misses[static_cast<std::size_t>(Code::no_entry)] == 1U);

  library.finish();
  Matrices second(problem);
  const Status status = run_once(library, problem, second);  // not from the plan of the fallback
  BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
  BOOST_TEST(second.error() < kTolerance);
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
  Matrices m(small_problem());
  const Status status = gemm->enqueue(here().session.queue(), 1.0, {m.a}, {m.b}, 0.0, {m.c});
  BOOST_TEST(status.ok());
  BOOST_TEST(m.error() < kTolerance);
}

BOOST_AUTO_TEST_CASE(AMovedFromLibraryStillWorks) {
  Library library = library_of(baked());
  const Library other = std::move(library);
  const Problem p = small_problem();
  Matrices matrices(p);
  BOOST_TEST(run_once(library, p, matrices).ok());  // NOLINT(bugprone-use-after-move): that is what is tested
  library = library_of(baked());
  BOOST_TEST(run_once(other, p, matrices).ok());
}

// A real driver passes the failure on along the chain of launches: PoCL 3.1 used to abort the process there.
BOOST_AUTO_TEST_CASE(AFailedEventBeforeAVariantOfSeveralKernelsFailsThatCallAlone) {
  kernels::Params params;
  params.family = kernels::Family::direct;
  params.split_k = 3;
  const builder::Job split = builder::make_job(here().device.target, kernels::generate(params), params);
  const cache::Bytes bytes = changed_bundle([&](cache::Contents& c) {
    c.sources.push_back(split.source);
    c.variants.push_back(split.variant);
    c.variants.back().source = static_cast<std::uint32_t>(c.sources.size() - 1);
  });
  const Result<Bundle> bundle = Bundle::from_memory({bytes.data(), bytes.size()});
  BOOST_REQUIRE_MESSAGE(bundle.ok(), bundle.status().message());
  const Library library = library_of(*bundle);
  const Problem problem = small_problem();
  Result<Gemm> gemm = library.prepare(problem, split.variant.name);
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  Matrices matrices(problem);
  cl_event gate = clCreateUserEvent(here().session.context(), nullptr);
  cl_event done = nullptr;
  // rusticl fails all commands after one that failed in the queue: so the call has a queue of its own.
  cl_command_queue queue = here().session.queue();
  cl_command_queue own = nullptr;
  if (here().device.target.platform_name == "rusticl") {
    own = clCreateCommandQueue(here().session.context(), here().device.id, 0, nullptr);
  }
  BOOST_TEST(gemm->enqueue(own ? own : queue, 1, {matrices.a}, {matrices.b}, 0, {matrices.c}, 1, &gate, &done).ok());
  BOOST_TEST(clSetUserEventStatus(gate, -1) == CL_SUCCESS);
  const cl_int waited = clWaitForEvents(1, &done);
  cl_int state = CL_COMPLETE;
  BOOST_TEST(clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr) == CL_SUCCESS);
  BOOST_TEST((waited != CL_SUCCESS || state < 0));  // Intel's CPU driver 2026.22 tells it by the first only
  BOOST_TEST(matrices.error() == HUGE_VAL);         // no kernel has written C
  clReleaseEvent(done);
  clReleaseEvent(gate);
  if (own) clReleaseCommandQueue(own);
  BOOST_TEST(gemm->enqueue(queue, 1, {matrices.a}, {matrices.b}, 0, {matrices.c}).ok());
  BOOST_TEST(matrices.error() < kTolerance);
}

// Rows 0 to kM of one buffer are C, the row behind it is the bias; D is C, or lies where it must not.
BOOST_AUTO_TEST_CASE(WhatAnEpilogueReadsIsChecked) {
  const Library library = library_of(baked());
  Problem problem = small_problem();
  problem.epilogue = {Bias::per_column, 0, Activation::relu, 0, 0, true, kN, 0};
  Matrices m(problem);
  cl_int error = CL_SUCCESS;
  const cl_mem larger =
      clCreateBuffer(here().session.context(), CL_MEM_READ_WRITE, (kM + 1) * kN * sizeof(float), nullptr, &error);
  BOOST_REQUIRE_EQUAL(error, CL_SUCCESS);
  const Matrix c{larger, 0};
  const Matrix bias{larger, kM * kN};
  const auto argument = [&](const EpilogueBuffers& more, double beta = 1) {
    return library.gemm(here().session.queue(), problem, 1, {m.a}, {m.b}, beta, c, more).argument();
  };
  BOOST_TEST((argument({bias, c}) == Argument::none));
  BOOST_TEST((argument({bias, {m.c}}) == Argument::none));
  BOOST_TEST((argument({bias, {}}, 0) == Argument::none));  // beta = 0: no D is read
  BOOST_TEST((argument({bias, {}}) == Argument::d));
  BOOST_TEST((argument({bias, {m.c, 1}}) == Argument::d_size));
  BOOST_TEST((argument({bias, {larger, 1}}) == Argument::d_alias));
  BOOST_TEST((argument({{}, c}) == Argument::bias_vector));
  BOOST_TEST((argument({{larger, kM * kN + 1}, c}) == Argument::bias_size));
  BOOST_TEST((argument({{larger, kM * kN - 1}, c}) == Argument::bias_alias));
  clFinish(here().session.queue());
  clReleaseMemObject(larger);
}
