// What the library offers beside prepare and enqueue, on this machine's first device.
#include "../driver_main.hpp"
#include "baked_bundle.hpp"

#include <clbake/builder/scratch.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <thread>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;

namespace {

constexpr std::size_t kM = 37, kN = 41, kK = 43;
Problem small_problem() { return tight_problem(Precision::single_precision, kM, kN, kK); }

Library library_of(const Bundle& bundle, const Options& options = {}) {
  Result<Library> library = Library::create(here().session.context(), here().device.id, {bundle}, options);
  BOOST_REQUIRE_MESSAGE(library.ok(), library.status().message());
  return std::move(*library);
}

Bundle baked() {
  Result<Bundle> bundle = Bundle::open(std::getenv("CLBAKE_TEST_BUNDLE"));
  BOOST_REQUIRE_MESSAGE(bundle.ok(), bundle.status().message());
  return std::move(*bundle);
}

// The three matrices of a packed problem in single precision; C is NaN until it is written.
class Matrices {
 public:
  explicit Matrices(const Problem& p) : p_(p), a_(values(p.m * p.k, 3)), b_(values(p.k * p.n, 7)) {
    a = buffer(a_);
    b = buffer(b_);
    std::vector<float> nothing(p.m * p.n, NAN);
    c = buffer(nothing);
  }
  Matrices(const Matrices&) = delete;
  Matrices& operator=(const Matrices&) = delete;
  ~Matrices() {
    for (const cl_mem memory : {a, b, c}) clReleaseMemObject(memory);
  }

  // Largest difference from the product in double precision, which is infinite where C is not written.
  double error() {
    std::vector<float> result(p_.m * p_.n);
    clEnqueueReadBuffer(here().session.queue(), c, CL_TRUE, 0, result.size() * sizeof(float), result.data(), 0, nullptr,
                        nullptr);
    double worst = 0;
    for (std::size_t i = 0; i < p_.m; ++i) {
      for (std::size_t j = 0; j < p_.n; ++j) {
        double sum = 0;
        for (std::size_t l = 0; l < p_.k; ++l) sum += double{a_[i * p_.k + l]} * double{b_[l * p_.n + j]};
        const double difference = std::fabs(sum - double{result[i * p_.n + j]});
        worst = std::isnan(difference) ? HUGE_VAL : std::max(worst, difference);
      }
    }
    return worst;
  }

  cl_mem a = nullptr, b = nullptr, c = nullptr;

 private:
  static std::vector<float> values(std::size_t count, unsigned factor) {
    std::vector<float> v(count);
    for (std::size_t i = 0; i < count; ++i) v[i] = static_cast<float>((i * factor * 7919 + 13) % 2001) / 1000.0F - 1.0F;
    return v;
  }
  static cl_mem buffer(std::vector<float>& v) {
    return clCreateBuffer(here().session.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, v.size() * sizeof(float),
                          v.data(), nullptr);
  }

  Problem p_;
  std::vector<float> a_, b_;
};

// Sums of at most 64 products of numbers up to 1, in single precision: 64 * 64 * 2^-24.
constexpr double kTolerance = 2.5e-4;

Status run_once(const Library& library, const Problem& problem, Matrices& m) {
  return library.gemm(here().session.queue(), problem, 1.0, {m.a}, {m.b}, 0.0, {m.c});
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

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

BOOST_AUTO_TEST_CASE(OneCallIsRightAndPreparesOnce) {
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
BOOST_AUTO_TEST_CASE(OneCallFromManyThreads) {
  const Library library = library_of(baked());
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (std::size_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      const Library mine = library;  // NOLINT(performance-unnecessary-copy-initialization): copies are tested, too
      for (std::size_t i = 0; i < 2 * Library::kPlans; ++i) {
        const Problem p = tight_problem(Precision::single_precision, 1 + (i * 7 + t) % (Library::kPlans + 9), 5, 6);
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
  BOOST_TEST(has(before->reason, "rule "));
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
  Result<Gemm> gemm = library.prepare(problem, Wish{variant, true});
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
  const Problem problem = tight_problem(Precision::single_precision, 16, 16, 16);
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

namespace {

struct Lines {
  std::mutex mutex;
  std::vector<std::string> all;
};

void keep_line(LogLevel /*level*/, const char* message, void* data) {
  auto& lines = *static_cast<Lines*>(data);
  const std::lock_guard<std::mutex> lock(lines.mutex);
  lines.all.emplace_back(message);
}

// The rules choose variants that were not baked; the direct ones are baked.
cache::Bytes bundle_with_a_miss(std::string& wanted) {
  return changed_bundle([&](cache::Contents& c) {
    cache::Rule single;
    const std::uint32_t direct = direct_variant(c, single);
    cache::Variant copy = c.variants.at(direct);
    copy.name = wanted = copy.name + "-not-baked";
    c.variants.push_back(copy);
    for (cache::Profile& profile : c.profiles) {
      for (cache::Rule& rule : profile.rules) {
        if (rule.variant == direct) rule.variant = static_cast<std::uint32_t>(c.variants.size() - 1);
      }
    }
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(AFallbackServesUntilTheWantedVariantIsCompiled) {
  std::string wanted;
  const cache::Bytes bytes = bundle_with_a_miss(wanted);
  const Result<Bundle> bundle = Bundle::from_memory({bytes.data(), bytes.size()});
  BOOST_REQUIRE_MESSAGE(bundle.ok(), bundle.status().message());
  Lines lines;
  Options options;
  options.on_miss = OnMiss::fallback;
  options.log = keep_line;
  options.log_data = &lines;
  const Library library = library_of(*bundle, options);
  const Problem problem = small_problem();

  Matrices first(problem);
  const Status served = run_once(library, problem, first);
  BOOST_REQUIRE_MESSAGE(served.ok(), served.message());
  BOOST_TEST(first.error() < kTolerance);
  BOOST_TEST(library.counters().fallback == 1U);
  BOOST_TEST(library.counters().misses[static_cast<std::size_t>(Code::no_entry)] == 1U);

  library.finish();
  Matrices second(problem);
  const Status status = run_once(library, problem, second);  // not from the plan of the stand-in
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

// The last copy of a library goes while its thread compiles.
BOOST_AUTO_TEST_CASE(ALibraryMayGoWhileItCompiles) {
  std::string wanted;
  const cache::Bytes bytes = bundle_with_a_miss(wanted);
  const Result<Bundle> bundle = Bundle::from_memory({bytes.data(), bytes.size()});
  BOOST_REQUIRE(bundle.ok());
  Options options;
  options.on_miss = OnMiss::fallback;
  Result<Gemm> gemm = library_of(*bundle, options).prepare(small_problem());
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  BOOST_TEST(gemm->explanation().waits_for == wanted);
  Matrices m(small_problem());
  const Status status = gemm->enqueue(here().session.queue(), 1.0, {m.a}, {m.b}, 0.0, {m.c});
  BOOST_TEST(status.ok());
  BOOST_TEST(m.error() < kTolerance);
}

namespace {

ScratchDirectory scratch() {
  Result<ScratchDirectory> directory = ScratchDirectory::create();
  BOOST_REQUIRE_MESSAGE(directory.ok(), directory.status().message());
  return std::move(*directory);
}

struct Run {
  Explanation expected;  // before anything was loaded
  Explanation explanation;
  Counters counters;
};

// A library of its own, as in another process: one product, right.
Run run_with(const Bundle& bundle, const OverlayOptions& overlay, Lines& lines) {
  Options options;
  const Result<std::shared_ptr<OverlayStore>> opened = open_overlay(overlay);
  if (opened) options.overlay = *opened;
  if (!opened) lines.all.push_back(opened.status().message());
  options.log = keep_line;
  options.log_data = &lines;
  const Library library = library_of(bundle, options);
  const Problem problem = small_problem();
  Matrices m(problem);
  const Result<Explanation> expected = library.explain(problem);
  BOOST_REQUIRE_MESSAGE(expected.ok(), expected.status().message());
  const Status status = run_once(library, problem, m);
  BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
  BOOST_TEST(m.error() < kTolerance);
  const Result<Gemm> gemm = library.prepare(problem);
  BOOST_REQUIRE(gemm.ok());
  return {*expected, gemm->explanation(), library.counters()};
}

bool any_line_has(const Lines& lines, const std::string& part) {
  return std::any_of(lines.all.begin(), lines.all.end(), [&](const std::string& line) { return has(line, part); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(WhatAMissCompiledServesTheNextProcess) {
  std::string wanted;
  const cache::Bytes bytes = bundle_with_a_miss(wanted);
  const Result<Bundle> bundle = Bundle::from_memory({bytes.data(), bytes.size()});
  BOOST_REQUIRE(bundle.ok());
  const ScratchDirectory directory = scratch();
  OverlayOptions overlay;
  overlay.directory = directory.path();
  Lines lines;

  overlay.mode = OverlayMode::read_only;
  BOOST_TEST((run_with(*bundle, overlay, lines).explanation.origin == Origin::source));
  BOOST_TEST(std::filesystem::is_empty(directory.path()));
  overlay.mode = OverlayMode::read_write;
  BOOST_TEST((run_with(*bundle, overlay, lines).explanation.origin == Origin::source));

  const Run second = run_with(*bundle, overlay, lines);
  BOOST_TEST((second.explanation.origin == Origin::overlay));
  BOOST_TEST((second.expected.origin == Origin::overlay));
  BOOST_TEST(!second.expected.loaded);
  BOOST_TEST(second.explanation.variant == wanted);
  BOOST_TEST(name(second.explanation.miss) == name(Code::no_entry));
  BOOST_TEST(second.counters.overlay == 1U);
  BOOST_TEST(second.counters.source == 0U);
  overlay.mode = OverlayMode::read_only;
  BOOST_TEST((run_with(*bundle, overlay, lines).explanation.origin == Origin::overlay));
  BOOST_TEST(!any_line_has(lines, "keeps nothing"));
}

BOOST_AUTO_TEST_CASE(ALibraryThatWasMovedIsOneStill) {
  Library library = library_of(baked());
  const Library other = std::move(library);
  const Problem p = small_problem();
  Matrices matrices(p);
  BOOST_TEST(run_once(library, p, matrices).ok());  // NOLINT(bugprone-use-after-move): that is what is tested
  library = library_of(baked());
  BOOST_TEST(run_once(other, p, matrices).ok());
}

// PoCL 3.1 aborts when a binary is asked for beside a launch; here products run until everything is kept. Failed in
// most runs while the overlay finalized the program that the application was using.
BOOST_AUTO_TEST_CASE(ProductsGoOnWhileTheOverlayKeepsTheirProgram) {
  std::string wanted;
  const cache::Bytes bytes = bundle_with_a_miss(wanted);
  const Result<Bundle> bundle = Bundle::from_memory({bytes.data(), bytes.size()});
  BOOST_REQUIRE(bundle.ok());
  const ScratchDirectory directory = scratch();
  for (const char* round : {"a", "b", "c", "d"}) {
    OverlayOptions overlay;
    overlay.directory = directory.path() + "/" + round;
    overlay.mode = OverlayMode::read_write;
    const Result<std::shared_ptr<OverlayStore>> opened = open_overlay(overlay);
    BOOST_REQUIRE_MESSAGE(opened.ok(), opened.status().message());
    Options options;
    options.overlay = *opened;
    const Library library = library_of(*bundle, options);
    const Problem p = small_problem();
    Matrices matrices(p);
    BOOST_REQUIRE(run_once(library, p, matrices).ok());
    std::atomic<bool> kept{false};
    std::thread waits([&] {
      library.finish();
      kept = true;
    });
    std::size_t failed = 0;
    while (!kept) failed += run_once(library, p, matrices).ok() ? 0 : 1;
    waits.join();
    BOOST_TEST(failed == 0U);
    BOOST_TEST(library.counters().source == 1U);
    BOOST_TEST(!std::filesystem::is_empty(overlay.directory));
  }
}

BOOST_AUTO_TEST_CASE(WhatADriverRefusesIsShownToItOnceAndHealed) {
  const cache::Bytes bytes = changed_bundle([](cache::Contents& c) {
    for (cache::Entry& e : c.entries) e.program.assign(64, 'x');
  });
  const Result<Bundle> bundle = Bundle::from_memory({bytes.data(), bytes.size()});
  BOOST_REQUIRE(bundle.ok());
  const ScratchDirectory directory = scratch();
  OverlayOptions overlay;
  overlay.directory = directory.path();
  overlay.mode = OverlayMode::read_write;
  Lines lines;
  const Run first = run_with(*bundle, overlay, lines);
  BOOST_TEST((first.explanation.origin == Origin::source));
  BOOST_TEST(first.counters.misses[static_cast<std::size_t>(Code::driver_rejected)] == 1U);
  BOOST_TEST(!any_line_has(lines, "refused it before"));

  const Run second = run_with(*bundle, overlay, lines);
  BOOST_TEST((second.explanation.origin == Origin::overlay));
  BOOST_TEST(has(second.explanation.miss_message, "refused it before"));
}

// Root may write anywhere: what nobody can use is a file in the directory's place, or a directory for all.
BOOST_AUTO_TEST_CASE(AnOverlayThatCannotBeUsedFailsNoProduct) {
  std::string wanted;
  const cache::Bytes bytes = bundle_with_a_miss(wanted);
  const Result<Bundle> bundle = Bundle::from_memory({bytes.data(), bytes.size()});
  BOOST_REQUIRE(bundle.ok());
  const ScratchDirectory directory = scratch();
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  for (const std::string& path : {directory.path(), std::string("/dev/null/nothing"), std::string()}) {
    OverlayOptions overlay;
    overlay.directory = path;
    overlay.mode = OverlayMode::read_write;
    Lines lines;
    BOOST_TEST((run_with(*bundle, overlay, lines).explanation.origin == Origin::source));
    BOOST_TEST(!lines.all.empty());
    BOOST_TEST(has(lines.all.front(), path.empty() ? "directory" : path), lines.all.front());
  }
  BOOST_TEST(std::filesystem::is_empty(directory.path()));
}
