// Searches for things that are in the bundle, and for things that are not.
#include "samples.hpp"

#include <clbake/cache/writer.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <set>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;

BOOST_AUTO_TEST_CASE(TargetIsFoundOnlyIfEveryFieldIsEqual) {
  const Bundle bundle = open_bytes(small_bundle()).value();
  const Target known = small_contents().targets[1];
  BOOST_REQUIRE(bundle.find_target(known).ok());
  BOOST_TEST((bundle.target(*bundle.find_target(known)).value() == known));
  for (std::string Target::*const field :
       {&Target::platform_version, &Target::device_version, &Target::driver_version}) {
    Target other = known;
    other.*field += " newer";
    BOOST_TEST(outcome(bundle.find_target(other)) == "other driver");
  }
  for (std::string Target::*const field :
       {&Target::platform_name, &Target::vendor, &Target::device_name, &Target::architecture}) {
    Target other = known;
    other.*field += " other";
    BOOST_TEST(outcome(bundle.find_target(other)) == "no target");
  }
  Target narrow = known;
  narrow.address_bits = 32;
  BOOST_TEST(outcome(bundle.find_target(narrow)) == "no target");
}

BOOST_AUTO_TEST_CASE(ATargetServesACpuThatHasMoreFeatures) {
  Contents contents = small_contents();
  contents.targets[0].cpu_features = "sse3 avx";
  contents.targets[1] = contents.targets[0];
  contents.targets[1].cpu_features = "sse3 avx avx2";
  const Bytes bytes = encoded(contents);
  const Bundle bundle = open_bytes(bytes).value();
  Target here = contents.targets[0];
  const auto features_found = [&](const std::string& features) -> std::string {
    here.cpu_features = features;
    const Result<std::uint32_t> found = bundle.find_target(here);
    return found ? bundle.target(*found)->cpu_features : outcome(found) + " " + found.status().message();
  };
  BOOST_TEST(features_found("sse3 avx") == "sse3 avx");
  BOOST_TEST(features_found("sse3 avx f16c") == "sse3 avx");
  BOOST_TEST(features_found("sse3 avx avx2") == "sse3 avx avx2");
  BOOST_TEST(features_found("sse3 avx avx2 bmi") == "sse3 avx avx2");
  // avx2 and xavx are not avx.
  for (const char* features : {"sse3 avx2 xavx", "sse3", ""}) {
    const std::string said = features_found(features);
    BOOST_TEST(said.find("missing feature Device A: what was baked needs ") == 0, said);
    BOOST_TEST(said.find(", which this CPU does not have") != std::string::npos, said);
  }
  BOOST_TEST(features_found("sse3").find("needs avx,") != std::string::npos);
  here.driver_version = "600.1";
  BOOST_TEST(features_found("sse3 avx").find("other driver") == 0U);
}

BOOST_AUTO_TEST_CASE(MissingFeatureComparesWholeNames) {
  const auto missing = [](const std::string& made_for, const std::string& device) {
    Target a, b;
    a.cpu_features = made_for;
    b.cpu_features = device;
    return std::string(missing_feature(a, b));
  };
  BOOST_TEST(missing("", "") == "");
  BOOST_TEST(missing("", "avx") == "");
  BOOST_TEST(missing("avx  fma ", "fma avx") == "");
  BOOST_TEST(missing(" avx  fma", "avx") == "fma");
  BOOST_TEST(missing("bmi", "bmi2") == "bmi");
  BOOST_TEST(missing("a b", "a b c") == "");
}

BOOST_AUTO_TEST_CASE(NativeEntryIsPreferredToThePortableOne) {
  const Bundle bundle = open_bytes(small_bundle()).value();
  const std::uint32_t target = *bundle.find_target(small_contents().targets[0]);
  BOOST_TEST((bundle.find_entry(target, 0)->form == Form::native));
  BOOST_TEST((bundle.find_entry(target, 2)->form == Form::portable));
  BOOST_TEST((bundle.find_entry(target, 0, Form::native)->form == Form::native));
  BOOST_TEST((bundle.find_entry(target, 0, Form::portable)->form == Form::portable));
  BOOST_TEST((bundle.find_entry(target, 2, Form::portable)->form == Form::portable));
  BOOST_TEST(outcome(bundle.find_entry(target, 2, Form::native)) == "no entry");
}

BOOST_AUTO_TEST_CASE(VariantThatWasNotBakedIsNoEntry) {
  const Bundle bundle = open_bytes(small_bundle()).value();
  const std::uint32_t target = *bundle.find_target(small_contents().targets[0]);
  BOOST_TEST(outcome(bundle.find_entry(target, 1)) == "no entry");
  BOOST_TEST(outcome(bundle.find_entry(target, 3)) == "no entry");
  BOOST_TEST(outcome(bundle.find_entry(3, 0)) == "no entry");
  BOOST_TEST(outcome(bundle.find_entry(UINT32_MAX, UINT32_MAX)) == "no entry");
}

BOOST_AUTO_TEST_CASE(TargetWithoutProfileIsNoVariant) {
  const Bundle bundle = open_bytes(small_bundle()).value();
  const Contents contents = small_contents();
  BOOST_TEST(bundle.find_profile(*bundle.find_target(contents.targets[0]))->exceptions[0].k_max == 128U);
  BOOST_TEST(outcome(bundle.find_profile(*bundle.find_target(contents.targets[1]))) == "no variant");
  BOOST_TEST(outcome(bundle.find_profile(99)) == "no variant");
}

BOOST_AUTO_TEST_CASE(IndexPastTheEndIsAnInvalidArgument) {
  const Bundle bundle = open_bytes(small_bundle()).value();
  BOOST_TEST(outcome(bundle.target(bundle.target_count())) == "invalid argument");
  BOOST_TEST(outcome(bundle.source(bundle.source_count())) == "invalid argument");
  BOOST_TEST(outcome(bundle.variant(bundle.variant_count())) == "invalid argument");
  BOOST_TEST(outcome(bundle.profile(bundle.profile_count())) == "invalid argument");
  BOOST_TEST(outcome(bundle.entry(bundle.entry_count())) == "invalid argument");
  BOOST_TEST(outcome(bundle.entry(UINT32_MAX)) == "invalid argument");
}

BOOST_AUTO_TEST_CASE(UnevenBundleAnswersLikeASet) {
  // Targets with few, clustered and no variants mislead a search that expects evenly spread keys.
  constexpr std::uint32_t kVariants = 400;
  Contents c;
  const auto targets = static_cast<std::uint32_t>(small_contents().targets.size());
  c.targets = small_contents().targets;
  c.sources = small_contents().sources;
  std::mt19937 random(3);
  std::set<std::pair<std::uint32_t, std::string>> baked;
  std::set<std::pair<std::uint32_t, std::string>> portable;
  for (std::uint32_t v = 0; v < kVariants; ++v) {
    c.variants.push_back(small_contents().variants[0]);
    c.variants.back().name = "variant-" + std::to_string(v);
    for (std::uint32_t t = 0; t < targets; ++t) {
      const bool wanted = t == 0 ? random() % 20 == 0 : t == 1 ? v % 400 < 37 : false;
      if (!wanted) continue;
      baked.emplace(t, c.variants.back().name);
      if (random() % 2 == 0) {
        c.entries.push_back({t, v, Form::portable, Proof(), Bytes(3, 1)});
        portable.emplace(t, c.variants.back().name);
      }
      if (random() % 2 == 0 || c.entries.empty() || c.entries.back().variant != v || c.entries.back().target != t) {
        c.entries.push_back({t, v, Form::native, Proof(), Bytes(3, 2)});
      }
    }
  }
  const Bytes bytes = encoded(c);
  const Bundle bundle = open_bytes(bytes).value();
  BOOST_TEST(bundle.verify().message() == "");
  std::size_t wrong = 0;
  for (std::uint32_t t = 0; t < targets; ++t) {
    const std::uint32_t found = *bundle.find_target(c.targets[t]);
    for (std::uint32_t v = 0; v < kVariants; ++v) {
      const bool expected = baked.count({t, bundle.variant(v)->name}) > 0;
      wrong += outcome(bundle.find_entry(found, v)) != (expected ? "ok" : "no entry");
      const bool second = portable.count({t, bundle.variant(v)->name}) > 0;
      wrong += outcome(bundle.find_entry(found, v, Form::portable)) != (second ? "ok" : "no entry");
    }
  }
  BOOST_TEST(wrong == 0U);
}

BOOST_AUTO_TEST_CASE(DamageOfANativeEntryHidesNoPortableOne) {
  Contents contents = small_contents();
  contents.entries.resize(1);
  contents.entries[0].form = Form::native;
  contents.entries[0].proof.note = "a note of machine code";
  contents.entries.push_back(contents.entries[0]);
  contents.entries[1].form = Form::portable;
  contents.entries[1].proof.note = "another note";
  Bytes bytes = encode(contents).value();
  const EntryInfo sound = open_bytes(bytes).value().entry(1).value();
  const std::string note = contents.entries[0].proof.note;
  const auto at = std::search(bytes.begin(), bytes.end(), note.begin(), note.end());
  BOOST_REQUIRE((at != bytes.end()));
  *at = static_cast<std::uint8_t>(*at ^ 1);
  const Bundle bundle = open_bytes(bytes).value();
  const Result<EntryInfo> native = bundle.find_entry(sound.target, sound.variant, Form::native);
  BOOST_TEST((native.status().code() == Code::checksum));
  const Result<EntryInfo> found = bundle.find_entry(sound.target, sound.variant, Form::portable);
  BOOST_REQUIRE(found.ok());
  BOOST_TEST((found->form == Form::portable));
}
