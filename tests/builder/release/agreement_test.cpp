// The answers from a bundle's bytes alone are those of a library on this machine's first device.
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/programs.hpp>
#include <clbake/builder/release/served.hpp>

#include "driver_main.hpp"
#include "files.hpp"
#include "release/synthetic_bundle.hpp"
#include "runtime/api/library_scene.hpp"

#include <algorithm>
#include <map>
#include <random>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::builder::release;
using namespace clbake::tests;

namespace {

Bundle bundle_of(const cache::Bytes& bytes) { return required(Bundle::copy_of({bytes.data(), bytes.size()})); }

Library library_for(const Bundle& bundle, bool newer_driver = false) {
  Options options;
  options.newer_driver = newer_driver;
  return required(Library::create(here().session.context(), here().device.id, {bundle}, options));
}

void check_equal(const Served& served, const Result<Explanation>& explanation) {
  BOOST_REQUIRE(explanation.ok() == (served.program != nullptr));
  if (!served.program) {
    BOOST_TEST(name(served.failure.code()) == name(explanation.status().code()));
    return;
  }
  BOOST_TEST(served.program->name == explanation->variant);
  BOOST_TEST(name(served.program->origin) == name(explanation->origin));
  BOOST_TEST(name(served.program->miss.code()) == name(explanation->miss));
  BOOST_TEST(served.program->miss.message() == explanation->miss_message);
  BOOST_TEST((served.by == ChosenBy::model) == contains(explanation->reason, "the cost model of"));
  BOOST_TEST((served.by == ChosenBy::exception) == contains(explanation->reason, "measured on"));
  BOOST_TEST((served.by == ChosenBy::device_type) == contains(explanation->reason, "for this type of device"));
}

// Problems of all kinds, also of those that the bundle was not baked for.
std::vector<Problem> problems() {
  tests::SyntheticSettings settings;
  settings.kinds = 12;
  std::vector<Problem> all;
  for (const Shape& shape : tests::synthetic_shapes(settings, 120)) all.push_back(problem_of(shape));
  for (const std::size_t m : {1U, 100U, 3000U}) {
    all.push_back(make_problem({Precision::single_precision, false, true}, m, 200, 30, Layout::column_major));
  }
  return all;
}

void check_agreement(const Bundle& bundle, bool newer_driver = false) {
  const Library library = library_for(bundle, newer_driver);
  Serving serving = required(Serving::create({bundle}, served_device(here().device), newer_driver));
  for (const Problem& problem : problems()) check_equal(required(serving.find(problem)), library.explain(problem));
}

cache::Bytes changed(const std::function<void(cache::Contents&)>& change) {
  cache::Contents contents = contents_of(std::getenv("CLBAKE_TEST_BUNDLE"));
  change(contents);
  return encoded(contents);
}

}  // namespace

BOOST_AUTO_TEST_CASE(ABundleOfThisDevice) {
  check_agreement(bundle_of(changed([](cache::Contents&) {})));
}

BOOST_AUTO_TEST_CASE(ABundleOfAnotherDriver) {
  for (const bool newer_driver : {false, true}) {
    check_agreement(bundle_of(changed([](cache::Contents& contents) {
                      for (Target& target : contents.targets) target.driver_version += ".0";
                      for (cache::Entry& entry : contents.entries) entry.newer_driver = true;
                    })),
                    newer_driver);
  }
}

BOOST_AUTO_TEST_CASE(ABundleThatLacksEntriesProfilesAndDefaults) {
  check_agreement(bundle_of(changed([](cache::Contents& contents) {
    for (std::size_t i = 0; i < contents.entries.size(); i += 2) {
      contents.entries.erase(contents.entries.begin() + static_cast<std::ptrdiff_t>(i));
    }
  })));
  check_agreement(bundle_of(changed([](cache::Contents& contents) { contents.profiles.clear(); })));
  check_agreement(bundle_of(changed([](cache::Contents& contents) {
    for (cache::Profile& profile : contents.profiles) {
      profile.exceptions.clear();
      profile.models.clear();
      if (profile.defaults.size() > 1) profile.defaults.resize(1);
      profile.defaults.front().m_max = 100;
    }
  })));
}

BOOST_AUTO_TEST_CASE(ABundleOfOtherDevicesOnly) {
  tests::SyntheticSettings settings;
  settings.kinds = 8;
  check_agreement(bundle_of(encoded(tests::synthetic_bundle(settings))));
}

namespace {

constexpr Precision kDrawn[] = {Precision::single_precision, Precision::double_precision, Precision::half_precision,
                                Precision::complex_single, Precision::complex_double};

// A problem that a caller could state: of any kind and layout, with gaps between rows, batches and epilogues.
class Draw {
 public:
  Problem problem() {
    const GemmKind kind{kDrawn[below(std::size(kDrawn))], coin(), coin()};
    const Layout layout = coin() ? Layout::row_major : Layout::column_major;
    Problem p = make_problem(kind, 1 + below(300), 1 + below(300), 1 + below(300), layout);
    if (is_complex(kind.precision)) p.conj_a = coin(), p.conj_b = coin();
    for (std::size_t* ld : {&p.lda, &p.ldb, &p.ldc}) *ld += coin() ? below(70) : 0;
    if (coin()) draw_batch(p);
    if (!is_complex(kind.precision)) draw_epilogue(p);
    return p;
  }

 private:
  std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(engine_); }
  bool coin() { return below(2) == 0; }

  void draw_batch(Problem& p) {
    p.batch = 1 + below(3);
    p.a_stride = p.b_stride = p.c_stride = 400 * 400;
    if (coin()) return;
    for (std::size_t i = 0; i < p.batch; ++i) p.offsets.push_back({below(9), below(9), i * 400 * 400});
  }

  void draw_epilogue(Problem& p) {
    p.epilogue.bias = static_cast<Bias>(below(3));
    p.epilogue.activation = coin() ? Activation::none : Activation::relu;
    p.epilogue.has_d = coin();
    if (p.epilogue.has_d) p.epilogue.ldd = p.ldc + below(5), p.epilogue.d_stride = p.c_stride;
  }

  std::mt19937 engine_{1};
};

// In which two variants of each kind take turns: the first is faster where rows of A and B are aligned. Of the programs
// every third is missing.
cache::Contents alternating(bool with_complex) {
  cache::Contents contents = contents_of(std::getenv("CLBAKE_TEST_BUNDLE"));
  const Target& target = here().device.target;
  std::map<GemmKind, std::vector<cache::CostModel>> models;
  for (const cache::Entry& entry : contents.entries) {
    const cache::Variant& variant = contents.variants[entry.variant];
    if (variant.is_program() || contents.targets[entry.target] != target) continue;
    std::vector<cache::CostModel>& of_kind = models[variant.kind()];
    if (of_kind.size() == 2) continue;
    cache::CostModel model;
    model.kind() = variant.kind();
    model.variant = entry.variant;
    model.tile_m = model.tile_n = model.item_m = model.item_n = 32;
    model.step_k = 8;
    model.step_us = of_kind.empty() ? 10 : 11;
    model.unaligned_us = of_kind.empty() ? 2 : 0;
    of_kind.push_back(model);
  }
  for (cache::Profile& profile : contents.profiles) {
    if (contents.targets[profile.target] != target) continue;
    profile.exceptions.clear();
    profile.models.clear();
    for (const auto& [kind, of_kind] : models) {
      profile.models.insert(profile.models.end(), of_kind.begin(), of_kind.end());
    }
  }
  std::size_t number = 0;
  const auto third = [&](const cache::Entry&) { return ++number % 3 == 0; };
  contents.entries.erase(std::remove_if(contents.entries.begin(), contents.entries.end(), third),
                         contents.entries.end());
  if (!with_complex) return contents;
  for (const program::Program& program : program::complex_programs(here().device.type, {Precision::complex_single})) {
    add_job(contents, make_job(target, program));
  }
  return contents;
}

}  // namespace

// `check` says beforehand what `prepare` says afterwards, also of the problem that a shapes file would hold.
BOOST_AUTO_TEST_CASE(WhatACheckSaysIsWhatPrepareServes) {
  const Bundle first = bundle_of(encoded(alternating(true)));
  const Bundle second = bundle_of(changed([](cache::Contents&) {}));
  std::map<std::string, std::size_t> seen;
  Draw draw;
  for (const std::vector<Bundle>& bundles : {std::vector<Bundle>{first}, {first, second}}) {
    const Library library = required(Library::create(here().session.context(), here().device.id, bundles));
    Serving serving = required(Serving::create(bundles, served_device(here().device)));
    for (int i = 0; i < 300; ++i) {
      const Problem problem = draw.problem();
      const Result<Gemm> gemm = library.prepare(problem);
      const Served served = required(serving.find(problem));
      check_equal(served, gemm ? Result<Explanation>(gemm->explanation()) : gemm.status());
      if (served.program && gemm) BOOST_TEST(served.program->bundle == gemm->explanation().bundle);
      ++seen[served.program ? name(served.program->origin) : "nothing"];
      const Result<Explanation> explained = library.explain(problem);
      BOOST_TEST((explained ? explained->variant : "") == (gemm ? gemm->explanation().variant : ""));
      // Rows of an A that is conjugated but not transposed are copied, which a shape does not say.
      if (problem.layout != Layout::row_major || (problem.conj_a && !problem.trans_a)) continue;
      const Shape shape = required(parse_shape(name(shape_of(problem))));
      BOOST_TEST(required(serving.find(shape)).program == served.program, name(shape));
    }
  }
  for (const char* origin : {"native", "source", "nothing"}) BOOST_TEST(seen[origin] > 10U, origin);
}

// The program of one problem is damaged: `prepare` finds that out, and compiles.
BOOST_AUTO_TEST_CASE(ADamagedProgram) {
  cache::Bytes bytes = changed_bundle([](cache::Contents&) {});  // chooses what compiles fastest
  const Problem problem = make_problem({}, 37, 41, 43);
  {
    const Bundle intact = bundle_of(bytes);
    Serving serving = required(Serving::create({intact}, served_device(here().device)));
    const Served served = required(serving.find(problem));
    BOOST_REQUIRE(served.program);
    check_equal(served, required(library_for(intact).prepare(problem)).explanation());
    bytes[served.program->entry->program.offset + 20] ^= 1;
  }
  const Bundle damaged = bundle_of(bytes);
  Serving serving = required(Serving::create({damaged}, served_device(here().device)));
  const Served served = required(serving.find(problem));
  BOOST_REQUIRE(served.program);
  BOOST_TEST(name(served.program->origin) == "source");
  BOOST_TEST(name(served.program->miss.code()) == name(Code::checksum));
  check_equal(served, required(library_for(damaged).prepare(problem)).explanation());
}
