// Kinds of problems that a tuning hardly reached are served by the cost models of another kind.
#include "profile/sibling_models.hpp"

#include "profile/imagined_gpu.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder::test {
namespace {

const GemmKind kNt = {Precision::single_precision, false, true};

std::vector<Shape> of_kind(std::vector<Shape> shapes, const GemmKind& kind) {
  for (Shape& shape : shapes) shape.kind() = kind;
  return shapes;
}

kernels::DeviceLimits limits() {
  kernels::DeviceLimits limits;
  limits.fp64 = true;
  limits.max_work_group_size = 1024;
  for (std::uint64_t& size : limits.max_work_item_sizes) size = 1024;
  limits.local_memory_bytes = 228 * 1024;
  return limits;
}

Device slower(Device device, float factor) {
  for (auto& [name, model] : device) {
    for (std::size_t i = 0; i < 7; ++i) model.*cache::kCostModelNumbers[i].value *= factor;
  }
  return device;
}

// `count` shapes of the table, evenly spread.
std::vector<Shape> some(std::size_t count, const GemmKind& kind) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < count; ++i) shapes.push_back(table()[i * table().size() / count]);
  return of_kind(shapes, kind);
}

// Adds what was measured on other shapes with other variants; both may be nothing.
Tuning joined(Tuning tuning, const Tuning& other) {
  const auto variants = static_cast<std::uint32_t>(tuning.variants.size());
  const auto shapes = static_cast<std::uint32_t>(tuning.shapes.size());
  for (Measurement m : other.measurements) {
    m.variant += variants;
    m.shape += shapes;
    tuning.measurements.push_back(m);
  }
  tuning.variants.insert(tuning.variants.end(), other.variants.begin(), other.variants.end());
  tuning.shapes.insert(tuning.shapes.end(), other.shapes.begin(), other.shapes.end());
  return tuning;
}

// A tuning of nn on the whole table and of nt on `count` shapes of it; with 0 nt was asked for, and not reached.
Tuning hardly_reached(const Device& nt, std::size_t count, double noise = 0.01) {
  const Tuning nn = measured(imagined_gpu(), table(), noise);
  if (count == 0) return joined(nn, measured({}, some(5, kNt), 0));
  return joined(nn, measured(nt, some(count, kNt), noise, 2));
}

Tuning fitted_with_limits(Tuning tuning) {
  const kernels::DeviceLimits of_device = limits();
  fit(tuning, &of_device);
  return tuning;
}

// Names of the variants of a kind that have models.
std::set<std::string> modelled(const Tuning& tuning, const GemmKind& kind) {
  std::set<std::string> names;
  for (const cache::CostModel& model : tuning.models) {
    if (model.kind() != kind) continue;
    names.insert(tuning.variants.at(model.variant));
    BOOST_TEST((params_of(tuning.variants[model.variant]).kind() == kind));
  }
  return names;
}

// The variants of nn that have models, as those of another kind.
std::set<std::string> of_sibling(const Tuning& tuning, const GemmKind& kind) {
  std::set<std::string> names;
  for (const std::string& name : modelled(tuning, GemmKind{})) {
    kernels::Params p = params_of(name);
    p.kind() = kind;
    names.insert(kernels::name(p));
  }
  return names;
}

// One that is no default variant.
std::string large_tile(const GemmKind& kind) {
  const Device defaults = default_variants_only(kind);
  const Device all = imagined_gpu(kind);
  return std::find_if(all.begin(), all.end(),
                      [&](const auto& entry) { return defaults.count(entry.first) == 0 && entry.second.tile_m == 128; })
      ->first;
}

}  // namespace

BOOST_AUTO_TEST_CASE(AKindThatWasNotReachedIsServedByAnotherOne) {
  const Device nt = slower(imagined_gpu(kNt), 1.3F);
  const std::vector<Shape> shapes = of_kind(shapes_never_timed(), kNt);
  const Chooser untuned(measured(default_variants_only(kNt), {}, 0));
  BOOST_TEST(against_best(nt, untuned, shapes).mean > 1.1);  // there is something to gain
  for (const std::size_t count : {0U, 5U}) {
    const Tuning tuning = fitted_with_limits(hardly_reached(nt, count));
    BOOST_TEST((modelled(tuning, kNt) == of_sibling(tuning, kNt)), count);
    const Ratio ratio = against_best(nt, Chooser(tuning), shapes);
    BOOST_TEST(ratio.mean <= 1.02, count << " shapes: " << ratio.mean);
    BOOST_TEST(ratio.worst <= 1.2, count << " shapes: " << ratio.worst);
  }
}

// With these transposes one variant is slower than the other kind says.
BOOST_AUTO_TEST_CASE(FewShapesCorrectTheModelsOfAnotherKind) {
  Device nt = imagined_gpu(kNt);
  const std::string slow = large_tile(kNt);
  nt[slow] = slower({{slow, nt[slow]}}, 2)[slow];
  const std::vector<Shape> shapes = of_kind(shapes_never_timed(), kNt);
  const double uncorrected = against_best(nt, Chooser(fitted_with_limits(hardly_reached(nt, 0))), shapes).mean;
  const double corrected = against_best(nt, Chooser(fitted_with_limits(hardly_reached(nt, 10))), shapes).mean;
  BOOST_TEST(uncorrected > 1.1);
  BOOST_TEST(corrected - 1 < (uncorrected - 1) / 2);
}

// Two shapes say too little about the scale of the models, but enough to refuse them.
BOOST_AUTO_TEST_CASE(NoModelsWhereTheMeasurementsSpeakForTheDefaultVariants) {
  const Device defaults = default_variants_only(kNt);
  Device nt = imagined_gpu(kNt);
  for (auto& [name, model] : nt) {
    if (defaults.count(name) == 0) model = slower({{name, model}}, 2)[name];
  }
  const std::vector<Shape> large = {*parse_shape("single nt 2048x2048x2048"), *parse_shape("single nt 2048x2048x512")};
  const Tuning tuning = fitted_with_limits(joined(measured(imagined_gpu(), table(), 0), measured(nt, large, 0)));
  BOOST_TEST(modelled(tuning, kNt).empty());
  BOOST_TEST(against_untuned(nt, Chooser(tuning), of_kind(shapes_never_timed(), kNt)).mean <= 1.0);
}

// ---- What may be added ----

BOOST_AUTO_TEST_CASE(OfAnUnknownDeviceNoVariantIsAdded) {
  const Tuning before = hardly_reached(imagined_gpu(kNt), 0);
  const Tuning tuning = fitted(before);
  BOOST_TEST((tuning.variants == before.variants));
  BOOST_TEST(modelled(tuning, kNt).empty());
  BOOST_TEST(!modelled(tuning, GemmKind{}).empty());
  const Tuning timed = fitted(hardly_reached(imagined_gpu(kNt), 5));  // its variants are known
  BOOST_TEST((modelled(timed, kNt) == of_sibling(timed, kNt)));
}

BOOST_AUTO_TEST_CASE(OnlyWhatTheDeviceAdmitsIsAdded) {
  const std::string large = large_tile(kNt);
  kernels::DeviceLimits of_device = limits();
  of_device.local_memory_bytes = kernels::local_memory_bytes(params_of(large)) - 1;
  const Tuning before = hardly_reached({}, 0);
  std::set<std::string> wanted = modelled(fitted_with_limits(before), kNt);
  BOOST_TEST(wanted.erase(large) == 1U);
  Tuning tuning = before;
  fit(tuning, &of_device);
  BOOST_TEST((modelled(tuning, kNt) == wanted));
  of_device.max_work_group_size = 1;
  tuning = before;
  fit(tuning, &of_device);
  BOOST_TEST(modelled(tuning, kNt).empty());
  BOOST_TEST((tuning.variants == before.variants));
}

BOOST_AUTO_TEST_CASE(WhatFailedIsNotAdded) {
  Tuning before = hardly_reached(imagined_gpu(kNt), 0);
  const std::set<std::string> all = modelled(fitted_with_limits(before), kNt);
  const std::string failed = large_tile(kNt);
  BOOST_REQUIRE_EQUAL(all.count(failed), 1U);
  before.failures = {{failed, "wrong result"}};
  const Tuning tuning = fitted_with_limits(before);
  BOOST_TEST(modelled(tuning, kNt).size() == all.size() - 1);
  BOOST_TEST(modelled(tuning, kNt).count(failed) == 0U);
  BOOST_TEST(std::count(tuning.variants.begin(), tuning.variants.end(), failed) == 0);
}

// Nothing would say where it is faster than the others.
BOOST_AUTO_TEST_CASE(WithoutADefaultVariantNothingIsAdded) {
  Tuning before = hardly_reached(imagined_gpu(kNt), 0);
  before.failures = {{default_variants_only(kNt).begin()->first, "wrong result"}};
  const Tuning tuning = fitted_with_limits(before);
  BOOST_TEST(modelled(tuning, kNt).empty());
  BOOST_TEST((tuning.variants == before.variants));
}

// ---- Who helps whom ----

BOOST_AUTO_TEST_CASE(AKindWithEnoughShapesNeedsNoHelp) {
  const Device nt = slower(imagined_gpu(kNt), 1.3F);
  const Tuning alone = fitted(measured(nt, some(60, kNt), 0.01, 2));
  const Tuning tuning = fitted_with_limits(hardly_reached(nt, 60));
  const auto call_us = [](const Tuning& t) {
    std::map<std::string, float> of_variants;
    for (const cache::CostModel& model : t.models) {
      if (model.kind() == kNt) of_variants[t.variants[model.variant]] = model.call_us;
    }
    return of_variants;
  };
  BOOST_TEST(!call_us(alone).empty());
  BOOST_TEST((call_us(tuning) == call_us(alone)));
}

BOOST_AUTO_TEST_CASE(AnotherPrecisionIsNoHelp) {
  const GemmKind other = {Precision::double_precision, false, false};
  const Tuning tuning =
      fitted_with_limits(joined(measured(imagined_gpu(), table(), 0.01), measured({}, some(5, other), 0)));
  BOOST_TEST(modelled(tuning, other).empty());
}

BOOST_AUTO_TEST_CASE(AKindWithAPriorKeepsIt) {
  Tuning before = hardly_reached(imagined_gpu(kNt), 5);
  cache::CostModel prior = imagined_gpu(kNt).at(large_tile(kNt));
  prior.variant = static_cast<std::uint32_t>(
      std::find(before.variants.begin(), before.variants.end(), large_tile(kNt)) - before.variants.begin());
  before.prior = {prior};
  BOOST_TEST((modelled(fitted_with_limits(before), kNt) == std::set<std::string>{large_tile(kNt)}));
}

BOOST_AUTO_TEST_CASE(TheKindWithMostShapesHelps) {
  const GemmKind tn = {Precision::single_precision, true, false};
  const Device slow = slower(imagined_gpu(tn), 3);
  const Tuning few = measured(slow, some(40, tn), 0, 3);
  const auto call_us = [](const Tuning& t) {
    for (const cache::CostModel& model : t.models) {
      if (model.kind() == kNt) return model.call_us;
    }
    return 0.0F;
  };
  const float of_nn = call_us(fitted_with_limits(hardly_reached({}, 0)));
  BOOST_TEST(of_nn > 0);
  BOOST_TEST(call_us(fitted_with_limits(joined(hardly_reached({}, 0), few))) == of_nn);
  const Tuning nn = measured(imagined_gpu(), some(30, GemmKind{}), 0);
  const Tuning unreached = measured({}, some(5, kNt), 0);
  BOOST_TEST(call_us(fitted_with_limits(joined(joined(nn, few), unreached))) > 2 * of_nn);
}

BOOST_AUTO_TEST_CASE(FittingAgainGivesTheSame) {
  const Tuning once = fitted_with_limits(hardly_reached(imagined_gpu(kNt), 5));
  const Tuning twice = fitted(once);  // now the variants are known
  BOOST_TEST((modelled(twice, kNt) == modelled(once, kNt)));
  BOOST_TEST((twice.variants == once.variants));
}

}  // namespace clbake::builder::test
