// OnMiss::fallback after a driver update, on the driver in memory: what serves without a compiler, and for how long.
#include "faults/fake_scene.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

using namespace clbake;
using namespace clbake::test;

namespace {

constexpr const char* kNvidia = "NVIDIA CUDA";

// The driver under the name of a platform, a bundle made with another version of it, and what the library does.
struct Update {
  explicit Update(const char* platform = kNvidia, const char* driver = "0.9") : as(platform) {
    contents = bundle_contents();
    contents.targets[0].driver_version = driver;
    fake::forget_calls();
    fake::set_hook([this, caller = std::this_thread::get_id()](fake::Function function) {
      const bool compiles = function == fake::Function::clCreateProgramWithSource;
      if (compiles && std::this_thread::get_id() == caller) ++compiled_by_caller;
    });
  }
  ~Update() { fake::set_hook(nullptr); }
  Update(const Update&) = delete;
  Update& operator=(const Update&) = delete;

  cache::Entry& entry(Case which) {
    for (cache::Entry& entry : contents.entries) {
      if (entry.variant == variant(which)) return entry;
    }
    throw std::out_of_range("no such entry");
  }
  static std::uint32_t variant(Case which) { return static_cast<std::uint32_t>(which); }

  Library library() {
    Options options;
    options.on_miss = OnMiss::fallback;
    return library_of(scene, contents, log.in(options));
  }

  // Prepares, multiplies, and checks the product.
  Explanation serve(const Library& library, Case which) {
    const Problem problem = problem_of(which);
    const Operands operands(scene, problem);
    Result<Gemm> gemm = prepare(library, problem);
    BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
    BOOST_TEST(enqueue(*gemm, scene.queue, operands).ok());
    BOOST_TEST(operands.error(scene.queue) < kTolerance);
    return gemm->explanation();
  }

  const PlatformName as;
  const Scene scene;
  cache::Contents contents;
  std::atomic<int> compiled_by_caller{0};
  LogLines log;
};

// Nothing could stand in: the call compiled, and said before that it waits.
void check_waited(Update& update, const Explanation& e, const std::string& variant) {
  BOOST_TEST(name(e.origin) == "source");
  BOOST_TEST(name(e.miss) == "other driver");
  BOOST_TEST(e.waits_for == "");
  BOOST_TEST(update.compiled_by_caller == 1);
  BOOST_TEST(has(update.log.text(), "the call waits until " + variant + " is compiled, as nothing else can serve: "),
             update.log.text());
}

}  // namespace

BOOST_AUTO_TEST_CASE(MachineCodeForAnOlderDriverServesAndNothingIsCompiled) {
  Update update;
  {
    const Library library = update.library();
    for (const Case which : {Case::native, Case::launches}) {
      const std::string variant = update.contents.variants[update.variant(which)].name;
      const Explanation first = update.serve(library, which);
      BOOST_TEST(name(first.origin) == "native");
      BOOST_TEST(name(first.miss) == "other driver");
      BOOST_TEST(first.baked_for == "0.9");
      BOOST_TEST(first.waits_for == "");
      const std::string reason = "made for driver 0.9, and checked on this one";
      BOOST_TEST(first.reason == reason);
      BOOST_TEST(has(update.log.text(), variant + " is served from native: "), update.log.text());
      BOOST_TEST(has(update.log.text(), "(" + reason + ")"), update.log.text());
      library.finish();
      const Explanation later = update.serve(library, which);
      BOOST_TEST(name(later.origin) == "native");
      BOOST_TEST(later.loaded);
      BOOST_TEST(later.reason == reason);
      const Result<Explanation> told = library.explain(problem_of(which));
      BOOST_REQUIRE_EQUAL(told.status().message(), "");
      BOOST_TEST((told->origin == Origin::native && told->loaded && told->baked_for == "0.9"));
      BOOST_TEST(told->reason == reason);
    }
    BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithSource) == 0U);
    BOOST_TEST(library.counters().native == 2U);
    BOOST_TEST(library.counters().loaded == 2U);
    BOOST_TEST(library.counters().failed == 0U);
  }
  BOOST_TEST(fake::complaints().empty());
}

BOOST_AUTO_TEST_CASE(ThePortableFormIsNotCompiledEither) {
  Update update;
  cache::Entry portable = update.entry(Case::native);
  portable.form = cache::Form::portable;
  update.contents.entries.push_back(portable);
  const Library library = update.library();
  BOOST_TEST(name(update.serve(library, Case::native).origin) == "native");
  library.finish();
  BOOST_TEST(name(update.serve(library, Case::native).origin) == "native");
  BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 1U);
}

// The check writes and reads small whole numbers in each precision.
BOOST_AUTO_TEST_CASE(MachineCodeForAnOlderDriverIsCheckedInEveryPrecision) {
  const std::pair<Precision, const char*> all[] = {{Precision::half_precision, "PRECISION=16"},
                                                   {Precision::bfloat16, "PRECISION=16 -D BFLOAT16=1"},
                                                   {Precision::double_precision, "PRECISION=64"}};
  for (const auto& [precision, macros] : all) {
    for (const bool right : {true, false}) {
      Update update;
      const std::uint32_t index = update.variant(Case::native);
      cache::Variant& variant = update.contents.variants[index];
      variant.precision = precision;
      std::string& options = variant.build_options;
      options.replace(options.find("PRECISION=32"), 12, macros);
      std::string made = options;
      if (!right) made.replace(made.find("TRANS_B=0"), 9, "TRANS_B=1");
      update.entry(Case::native).program = fake::binary_for(0, made);
      for (cache::Rule& rule : update.contents.profiles[0].defaults) {
        if (rule.variant == index) rule.precision = precision;
      }
      auto& defaults = update.contents.profiles[0].defaults;  // in double precision not the other one
      defaults.erase(std::remove_if(defaults.begin(), defaults.end(),
                                    [&, precision = precision](const cache::Rule& rule) {
                                      return rule.precision == precision && rule.variant != index;
                                    }),
                     defaults.end());
      const Library library = update.library();
      Problem problem = problem_of(Case::native);
      problem.precision = precision;
      const Result<Gemm> gemm = prepare(library, problem);
      BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
      BOOST_TEST(gemm->explanation().variant == "native");
      BOOST_TEST(name(gemm->explanation().origin) == (right ? "native" : "source"));
      BOOST_TEST(gemm->explanation().baked_for == (right ? "0.9" : ""));
    }
  }
}

// The driver takes it, and it computes something else: here a product of another transpose.
BOOST_AUTO_TEST_CASE(MachineCodeThatComputesSomethingElseNeverServes) {
  Update update;
  std::string options = update.contents.variants[update.variant(Case::native)].build_options;
  options.replace(options.find("TRANS_A=0"), 9, "TRANS_A=1");
  update.entry(Case::native).program = fake::binary_for(0, options);
  const Library library = update.library();
  check_waited(update, update.serve(library, Case::native), "native");
  BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 1U);
  BOOST_TEST(update.serve(library, Case::native).loaded);  // it is not tried again
  BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 1U);
}

BOOST_AUTO_TEST_CASE(MachineCodeThatTheDriverRefusesIsFollowedByTheNextWay) {
  Update update;
  const Library library = update.library();
  check_waited(update, update.serve(library, Case::rejected), "rejected");
}

// The older driver's machine code is of another variant of the same kind.
void serve_by_another(Update& update) {
  cache::Variant other = update.contents.variants[update.variant(Case::native)];
  other.name = "another";
  update.contents.variants.push_back(other);
  update.entry(Case::native).variant = static_cast<std::uint32_t>(update.contents.variants.size() - 1);
}

// With a loaded or baked variant of the same kind, that one serves.
BOOST_AUTO_TEST_CASE(AnotherVariantForTheOlderDriverServesWhereTheWantedOneHasNone) {
  Update update;
  serve_by_another(update);
  const Library library = update.library();
  const Explanation e = update.serve(library, Case::native);
  BOOST_TEST(e.variant == "another");
  BOOST_TEST(e.baked_for == "0.9");
  BOOST_TEST(e.waits_for == "native");
  BOOST_TEST(e.reason == "made for driver 0.9; until native is compiled for this one");
  library.finish();
  const Explanation later = update.serve(library, Case::native);
  BOOST_TEST(later.variant == "native");
  BOOST_TEST(name(later.origin) == "source");
  BOOST_TEST(later.waits_for == "");
  BOOST_TEST(update.compiled_by_caller == 0);  // that was the library's thread
  BOOST_TEST(library.counters().fallback == 1U);
}

// A lack of memory says nothing about the source: the next call has it compiled again.
BOOST_AUTO_TEST_CASE(ACompilationInTheBackgroundThatLacksMemoryIsTriedAgain) {
  Update update;
  serve_by_another(update);
  const Library library = update.library();
  fake::fail(fake::Function::clCreateProgramWithSource, 0, CL_OUT_OF_HOST_MEMORY);
  BOOST_TEST(update.serve(library, Case::native).waits_for == "native");
  library.finish();
  BOOST_TEST((fake::failed() == fake::Function::clCreateProgramWithSource));
  fake::fail_nothing();
  BOOST_TEST(has(update.log.text(), "compiling in the background failed: "), update.log.text());
  BOOST_TEST(has(update.log.text(), "CL_OUT_OF_HOST_MEMORY"), update.log.text());
  BOOST_TEST(update.serve(library, Case::native).variant == "another");
  library.finish();
  BOOST_TEST(update.serve(library, Case::native).variant == "native");
  BOOST_TEST(update.compiled_by_caller == 0);
}

BOOST_AUTO_TEST_CASE(MachineCodeForANewerDriverIsNotOffered) {
  Update update(kNvidia, "1.1");
  const Library library = update.library();
  check_waited(update, update.serve(library, Case::native), "native");
  BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 0U);
}

BOOST_AUTO_TEST_CASE(OnOtherPlatformsMachineCodeOfAnotherVersionIsNotOffered) {
  for (const char* platform : {"Fake Platform", "Portable Computing Language", "NVIDIA CUDA emulation"}) {
    Update update(platform);
    const Library library = update.library();
    check_waited(update, update.serve(library, Case::native), "native");
    BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 0U);
  }
}

// Whatever fails, the product is right or the call fails.
BOOST_AUTO_TEST_CASE(EveryCallToTheDriverMayFail) {
  std::size_t stood_in = 0;
  for (std::size_t at = 0;; ++at) {
    Update update;
    const Problem problem = problem_of(Case::native);
    const Operands operands(update.scene, problem);
    Library library = update.library();
    fake::fail(fake::Function::count, at, CL_OUT_OF_RESOURCES);
    Result<Gemm> gemm = prepare(library, problem);
    library.finish();  // before the faults end: its thread calls the driver, too
    const bool failed = fake::failed() != fake::Function::count;
    fake::fail_nothing();
    if (gemm) {
      stood_in += gemm->explanation().baked_for.empty() ? 0 : 1;
      BOOST_TEST(enqueue(*gemm, update.scene.queue, operands).ok());
      BOOST_TEST(operands.error(update.scene.queue) < kTolerance);
    }
    if (!failed) break;
  }
  BOOST_TEST(stood_in > 0U);
}
