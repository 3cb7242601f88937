#include "tune/candidates.hpp"

#include <algorithm>
#include <utility>

namespace clbake::builder {
namespace {

constexpr int kMisses = 10000000;
constexpr int kNeighbourTries = 300;

// The finalizer of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

bool is_transpose(const kernels::Axis& axis) {
  return axis.parameter.name == "trans_a" || axis.parameter.name == "trans_b";
}

// One step up or down as a rule, else any value.
std::uint32_t moved(const kernels::Axis& axis, std::uint32_t value, std::mt19937& random) {
  const auto& values = axis.values;
  const auto at = std::find(values.begin(), values.end(), value);
  if (at == values.end() || random() % 5 == 0) return values[random() % values.size()];
  const bool up = random() % 2 == 0;
  if (up) return at + 1 == values.end() ? value : at[1];
  return at == values.begin() ? value : at[-1];
}

}  // namespace

bool Blockings::shapes_blocks(const kernels::Axis& axis) {
  const std::string_view name = axis.parameter.name;
  return name == "vector_width" || name == "ns" || name == "nl" || name == "ms" || name == "ml";
}

Blockings::Blockings(const kernels::Space& space, Precision precision, const kernels::DeviceLimits& device) {
  kernels::Params params;
  params.family = space.family;
  params.precision = precision;
  std::uint32_t count = 1;
  for (const kernels::Axis& axis : space.axes) {
    if (shapes_blocks(axis)) {
      axes_.push_back(axis);
      count *= static_cast<std::uint32_t>(axis.values.size());
      continue;
    }
    axis.ease(params);
    // Divided by nothing any more: the smallest takes least memory.
    if (axis.parameter.name == "kl") axis.parameter.set(params, axis.values.front());
  }
  for (std::uint32_t place = 0; place < count; ++place) {
    set_place(place, params);
    // More than one slice asks more of the device, and less of register_tile in half precision.
    const auto possible = [&](std::uint32_t slices) {
      params.split_k = slices;
      return kernels::admits(device, params);
    };
    if (possible(1) || possible(2)) places_.push_back(place);
  }
}

void Blockings::set_place(std::uint32_t place, kernels::Params& params) const {
  for (const kernels::Axis& axis : axes_) {
    axis.parameter.set(params, axis.values[place % axis.values.size()]);
    place /= static_cast<std::uint32_t>(axis.values.size());
  }
}

CandidateStream::CandidateStream(kernels::Family family, Precision precision, bool trans_a, bool trans_b,
                                 const kernels::DeviceLimits& device, std::uint64_t seed)
    : space_(kernels::space(family)),
      precision_(precision),
      device_(device),
      blockings_(space_, precision, device),
      points_(blockings_.size()) {
  auto& axes = space_.axes;
  axes.erase(std::remove_if(axes.begin(), axes.end(), Blockings::shapes_blocks), axes.end());
  for (kernels::Axis& axis : space_.axes) {
    if (axis.parameter.name == "trans_a") axis.values = {trans_a ? 1U : 0U};
    if (axis.parameter.name == "trans_b") axis.values = {trans_b ? 1U : 0U};
    points_ *= axis.values.size();
  }
  unsigned bits = 0;
  while (bits < 63 && (std::uint64_t{1} << bits) < points_) ++bits;
  right_bits_ = bits / 2;
  left_bits_ = bits - right_bits_;
  for (std::uint64_t round = 0; round < kRounds; ++round) keys_[round] = mix(mix(seed) + round);
}

// A Feistel network: a permutation, whatever the round function is. Numbers beyond the space are sent round again, so
// that it is a permutation of the space, too.
std::uint64_t CandidateStream::place(std::uint64_t index) const {
  do {
    unsigned left_bits = left_bits_;
    unsigned right_bits = right_bits_;
    std::uint64_t left = index >> right_bits;
    std::uint64_t right = index & ((std::uint64_t{1} << right_bits) - 1);
    for (const std::uint64_t key : keys_) {
      const std::uint64_t next = left ^ (mix(right ^ key) & ((std::uint64_t{1} << left_bits) - 1));
      left = right;
      right = next;
      std::swap(left_bits, right_bits);
    }
    index = left << right_bits | right;
  } while (index >= points_);
  return index;
}

kernels::Params CandidateStream::point(std::uint64_t place) const {
  kernels::Params params;
  params.family = space_.family;
  params.precision = precision_;
  blockings_.set(place % blockings_.size(), params);
  place /= blockings_.size();
  for (const kernels::Axis& axis : space_.axes) {
    axis.parameter.set(params, axis.values[place % axis.values.size()]);
    place /= axis.values.size();
  }
  return params;
}

std::optional<kernels::Params> CandidateStream::next() {
  for (int misses = 0; at_ < points_ && misses < kMisses; ++misses) {
    const kernels::Params params = point(place(at_++));
    if (kernels::admits(device_, params)) return params;
  }
  at_ = points_;
  return std::nullopt;
}

std::optional<kernels::Params> neighbour(const kernels::Params& params, const kernels::DeviceLimits& device,
                                         std::mt19937& random) {
  const std::vector<kernels::Axis>& axes = kernels::space(params.family).axes;
  for (int i = 0; i < kNeighbourTries; ++i) {
    kernels::Params p = params;
    const std::size_t changes = 1 + random() % 3;
    for (std::size_t c = 0; c < changes; ++c) {
      const kernels::Axis& axis = axes[random() % axes.size()];
      if (!is_transpose(axis)) axis.parameter.set(p, moved(axis, axis.parameter.get(p), random));
    }
    if (!(p == params) && kernels::admits(device, p)) return p;
  }
  return std::nullopt;
}

std::mt19937 generator(std::uint64_t seed, std::uint64_t number) {
  const std::uint64_t state = mix(mix(seed) + number);
  std::seed_seq words{static_cast<std::uint32_t>(state), static_cast<std::uint32_t>(state >> 32U)};
  return std::mt19937(words);
}

std::uint32_t shard_of(const kernels::Params& params, std::uint32_t shards) {
  std::uint64_t hash = 0;
  for (const char c : kernels::name(params)) hash = mix(hash + static_cast<unsigned char>(c));
  return static_cast<std::uint32_t>(hash % shards) + 1;
}

}  // namespace clbake::builder
