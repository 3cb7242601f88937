// An imagined GPU whose variants follow cost models, what a tuning measures there, and how good a choice is.
#pragma once

#include "build_fixture.hpp"

#include <clbake/choice.hpp>
#include <clbake/kernels/defaults.hpp>

#include "profile/cost_fit.hpp"
#include "profile/untuned_profile.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace clbake::builder::test {

constexpr std::uint32_t kUnits = 20;
constexpr std::uint32_t kRuns = 9;

inline kernels::Params params_of(const std::string& name) { return std::get<kernels::Params>(kernels::parse(name)); }

// The true times of a variant on an imagined GPU of kUnits compute units: `efficiency` is the part of its speed that it
// reaches within a wave.
inline cache::CostModel truth(const kernels::Params& params, double efficiency) {
  cache::CostModel model = profile::geometry_of(params);
  const double operations_of_step = 2.0 * model.tile_m * model.tile_n * model.step_k;
  model.resident = 2;
  model.call_us = 5;
  model.wave_us = 1;
  model.latency_us = 0.05F;
  model.step_us = static_cast<float>(operations_of_step / (250e3 * efficiency));
  model.a_us = model.b_us = 0.5F;
  model.c_us = 1;
  return model;
}

// A work-group's tile of another size.
inline kernels::Params tile(kernels::Params params, std::uint32_t rows, std::uint32_t columns,
                            std::uint32_t slices = 1) {
  params.ml = rows;
  params.nl = columns;
  params.split_k = slices;
  return params;
}

// Variants of one kind by name, and what they take: the three default ones, and some that are better on some shapes.
using Device = std::map<std::string, cache::CostModel>;

inline Device default_variants_only(const GemmKind& kind = {}) {
  Device device;
  const double efficiency[] = {0.1, 1, 0.5};  // direct, large tiles, small tiles
  std::size_t i = 0;
  for (const kernels::Params& p : kernels::default_variants(kernels::DeviceType::gpu, kind.precision)) {
    if (p.kind() == kind) device[kernels::name(p)] = truth(p, efficiency[i++]);
  }
  BOOST_REQUIRE_EQUAL(device.size(), 3U);
  return device;
}

inline Device imagined_gpu(const GemmKind& kind = {}) {
  Device device = default_variants_only(kind);
  const kernels::Params large = params_of(std::max_element(device.begin(), device.end(), [](auto& a, auto& b) {
                                            return a.second.tile_n < b.second.tile_n;
                                          })->first);
  const auto add = [&](const kernels::Params& p, double efficiency) {
    device[kernels::name(p)] = truth(p, efficiency);
  };
  add(tile(large, 128, 128), 1.2);
  add(tile(large, 64, 64), 0.85);
  add(tile(large, 64, 128, 8), 1);
  return device;
}

inline std::vector<Shape> grid(const std::vector<std::size_t>& sizes) {
  std::vector<Shape> shapes;
  for (const std::size_t m : sizes) {
    for (const std::size_t n : sizes) {
      for (const std::size_t k : sizes) {
        Shape shape;
        shape.m = m, shape.n = n, shape.k = k;
        shapes.push_back(shape);
      }
    }
  }
  return shapes;
}

inline const std::vector<Shape>& table() {
  static const std::vector<Shape> shapes = grid({16, 64, 200, 512, 1024, 2048});
  return shapes;
}

// `noise`: standard deviation of the logarithm of a median; the spread of the calls is what gives such medians.
inline profile::Tuning measured(const Device& device, const std::vector<Shape>& shapes, double noise,
                                unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  profile::Tuning t;
  t.compute_units = kUnits;
  t.shapes = shapes;
  for (const auto& [variant, model] : device) {
    for (std::uint32_t s = 0; s < shapes.size(); ++s) {
      const double us = expected_us(model, problem_of(shapes[s]), kUnits) * std::exp(noise * normal(random));
      const double spread = noise * std::sqrt(kRuns) / 0.93;
      t.measurements.push_back({static_cast<std::uint32_t>(t.variants.size()), s, us, spread, kRuns, true});
    }
    t.variants.push_back(variant);
  }
  return t;
}

inline profile::Tuning fitted(profile::Tuning tuning) {
  profile::fit(tuning);
  return tuning;
}

// The runtime's choice by a profile on a device of `units` compute units; 0: as many as the profile's.
class Chooser {
 public:
  explicit Chooser(const profile::Tuning& tuning, std::uint32_t units = 0) {
    cache::Contents contents;
    contents.targets = {made_up_device().target};
    contents.sources = {{"kernel.cl", ""}};
    std::map<std::uint32_t, kernels::Params> defaults;
    for (const std::string& name : tuning.variants) {
      const kernels::Params p = params_of(name);
      if (default_variants_only(p.kind()).count(name) > 0) {
        defaults.emplace(static_cast<std::uint32_t>(contents.variants.size()), p);
      }
      cache::Variant variant;
      variant.kind() = p.kind();
      variant.name = name;
      variant.family = kernels::name(p.family);
      variant.launches = {{cache::Role::gemm, "gemm", {1, 1, 1}, p.ml, p.nl}};
      contents.variants.push_back(variant);
    }
    contents.profiles = {{0, tuning.compute_units, tuning.exceptions, tuning.models,
                          profile::untuned_rules(defaults, kernels::DeviceType::gpu)}};
    bytes_ = encoded(contents);
    bundle_.emplace(required(Bundle::from_memory({bytes_.data(), bytes_.size()})));
    choices_.emplace(required(bundle_->profile(0)), units);
  }

  std::string of(const Shape& shape) const {
    return required(bundle_->variant(*choices_->find(problem_of(shape)).variant)).name;
  }

 private:
  cache::Bytes bytes_;
  std::optional<Bundle> bundle_;
  std::optional<Choices> choices_;
};

// True times of the choices on shapes, over those of another choice on them: geometric mean and the worst.
struct Ratio {
  double mean = 0;
  double worst = 0;
};

template <typename Other>
inline Ratio compare(const Device& device, const Chooser& chooser, const std::vector<Shape>& shapes,
                     const Other& other_us, std::uint32_t units = kUnits) {
  Ratio ratio;
  for (const Shape& shape : shapes) {
    const double us = expected_us(device.at(chooser.of(shape)), problem_of(shape), units);
    const double logarithm = std::log(us / other_us(shape));
    ratio.mean += logarithm / static_cast<double>(shapes.size());
    ratio.worst = std::max(ratio.worst, std::exp(logarithm));
  }
  ratio.mean = std::exp(ratio.mean);
  return ratio;
}

inline Ratio against_best(const Device& device, const Chooser& chooser, const std::vector<Shape>& shapes,
                          std::uint32_t units = kUnits) {
  const auto best_us = [&](const Shape& shape) {
    double best = INFINITY;
    for (const auto& [name, model] : device) best = std::min(best, expected_us(model, problem_of(shape), units));
    return best;
  };
  return compare(device, chooser, shapes, best_us, units);
}

inline Ratio against_untuned(const Device& device, const Chooser& chooser, const std::vector<Shape>& shapes) {
  const Chooser untuned(measured(default_variants_only(params_of(device.begin()->first).kind()), {}, 0));
  return compare(device, chooser, shapes, [&](const Shape& shape) {
    return expected_us(device.at(untuned.of(shape)), problem_of(shape), kUnits);
  });
}

// Sizes from 16 to 4096, none of them of the table, some in batches.
inline std::vector<Shape> shapes_never_timed() {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> bits(4, 12);
  const auto size = [&] { return static_cast<std::size_t>(std::exp2(bits(random))); };
  std::vector<Shape> shapes;
  while (shapes.size() < 300) {
    Shape shape;
    shape.m = size(), shape.n = size(), shape.k = size();
    shape.batch = shapes.size() % 10 == 0 ? 1 + size() / 64 : 1;
    if (std::find(table().begin(), table().end(), shape) == table().end()) shapes.push_back(shape);
  }
  return shapes;
}

// A tuning of some shapes that starts from the models of a fit on all of them.
inline profile::Tuning with_prior(const Device& device, const Device& known, std::size_t shapes, double noise) {
  const std::vector<Shape>& all = table();
  std::vector<Shape> some;
  for (std::size_t i = 0; i < shapes; ++i) some.push_back(all[i * all.size() / shapes]);
  profile::Tuning tuning = measured(device, some, noise);
  tuning.prior = fitted(measured(known, all, 0)).models;
  return tuning;
}

}  // namespace clbake::builder::test
