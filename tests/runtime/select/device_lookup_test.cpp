// Programs that bundles would serve on a device that is not here.
#include <clbake/cache/writer.hpp>
#include <clbake/choice.hpp>
#include <clbake/device_lookup.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace clbake {
namespace {

Target gpu(const std::string& driver) {
  return {
      "NVIDIA CUDA", "OpenCL 3.0 CUDA", "NVIDIA Corporation", "NVIDIA H200", "OpenCL 3.0 CUDA", driver, "sm_90", 64};
}

cache::Variant variant(const char* name, Precision precision, bool trans_a = false) {
  cache::Variant v;
  v.name = name;
  v.precision = precision;
  v.trans_a = trans_a;
  v.launches.resize(1);
  return v;
}

cache::Rule rule(const cache::Contents& contents, std::uint32_t variant, std::uint32_t m_max = UINT32_MAX) {
  cache::Rule r;
  r.kind() = contents.variants[variant].kind();
  r.variant = variant;
  r.m_max = m_max;
  return r;
}

cache::Entry entry(std::uint32_t target, std::uint32_t variant, cache::Form form, bool newer_driver) {
  cache::Entry e;
  e.target = target;
  e.variant = variant;
  e.form = form;
  e.newer_driver = newer_driver;
  e.program = cache::Bytes(40, static_cast<std::uint8_t>('a' + variant));
  return e;
}

enum Name : std::uint32_t { modelled, measured, transposed, in_double };

// Tuned on a GPU with driver 2.0: the cost model of `modelled`, but `measured` for up to ten rows, and `transposed` by
// default. Double precision has a default for every GPU only. The programs: `modelled` for driver 2.0, `measured` for
// 1.0 and what is newer, `in_double` as PTX for 1.0.
cache::Contents contents() {
  cache::Contents all;
  all.targets = {cache::any_device(false), gpu("1.0"), gpu("2.0")};
  all.sources = {{"a.cl", ""}};
  all.variants = {variant("modelled", Precision::single_precision), variant("measured", Precision::single_precision),
                  variant("transposed", Precision::single_precision, true),
                  variant("in_double", Precision::double_precision)};
  cache::CostModel model;
  model.variant = modelled;
  model.tile_m = model.item_m = model.tile_n = model.item_n = 10;
  model.wave_us = 50;
  all.profiles = {{0, 1, {}, {}, {rule(all, in_double)}},
                  {2, 132, {rule(all, measured, 10)}, {model}, {rule(all, transposed)}}};
  all.entries = {entry(1, measured, cache::Form::native, true), entry(1, in_double, cache::Form::portable, false),
                 entry(2, modelled, cache::Form::native, false)};
  return all;
}

// The bundle's bytes and what was opened of them.
struct Opened {
  explicit Opened(const cache::Contents& all) : bytes(*cache::encode(all, cache::Packing::plain)) {}
  cache::Bytes bytes;
  Bundle bundle = *Bundle::from_memory({bytes.data(), bytes.size()});

  DeviceLookup on(const Target& device, bool is_cpu = false) const {
    const Result<DeviceLookup> lookup = DeviceLookup::create({bundle}, device, is_cpu);
    BOOST_REQUIRE_EQUAL(lookup.status().message(), "");
    return *lookup;
  }
  std::uint32_t index(const char* name) const {
    for (std::uint32_t i = 0; i < bundle.variant_count(); ++i)
      if (bundle.variant(i)->name == name) return i;
    return UINT32_MAX;
  }
};

Problem problem(std::size_t m, Precision precision = Precision::single_precision, bool trans_a = false) {
  return make_problem({precision, trans_a}, m, 10, 10);
}

// The variant's name and what decided, or the failure's code.
std::string chosen(const Opened& opened, const DeviceLookup& lookup, const Problem& p) {
  const Result<std::vector<Choice>> choices = lookup.choose(p);
  if (!choices) return std::string(name(choices.status().code()));
  BOOST_TEST(choices->size() == 1U);
  const Choice& choice = choices->front();
  const char* const by[] = {"measured", "model", "default", "type"};
  return opened.bundle.variant(choice.variant)->name + " by " + by[static_cast<int>(choice.by)];
}

// "DRIVER, MISS" of the program that serves the variant.
std::string program(const Opened& opened, const DeviceLookup& lookup, const char* variant, bool newer_driver = false) {
  const Result<BakedProgram> found = lookup.program({{0, opened.index(variant), ChosenBy::model, {}}}, newer_driver);
  if (!found) return std::string(name(found.status().code()));
  const std::string driver =
      found->entry ? opened.bundle.target(found->entry->target)->driver_version : std::string("none");
  return driver + ", " + std::string(name(found->miss.code()));
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheLookupSaysWhichVariantIsChosenAndByWhat) {
  const Opened opened(contents());
  const DeviceLookup tuned = opened.on(gpu("2.0"));
  BOOST_TEST(opened.bundle.target(*tuned.profile_target())->driver_version == "2.0");
  BOOST_TEST(chosen(opened, tuned, problem(10)) == "measured by measured");
  BOOST_TEST(chosen(opened, tuned, problem(11)) == "modelled by model");
  BOOST_TEST(chosen(opened, tuned, problem(11, Precision::single_precision, true)) == "transposed by default");
  BOOST_TEST(chosen(opened, tuned, problem(11, Precision::double_precision)) == "in_double by type");
  BOOST_TEST(*tuned.choose(problem(11))->front().expected_us >= 50.0);
  BOOST_TEST(!tuned.choose(problem(10))->front().expected_us.has_value());  // no cost model of it
  // The roles of m and n change places.
  const Problem columns = make_problem({}, 10, 11, 10, Layout::column_major);
  BOOST_TEST(chosen(opened, tuned, columns) == "modelled by model");
}

BOOST_AUTO_TEST_CASE(WhatNoVariantComputesIsAFailure) {
  const Opened opened(contents());
  const Result<std::vector<Choice>> half = opened.on(gpu("2.0")).choose(problem(10, Precision::half_precision));
  BOOST_TEST(name(half.status().code()) == "no variant");
  BOOST_TEST(half.status().message().find("half nn") != std::string::npos);

  cache::Contents none = contents();
  none.profiles.clear();
  const Opened without(none);
  const DeviceLookup lookup = without.on(gpu("2.0"));
  BOOST_TEST(!lookup.profile_target().has_value());
  BOOST_TEST(chosen(without, lookup, problem(10)) == "no variant");
}

// Nothing was tuned for anything like it: the default for devices of its type.
BOOST_AUTO_TEST_CASE(AnUnrelatedDeviceHasNoProfile) {
  const Opened opened(contents());
  Target other;
  other.platform_name = "Somebody's OpenCL";
  const DeviceLookup lookup = opened.on(other);
  BOOST_TEST(!lookup.profile_target().has_value());
  BOOST_TEST(chosen(opened, lookup, problem(10, Precision::double_precision)) == "in_double by type");
  BOOST_TEST(chosen(opened, lookup, problem(10)) == "no variant");
  BOOST_TEST(program(opened, lookup, "modelled", true) == "none, no target");
}

BOOST_AUTO_TEST_CASE(TheLookupSaysWhichProgramServes) {
  const Opened opened(contents());
  const DeviceLookup lookup = opened.on(gpu("2.0"));
  BOOST_TEST(program(opened, lookup, "modelled") == "2.0, ok");
  BOOST_TEST(program(opened, lookup, "measured") == "none, no entry");
  BOOST_TEST(program(opened, lookup, "measured", true) == "1.0, no entry");
  BOOST_TEST(program(opened, lookup, "in_double") == "1.0, no entry");
  BOOST_TEST(program(opened, lookup, "transposed", true) == "none, no entry");
}

BOOST_AUTO_TEST_CASE(ADamagedProgramDoesNotServe) {
  Opened opened(contents());
  const std::string wanted(40, 'a' + modelled);
  const auto at = std::search(opened.bytes.begin(), opened.bytes.end(), wanted.begin(), wanted.end());
  BOOST_REQUIRE((at != opened.bytes.end()));
  *at ^= 1U;
  const DeviceLookup lookup = opened.on(gpu("2.0"));
  BOOST_TEST(program(opened, lookup, "modelled") == "none, checksum");
  BOOST_TEST(program(opened, lookup, "in_double") == "1.0, no entry");
}

}  // namespace clbake
