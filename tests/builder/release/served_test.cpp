// The program that serves a problem, by the bytes of a bundle alone.
#include <clbake/builder/release/served.hpp>

#include "files.hpp"
#include "release/synthetic_bundle.hpp"

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

namespace clbake::builder::test {
namespace {

using namespace clbake::builder::release;
using namespace clbake::tests;

constexpr const char* kNvidia = "NVIDIA CUDA";

Target h200(const std::string& device, const std::string& driver) {
  return {kNvidia, "OpenCL 3.0 CUDA", "NVIDIA Corporation", device, "OpenCL 3.0 CUDA", driver, "sm_90", 64};
}

cache::Variant variant(const char* name) {
  cache::Variant v;
  v.name = name;
  v.contract = 4;
  v.launches.resize(1);
  return v;
}

cache::Entry entry(std::uint32_t target, std::uint32_t variant, cache::Form form) {
  cache::Entry e;
  e.target = target;
  e.variant = variant;
  e.form = form;
  e.proof.proven = true;
  e.proof.jit_free = form == cache::Form::native;
  e.newer_driver = form == cache::Form::native;
  e.program = cache::Bytes(40, static_cast<std::uint8_t>(10 * target + variant + 1));
  return e;
}

cache::CostModel model(std::uint32_t variant, float call_us, float wave_us) {
  cache::CostModel m;
  m.variant = variant;
  m.call_us = call_us;
  m.wave_us = wave_us;
  m.tile_m = m.tile_n = m.item_m = m.item_n = 16;
  return m;
}

cache::Rule rule(std::uint32_t variant, std::uint32_t m_min, std::uint32_t m_max) {
  cache::Rule r;
  r.variant = variant;
  r.m_min = m_min;
  r.m_max = m_max;
  return r;
}

// One device, and any other of its architecture. Variant 0 costs 10 us and 1 us for each group of 16 x 16, 1 costs 90,
// 2 is the exception for m = 7; 3 is a default without an entry.
cache::Contents two_targets() {
  cache::Contents contents;
  contents.targets = {h200("NVIDIA H200", "580.1"), h200("", "525.60")};
  contents.targets[1].platform_version = contents.targets[1].device_version = "";
  contents.sources = {{"a.cl", ""}};
  contents.variants = {variant("a"), variant("b"), variant("c"), variant("d")};
  cache::Profile profile;
  profile.units = 2;
  profile.exceptions = {rule(2, 7, 7)};
  profile.models = {model(0, 10, 1), model(1, 90, 0)};
  contents.profiles = {profile, profile};
  contents.profiles[1].target = 1;
  contents.profiles[1].exceptions.clear();
  contents.profiles[1].models.clear();
  contents.profiles[1].defaults = {rule(0, 0, 100), rule(3, 101, 200)};
  for (std::uint32_t v = 0; v < 3; ++v) contents.entries.push_back(entry(0, v, cache::Form::native));
  contents.entries.push_back(entry(1, 0, cache::Form::native));
  contents.entries.push_back(entry(1, 0, cache::Form::portable));
  return contents;
}

Bundle bundle_of(const cache::Contents& contents) {
  const cache::Bytes bytes = encoded(contents);
  return required(Bundle::copy_of({bytes.data(), bytes.size()}));
}

// "a native exception proven jit-free", or the failure's code.
std::string served(Serving& serving, std::size_t m) {
  const Served served = required(serving.find(make_problem({}, m, 16, 1)));
  if (!served.program) return std::string(name(served.failure.code()));
  const ServedProgram& program = *served.program;
  BOOST_TEST(program.entry.has_value() == (program.origin != Origin::source));
  return program.name + " " + name(program.origin) + " " + name(served.by) + (program.proven ? " proven" : "") +
         (program.jit_free ? " jit-free" : "") + (program.miss ? "" : ": " + std::string(name(program.miss.code())));
}

Serving serving_of(const Bundle& bundle, const Target& target, bool newer_driver = false) {
  return required(Serving::create({bundle}, served_device(target), newer_driver));
}

}  // namespace

BOOST_AUTO_TEST_CASE(ExceptionsModelsAndTheirExpectedTimes) {
  const Bundle bundle = bundle_of(two_targets());
  Serving serving = serving_of(bundle, h200("NVIDIA H200", "580.1"));
  BOOST_TEST(served(serving, 7) == "c native exception proven jit-free");
  BOOST_TEST(served(serving, 16) == "a native model proven jit-free");
  BOOST_TEST(served(serving, 16 * 400) == "b native model proven jit-free");
  const auto expected = [&](std::size_t m) { return required(serving.find(make_problem({}, m, 16, 1))).expected_us; };
  BOOST_TEST(expected(16).value() == 11);      // one group
  BOOST_TEST(expected(5 * 16).value() == 13);  // three waves of two groups
  BOOST_TEST(expected(16 * 400).value() == 90);
  BOOST_TEST(!expected(7).has_value());  // the exception's variant has no cost model
}

BOOST_AUTO_TEST_CASE(ATargetOfAnOfflineCompilerStandsForOtherDevices) {
  const Bundle bundle = bundle_of(two_targets());
  Target offline = two_targets().targets[1];
  BOOST_TEST(target_name(offline) == "nvidia:sm_90");
  Serving strict = serving_of(bundle, offline);
  BOOST_TEST(served(strict, 50) == "a portable default proven: no target");
  BOOST_TEST(served(strict, 150) == "d source default: no target");
  BOOST_TEST(served(strict, 250) == "no variant");
  Serving newer = serving_of(bundle, offline, true);
  BOOST_TEST(served(newer, 50) == "a native default proven jit-free: no target");
}

BOOST_AUTO_TEST_CASE(ADamagedProgramServesNothing) {
  cache::Bytes bytes = encoded(two_targets());
  const Bundle intact = bundle_of(two_targets());
  const std::uint32_t target = required(intact.find_target(h200("NVIDIA H200", "580.1")));
  bytes[required(intact.find_entry(target, 0)).program.offset] ^= 1;
  const Bundle damaged = required(Bundle::copy_of({bytes.data(), bytes.size()}));
  Serving serving = serving_of(damaged, h200("NVIDIA H200", "580.1"));
  BOOST_TEST(served(serving, 16) == "a portable model proven: checksum");  // of the other target
  BOOST_TEST(served(serving, 7) == "c native exception proven jit-free");
}

BOOST_AUTO_TEST_CASE(AVariantOfAnotherContractServesNothing) {
  cache::Contents contents = two_targets();
  contents.variants[0].contract = 3;
  const Bundle bundle = bundle_of(contents);
  Serving serving = serving_of(bundle, h200("NVIDIA H200", "580.1"));
  BOOST_TEST(served(serving, 16) == "unsupported version");
  BOOST_TEST(served(serving, 7) == "c native exception proven jit-free");
}

BOOST_AUTO_TEST_CASE(OtherDriversAndDevicesAreMisses) {
  const Bundle bundle = bundle_of(two_targets());
  Serving driver = serving_of(bundle, h200("NVIDIA H200", "580.2"));
  BOOST_TEST(served(driver, 16) == "a portable model proven: other driver");
  Serving newer = serving_of(bundle, h200("NVIDIA H200", "580.2"), true);
  BOOST_TEST(served(newer, 7) == "c native exception proven jit-free: other driver");
  Target stranger = h200("GeForce", "1.0");
  stranger.architecture = "sm_50";
  Serving other = serving_of(bundle, stranger);
  BOOST_TEST(contains(served(other, 16), "a source "), served(other, 16));
  BOOST_TEST(contains(served(other, 16), ": no target"), served(other, 16));
  const Served doubles = required(other.find(make_problem({Precision::double_precision}, 5, 5, 5)));
  BOOST_TEST((doubles.failure.code() == Code::no_variant));
  BOOST_TEST(!doubles.program);
  BOOST_TEST(contains(doubles.failure.message(), "no variant for double nn"), doubles.failure.message());
}

BOOST_AUTO_TEST_CASE(SyntheticBundlesHoldEveryCase) {
  tests::SyntheticSettings settings;
  settings.targets = 6;
  const cache::Contents contents = tests::synthetic_bundle(settings);
  const Bundle bundle = bundle_of(contents);
  BOOST_REQUIRE(bundle.verify().ok());
  std::set<std::string> seen;
  for (const Target& target : contents.targets) {
    for (const bool newer_driver : {false, true}) {
      Serving serving = serving_of(bundle, target, newer_driver);
      for (const Shape& shape : tests::synthetic_shapes(settings, 200)) {
        const Served served = required(serving.find(shape));
        if (served.program) seen.insert(name(served.program->origin));
        seen.insert(served.program ? name(served.by) : "nothing");
      }
    }
  }
  for (const char* kind : {"native", "portable", "source", "exception", "model", "default"}) {
    BOOST_TEST(seen.count(kind) == 1U, kind);
  }
}

}  // namespace clbake::builder::test
