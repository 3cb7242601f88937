#include "profile/untuned_profile.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/choice.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace clbake::builder::profile {
namespace {

using kernels::Family;
using Indexed = std::map<std::uint32_t, kernels::Params>;

constexpr std::uint32_t kAny = UINT32_MAX;

// The problems with m, n and k up to these limits, without those of earlier classes. They get the variant with the
// smallest or the largest tile of the first family that was baked.
struct SizeClass {
  std::uint32_t m, n, k;
  std::array<Family, 4> families;
  bool smallest_tile;
};

// Found with 'clbake bench choice' of an untuned bundle on PoCL and two cores. Small tiles are for problems whose
// columns would not fill a large one (up to 128 columns they take 16 to 35 % less time, in both precisions).
constexpr std::array<Family, 4> kCpuFamilies = {Family::register_tile, Family::local_tile, Family::stripe,
                                                Family::direct};
const std::vector<SizeClass> kCpuClasses = {{kAny, 8, kAny, kCpuFamilies, false},  // has `lines`
                                            {kAny, 128, kAny, kCpuFamilies, true},
                                            {kAny, kAny, kAny, kCpuFamilies, false}};

// The same on an H200.
constexpr std::array<Family, 4> kGpuFamilies = {Family::local_tile, Family::stripe, Family::direct,
                                                Family::register_tile};
const std::vector<SizeClass> kGpuClasses = {
    {16, 16, 16, {Family::direct, Family::register_tile, Family::local_tile, Family::stripe}, true},
    {768, 768, 768, kGpuFamilies, true},
    {kAny, kAny, kAny, kGpuFamilies, false}};

// Packed weights. On a GPU a tile for few rows reads them where they are, others have them unpacked first.
constexpr std::array<Family, 4> kOfWeights = {Family::weight_tile, Family::local_tile, Family::warpgroup_tile,
                                              Family::stripe};
const std::vector<SizeClass> kCpuWeightClasses = {{kAny, 256, kAny, kOfWeights, true},
                                                  {kAny, kAny, kAny, kOfWeights, false}};
const std::vector<SizeClass> kGpuWeightClasses = {
    {16, kAny, kAny, kOfWeights, false},
    {kAny, kAny, kAny, {Family::warpgroup_tile, Family::local_tile, Family::stripe, Family::weight_tile}, false}};

std::uint32_t choose(const Indexed& variants, const SizeClass& size_class) {
  for (const Family family : size_class.families) {
    const Indexed::value_type* best = nullptr;
    for (const auto& variant : variants) {
      const auto tile = [](const kernels::Params& p) { return std::uint64_t{p.ml} * p.nl; };
      if (variant.second.family != family) continue;
      const bool better = !best || (size_class.smallest_tile ? tile(variant.second) < tile(best->second)
                                                             : tile(variant.second) > tile(best->second));
      if (better) best = &variant;
    }
    if (best) return best->first;
  }
  return variants.begin()->first;
}

// Rules of one kind. A class that all later ones would serve alike needs no rule.
void add_rules(const Indexed& variants, cache::Rule rule, const std::vector<SizeClass>& classes,
               std::vector<cache::Rule>& rules) {
  for (auto size_class = classes.begin(); size_class != classes.end(); ++size_class) {
    rule.m_max = size_class->m;
    rule.n_max = size_class->n;
    rule.k_max = size_class->k;
    rule.variant = choose(variants, *size_class);
    const bool is_last = size_class + 1 == classes.end();
    const auto differs = [&](const SizeClass& later) { return choose(variants, later) != rule.variant; };
    if (is_last || std::any_of(size_class + 1, classes.end(), differs)) rules.push_back(rule);
  }
}

// The default variants of all kinds, by name.
std::set<std::string> default_names(kernels::DeviceType type, std::uint32_t vector_bytes, bool dots) {
  std::set<std::string> names;
  for (const Precision precision : product_precisions) {
    for (const auto& p : kernels::default_variants(type, precision, vector_bytes, dots)) names.insert(kernels::name(p));
  }
  return names;
}

}  // namespace

std::vector<cache::Rule> untuned_rules(const Indexed& variants, kernels::DeviceType type) {
  std::map<GemmKind, Indexed> by_kind;
  for (const auto& [index, params] : variants) by_kind[params.kind()].emplace(index, params);
  std::vector<cache::Rule> rules;
  for (const auto& [kind, members] : by_kind) {
    cache::Rule rule;
    rule.kind() = kind;
    const bool is_cpu = type == kernels::DeviceType::cpu;
    const auto& of_weights = is_cpu ? kCpuWeightClasses : kGpuWeightClasses;
    add_rules(members, rule, has_weights(kind.precision) ? of_weights : is_cpu ? kCpuClasses : kGpuClasses, rules);
  }
  return rules;
}

namespace {

// A register of AVX2, which nearly every CPU that runs OpenCL has.
constexpr std::uint32_t kVectorBytes = 32;

// All sizes that there are default variants for; the first one's count where variants of two were timed.
constexpr std::uint32_t kVectorSizes[] = {64, 32, 16};

cache::Profile defaults_of(cache::Contents& contents, std::uint32_t target, kernels::DeviceType type) {
  std::map<std::uint32_t, kernels::Params> variants;
  std::set<Precision> precisions(std::begin(all_precisions), std::end(all_precisions));
  for (const cache::Variant& variant : contents.variants) {
    if (is_mixed(variant.precision)) precisions.insert(variant.precision);
  }
  for (const Precision precision : precisions) {
    for (const kernels::Params& params : kernels::default_variants(type, precision, kVectorBytes)) {
      // A CPU has no use for it: register_tile runs everywhere as well.
      if (type == kernels::DeviceType::cpu && params.family == kernels::Family::direct) continue;
      const std::uint32_t index =
          add_job(contents, make_job(contents.targets[target], kernels::generate(params), params));
      variants.emplace(index, params);
    }
  }
  return {target, 1, {}, {}, untuned_rules(variants, type)};
}

}  // namespace

void add_default_targets(cache::Contents& contents) {
  const auto is_program = [](const cache::Variant& variant) { return variant.is_program(); };
  const bool products = !std::all_of(contents.variants.begin(), contents.variants.end(), is_program);
  if (!products && !contents.variants.empty()) return;
  for (const kernels::DeviceType type : kernels::all_device_types) {
    const std::uint32_t target = index_in(contents.targets, cache::any_device(type == kernels::DeviceType::cpu));
    const bool present = std::any_of(contents.profiles.begin(), contents.profiles.end(),
                                     [&](const cache::Profile& profile) { return profile.target == target; });
    if (!present) contents.profiles.push_back(defaults_of(contents, target, type));
  }
}

bool is_default_target(const cache::Target& target) {
  return target == cache::any_device(true) || target == cache::any_device(false);
}

cache::Profile untuned_profile(const cache::Contents& contents, std::uint32_t target, kernels::DeviceType type) {
  std::set<std::string> defaults;
  for (const std::uint32_t vector_bytes : kVectorSizes) {
    for (const bool dots : {false, true}) defaults.merge(default_names(type, vector_bytes, dots));
  }
  Indexed baked, baked_defaults;
  std::set<GemmKind> with_defaults;
  for (const cache::Entry& entry : contents.entries) {
    const cache::Variant& variant = contents.variants[entry.variant];
    if (entry.target != target || variant.is_program() || variant.is_group()) continue;
    const auto parsed = kernels::parse(variant.name);
    if (!std::holds_alternative<kernels::Params>(parsed)) continue;
    auto params = std::get<kernels::Params>(parsed);
    baked.emplace(entry.variant, params);
    params.front_end = kernels::FrontEnd::driver;
    if (defaults.count(kernels::name(params)) == 0) continue;
    baked_defaults.emplace(entry.variant, params);
    with_defaults.insert(params.kind());
  }
  // A tuned variant is no default, whatever its tile: cost models and exceptions say where it serves.
  for (const auto& [index, params] : baked) {
    if (with_defaults.count(params.kind()) == 0) baked_defaults.emplace(index, params);
  }
  return {target, 1, {}, {}, untuned_rules(baked_defaults, type)};
}

DefaultChoice::DefaultChoice(const Tuning& tuning) {
  for (const kernels::DeviceType type : kernels::all_device_types) {
    for (const std::uint32_t vector_bytes : kVectorSizes) {
      const std::set<std::string> names = default_names(type, vector_bytes, false);
      Indexed timed;
      for (std::uint32_t v = 0; v < tuning.variants.size(); ++v) {
        if (names.count(tuning.variants[v]) == 0) continue;
        timed.emplace(v, std::get<kernels::Params>(kernels::parse(tuning.variants[v])));
      }
      if (timed.size() <= variants_.size()) continue;
      variants_.clear();
      for (const auto& [index, params] : timed) variants_.push_back(index);
      rules_ = untuned_rules(timed, type);
    }
  }
}

std::optional<std::uint32_t> DefaultChoice::of(const Shape& shape) const {
  const Problem problem = problem_of(shape);
  const auto fitting = std::find_if(rules_.begin(), rules_.end(), [&](const cache::Rule& rule) {
    return rule.kind() == shape.kind() && fits(rule, problem);
  });
  return fitting == rules_.end() ? std::nullopt : std::optional<std::uint32_t>(fitting->variant);
}

}  // namespace clbake::builder::profile
