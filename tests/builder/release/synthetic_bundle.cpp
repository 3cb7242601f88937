#include "release/synthetic_bundle.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <string>

namespace clbake::tests {
namespace {

// std::mt19937 is the same everywhere, the distributions of the library are not.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t below(std::size_t end) { return static_cast<std::uint32_t>(engine_() % end); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  float between(float least, float most) {
    return least + (most - least) * static_cast<float>(below(10000)) / 10000.0F;
  }
  std::size_t size() { return std::size_t{1} + below(std::size_t{16} << below(9)); }  // mostly small ones

 private:
  std::mt19937 engine_;
};

GemmKind kind_of(std::size_t index) {
  return {all_precisions[(index / 4 + 2) % std::size(all_precisions)], (index & 2U) != 0, (index & 1U) != 0};
}

cache::Target target_of(std::size_t index) {
  const std::string number = std::to_string(index / 3);
  switch (index % 3) {
    case 0:
      return {"Portable Computing Language",
              "OpenCL 2.0 pocl",
              "GenuineIntel",
              "pthread-cpu" + number,
              "OpenCL 1.2 pocl",
              "3.1",
              "cpu" + number,
              64};
    case 1:
      return {"NVIDIA CUDA",
              "OpenCL 3.0 CUDA",
              "NVIDIA Corporation",
              "NVIDIA GPU " + number,
              "OpenCL 3.0 CUDA",
              "580." + number,
              "sm_90",
              64};
    default:
      return {"NVIDIA CUDA",
              "",
              "NVIDIA Corporation",
              "",
              "",
              "525." + number,
              "sm_" + std::to_string(50 + index % 40),
              64};
  }
}

cache::Variant variant_of(const GemmKind& kind, std::size_t number) {
  cache::Variant variant;
  variant.kind() = kind;
  variant.name = "tile-" + builder::kind_name(kind) + "-" + std::to_string(number);
  std::replace(variant.name.begin(), variant.name.end(), ' ', '-');
  variant.family = "register_tile";
  variant.contract = 4;
  variant.launches.resize(1);
  variant.launches[0].kernel_name = "gemm";
  return variant;
}

cache::Rule rule_of(const GemmKind& kind, std::uint32_t variant, Random& random) {
  cache::Rule rule;
  rule.kind() = kind;
  rule.variant = variant;
  rule.m_max = random.one_in(3) ? UINT32_MAX : static_cast<std::uint32_t>(random.size());
  rule.n_max = random.one_in(3) ? UINT32_MAX : static_cast<std::uint32_t>(random.size());
  return rule;
}

cache::CostModel model_of(const GemmKind& kind, std::uint32_t variant, Random& random) {
  cache::CostModel model;
  model.kind() = kind;
  model.variant = variant;
  model.tile_m = model.item_m = 8U << random.below(5);
  model.tile_n = model.item_n = 8U << random.below(5);
  model.step_k = 1U << random.below(4);
  model.resident = 1 + random.below(4);
  model.call_us = random.between(1, 20);
  model.wave_us = random.between(0, 4);
  // Large tiles compute an element in less time.
  model.step_us = 0.001F * static_cast<float>(model.tile_m + model.tile_n) * random.between(0.5F, 1.5F);
  model.margin = random.between(0, 0.2F);
  return model;
}

// `first`: the kind's first variant of `count`.
void add_choice(cache::Profile& profile, const GemmKind& kind, std::uint32_t first, std::size_t count, Random& random) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (random.one_in(2)) continue;
    cache::Rule exception = rule_of(kind, first + random.below(count), random);
    exception.m_min = exception.m_max = static_cast<std::uint32_t>(random.size());
    profile.exceptions.push_back(exception);
  }
  const bool has_models = !random.one_in(5);
  for (std::uint32_t v = first; has_models && v < first + count; ++v) {
    if (!random.one_in(6)) profile.models.push_back(model_of(kind, v, random));
  }
  profile.defaults.push_back(rule_of(kind, first + random.below(count), random));
  cache::Rule any_size;
  any_size.kind() = kind;
  any_size.variant = first + random.below(count);
  if (has_models || !random.one_in(4)) profile.defaults.push_back(any_size);
}

cache::Entry entry_of(std::uint32_t target, std::uint32_t variant, cache::Form form, std::size_t bytes,
                      Random& random) {
  cache::Entry entry;
  entry.target = target;
  entry.variant = variant;
  entry.form = form;
  entry.newer_driver = form == cache::Form::native && target % 3 != 0;
  entry.proof.proven = target % 3 != 2 && !random.one_in(10);
  entry.proof.jit_free = entry.proof.proven && form == cache::Form::native && !random.one_in(10);
  // Half of it compresses, about as much as that of machine code.
  for (std::size_t i = 0; i < bytes; ++i) {
    entry.program.push_back(static_cast<std::uint8_t>(i % 2 == 0 ? i / 64 : random.below(256)));
  }
  return entry;
}

}  // namespace

cache::Contents synthetic_bundle(const SyntheticSettings& settings) {
  Random random(settings.seed);
  cache::Contents contents;
  contents.sources = {{"gemm.cl", "kernel void gemm() {}"}};
  for (std::size_t kind = 0; kind < settings.kinds; ++kind) {
    for (std::size_t v = 0; v < settings.variants_of_kind; ++v) {
      contents.variants.push_back(variant_of(kind_of(kind), v));
    }
  }
  for (std::uint32_t t = 0; t < settings.targets; ++t) {
    contents.targets.push_back(target_of(t));
    cache::Profile profile;
    profile.target = t;
    profile.units = 2 + random.below(130);
    for (std::size_t kind = 0; kind < settings.kinds; ++kind) {
      const auto first = static_cast<std::uint32_t>(kind * settings.variants_of_kind);
      add_choice(profile, kind_of(kind), first, settings.variants_of_kind, random);
    }
    contents.profiles.push_back(std::move(profile));
    for (std::uint32_t v = 0; v < contents.variants.size(); ++v) {
      if (random.one_in(12)) continue;
      contents.entries.push_back(entry_of(t, v, cache::Form::native, settings.program_bytes, random));
      if (t % 3 == 0 || !random.one_in(4)) continue;
      contents.entries.push_back(entry_of(t, v, cache::Form::portable, settings.program_bytes, random));
    }
  }
  return contents;
}

std::vector<builder::Shape> synthetic_shapes(const SyntheticSettings& settings, std::size_t count) {
  Random random(settings.seed + 1);
  std::vector<builder::Shape> shapes;
  std::set<std::string> names;
  while (shapes.size() < count) {
    builder::Shape shape;
    shape.kind() = kind_of(random.below(settings.kinds));
    shape.m = random.size();
    shape.n = random.size();
    shape.k = random.size();
    if (random.one_in(8)) shape.batch = 1 + random.below(64);
    shape.weight = 1 + random.below(9);
    if (names.insert(name(shape)).second) shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace clbake::tests
