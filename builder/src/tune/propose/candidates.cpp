#include "tune/propose/candidates.hpp"

#include <algorithm>

namespace clbake::builder::tune {
namespace {

constexpr int kNeighbourTries = 300;

// The finalizer of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

// The parameters that shape the blocks of a work-group and a work-item in m and n.
bool is_block(const kernels::Axis& axis) {
  const std::string_view name = axis.parameter.name;
  return name == "vector_width" || name == "ns" || name == "nl" || name == "ms" || name == "ml";
}

// Mostly one step up or down, else any value.
std::uint32_t moved(const kernels::Axis& axis, std::uint32_t value, std::mt19937& random) {
  const auto& values = axis.values;
  const auto at = std::find(values.begin(), values.end(), value);
  if (at == values.end() || random() % 5 == 0) return values[random() % values.size()];
  const bool up = random() % 2 == 0;
  if (up) return at + 1 == values.end() ? value : at[1];
  return at == values.begin() ? value : at[-1];
}

}  // namespace

PointWalk::PointWalk(const kernels::Space& space, const GemmKind& kind, const kernels::DeviceLimits& device,
                     std::mt19937& random)
    : axes_(space.axes), device_(device) {
  params_.family = space.family;
  params_.kind() = kind;
  const auto options = std::stable_partition(axes_.begin(), axes_.end(), is_block);
  block_axes_ = static_cast<std::size_t>(options - axes_.begin());
  for (kernels::Axis& axis : axes_) {
    const auto from = static_cast<std::ptrdiff_t>(random() % axis.values.size());
    std::rotate(axis.values.begin(), axis.values.begin() + from, axis.values.end());
  }
}

std::optional<kernels::Params> PointWalk::next() {
  while (advance()) {
    const std::size_t last = prefix_.size() - 1;
    axes_[last].parameter.set(params_, axes_[last].values[prefix_[last]]);
    const bool complete = prefix_.size() == axes_.size();
    descend_ = !complete && admits_prefix();
    if (complete && kernels::admits(device_, params_)) return params_;
  }
  return std::nullopt;
}

// To the next prefix in depth-first order; false after the last one.
bool PointWalk::advance() {
  if (descend_) {
    prefix_.push_back(0);
    return true;
  }
  while (!prefix_.empty() && ++prefix_.back() == axes_[prefix_.size() - 1].values.size()) prefix_.pop_back();
  return !prefix_.empty();
}

// True when the device admits the point that asks least of it among those with this prefix.
bool PointWalk::admits_prefix() const {
  kernels::Params least = params_;
  for (std::size_t i = prefix_.size(); i < axes_.size(); ++i) {
    axes_[i].ease(least);
    // Eased, the depth is large, so that everything divides it. Here the smallest one takes the least memory.
    if (axes_[i].parameter.name == "kl") {
      axes_[i].parameter.set(least, *std::min_element(axes_[i].values.begin(), axes_[i].values.end()));
    }
    // 160 and 224 columns of warpgroup_tile need them.
    if (axes_[i].parameter.name == "tensor_copies") least.tensor_copies = least.nl % 64 == 32 && least.nl > 128;
  }
  if (least.ns % least.vector_width > 0 || least.nl % least.ns > 0 || least.ml % least.ms > 0) return false;
  if (prefix_.size() < block_axes_ || kernels::admits(device_, least)) return true;
  if (prefix_.size() > block_axes_) return false;
  least.split_k = 2;  // asks more of the device, but register_tile needs it for half precision
  return kernels::admits(device_, least);
}

std::optional<kernels::Params> neighbour(const kernels::Params& params, const kernels::DeviceLimits& device,
                                         std::mt19937& random) {
  const std::vector<kernels::Axis>& axes = kernels::space(params.family).axes;
  for (int i = 0; i < kNeighbourTries; ++i) {
    kernels::Params p = params;
    const std::size_t changes = 1 + random() % 3;
    for (std::size_t c = 0; c < changes; ++c) {
      const kernels::Axis& axis = axes[random() % axes.size()];
      axis.parameter.set(p, moved(axis, axis.parameter.get(p), random));
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

}  // namespace clbake::builder::tune
