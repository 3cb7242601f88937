#include "profile/untuned_profile.hpp"
#include <clbake/finalize.hpp>
#include <clbake/kernels/defaults.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace clbake::builder {
namespace {

constexpr std::uint32_t kAny = UINT32_MAX;

// The problems with m, n and k up to these limits, without those of earlier classes. They get the variant with the
// smallest or the largest tile of the first family that was baked.
struct SizeClass {
  std::uint32_t m, n, k;
  std::array<const char*, 4> families;
  bool smallest_tile;
};

// Found with 'clbake bench choice' of an untuned bundle on PoCL and two cores. Small tiles are for problems whose
// columns would not fill a large one (up to 128 columns they take 16 to 35 % less time, in both precisions), that would
// leave a core without work, or that copy op(B) for too few rows (up to 192 rows they take 0 to 7 % less).
constexpr std::array<const char*, 4> kCpuFamilies = {"register_tile", "local_tile", "stripe", "direct"};
constexpr SizeClass kCpuClasses[] = {{kAny, 128, kAny, kCpuFamilies, true},
                                     {192, kAny, kAny, kCpuFamilies, true},
                                     {384, 384, 384, kCpuFamilies, true},
                                     {kAny, kAny, kAny, kCpuFamilies, false}};

// The same on an H200.
constexpr std::array<const char*, 4> kGpuFamilies = {"local_tile", "stripe", "direct", "register_tile"};
constexpr SizeClass kGpuClasses[] = {{16, 16, 16, {"direct", "register_tile", "local_tile", "stripe"}, true},
                                     {768, 768, 768, kGpuFamilies, true},
                                     {kAny, kAny, kAny, kGpuFamilies, false}};

std::uint64_t tile(const cache::Variant& variant) {
  if (variant.launches.empty()) return 0;
  const cache::Launch& launch = product_launch(variant);
  return std::uint64_t{launch.tile_m} * launch.tile_n;
}

std::uint32_t choose(const cache::Contents& contents, const std::vector<std::uint32_t>& variants,
                     const SizeClass& size_class) {
  const auto better = [&](std::uint32_t a, std::uint32_t b) {
    const std::uint64_t tile_a = tile(contents.variants[a]);
    const std::uint64_t tile_b = tile(contents.variants[b]);
    return size_class.smallest_tile ? tile_a < tile_b : tile_a > tile_b;
  };
  for (const char* family : size_class.families) {
    std::vector<std::uint32_t> members;
    for (const std::uint32_t v : variants) {
      if (contents.variants[v].family == family) members.push_back(v);
    }
    if (!members.empty()) return *std::min_element(members.begin(), members.end(), better);
  }
  return variants.front();  // of a family that this version does not know
}

// Rules for one precision and pair of transposes. A class that the last one would serve alike needs no rule.
template <std::size_t count>
void add_rules(const cache::Contents& contents, const std::vector<std::uint32_t>& variants, cache::Rule rule,
               const SizeClass (&classes)[count], std::vector<cache::Rule>& rules) {
  const std::uint32_t last = choose(contents, variants, classes[count - 1]);
  for (const SizeClass& size_class : classes) {
    rule.m_max = size_class.m;
    rule.n_max = size_class.n;
    rule.k_max = size_class.k;
    rule.variant = choose(contents, variants, size_class);
    if (rule.variant != last || &size_class == &classes[count - 1]) rules.push_back(rule);
  }
}

// Whether the variant is a default one of this type of device, with any front end and any vector registers.
bool is_default(const cache::Variant& variant, kernels::DeviceType type) {
  const auto parsed = kernels::parse(variant.name);
  if (!std::holds_alternative<kernels::Params>(parsed)) return false;
  kernels::Params params = std::get<kernels::Params>(parsed);
  params.front_end = kernels::FrontEnd::driver;
  for (const std::uint32_t vector_bytes : {32U, 64U}) {
    const std::vector<kernels::Params> all = kernels::default_variants(type, params.precision, vector_bytes);
    if (std::find(all.begin(), all.end(), params) != all.end()) return true;
  }
  return false;
}

}  // namespace

std::vector<cache::Rule> untuned_rules(const cache::Contents& contents, const std::vector<std::uint32_t>& variants,
                                       kernels::DeviceType type) {
  std::map<GemmKind, std::vector<std::uint32_t>> by_kind;
  for (const std::uint32_t v : variants) by_kind[contents.variants[v].kind()].push_back(v);
  std::vector<cache::Rule> rules;
  for (const auto& [kind, members] : by_kind) {
    cache::Rule rule;
    rule.kind() = kind;
    if (type == kernels::DeviceType::cpu) {
      add_rules(contents, members, rule, kCpuClasses, rules);
    } else {
      add_rules(contents, members, rule, kGpuClasses, rules);
    }
  }
  return rules;
}

cache::Profile untuned_profile(const cache::Contents& contents, std::uint32_t target, kernels::DeviceType type) {
  std::vector<std::uint32_t> baked;
  std::set<GemmKind> with_defaults;
  for (const cache::Entry& entry : contents.entries) {
    if (entry.target != target || contents.variants[entry.variant].is_program()) continue;
    baked.push_back(entry.variant);
    const cache::Variant& variant = contents.variants[entry.variant];
    if (is_default(variant, type)) with_defaults.insert(variant.kind());
  }
  // A tuned variant is no default, whatever its tile: cost models and exceptions say where it serves.
  std::vector<std::uint32_t> variants;
  for (const std::uint32_t v : baked) {
    const cache::Variant& variant = contents.variants[v];
    if (with_defaults.count(variant.kind()) == 0 || is_default(variant, type)) variants.push_back(v);
  }
  return {target, 1, {}, {}, untuned_rules(contents, variants, type)};
}

}  // namespace clbake::builder
