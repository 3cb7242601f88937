#include <clbake/builder/profile.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace clbake::builder {
namespace {

// Problems up to this size in every dimension go to the direct family. On PoCL ('clbake bench gemm --variant') it
// ties with register_tile from 16 to 128 when nothing is transposed and loses from 32 on when B is; below, both cost
// what a launch costs. GPUs: not tuned.
std::uint32_t direct_limit(bool cpu, bool trans_a, bool trans_b) {
  if (!cpu) return 64;
  return trans_a || trans_b ? 16 : 128;
}

using Families = std::array<const char*, 3>;
constexpr Families kSmall = {"direct", "register_tile", "local_tile"};
constexpr Families kLargeCpu = {"register_tile", "local_tile", "direct"};
constexpr Families kLargeGpu = {"local_tile", "direct", "register_tile"};

std::optional<std::uint32_t> first_of(const cache::Contents& contents, const std::vector<std::uint32_t>& variants,
                                      const Families& families) {
  for (const char* family : families) {
    for (const std::uint32_t v : variants) {
      if (contents.variants[v].family == family) return v;
    }
  }
  return std::nullopt;
}

// The target's variants of one precision and one pair of transposes.
std::vector<std::uint32_t> variants_of(const cache::Contents& contents, std::uint32_t target, Precision precision,
                                       bool trans_a, bool trans_b) {
  std::vector<std::uint32_t> found;
  for (const cache::Entry& entry : contents.entries) {
    const cache::Variant& v = contents.variants[entry.variant];
    const bool fits = v.precision == precision && v.trans_a == trans_a && v.trans_b == trans_b;
    if (entry.target == target && fits) found.push_back(entry.variant);
  }
  return found;
}

}  // namespace

cache::Profile default_profile(const cache::Contents& contents, std::uint32_t target, kernels::DeviceKind kind) {
  const bool cpu = kind == kernels::DeviceKind::cpu;
  cache::Profile profile;
  profile.target = target;
  for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        const std::vector<std::uint32_t> variants = variants_of(contents, target, precision, trans_a, trans_b);
        if (variants.empty()) continue;
        cache::Rule small;
        small.precision = precision;
        small.trans_a = trans_a;
        small.trans_b = trans_b;
        cache::Rule any = small;
        small.m_max = small.n_max = small.k_max = direct_limit(cpu, trans_a, trans_b);
        small.variant = *first_of(contents, variants, kSmall);
        any.variant = *first_of(contents, variants, cpu ? kLargeCpu : kLargeGpu);
        if (small.variant != any.variant) profile.rules.push_back(small);
        profile.rules.push_back(any);
      }
    }
  }
  return profile;
}

}  // namespace clbake::builder
