#include "tune/propose/proposals.hpp"

#include <clbake/kernels/presets.hpp>

#include <algorithm>

namespace clbake::builder::tune {
namespace {

constexpr int kNeighbourDraws = 30;       // at most, for one neighbour
constexpr std::size_t kRandomPoints = 4;  // of each family, where nothing is known of any

void append(const std::vector<kernels::Params>& more, std::vector<kernels::Params>& list) {
  list.insert(list.end(), more.begin(), more.end());
}

// All that differ from `params` in one option and in no block size: few points, and some options make all the
// difference.
std::vector<kernels::Params> option_neighbours(const kernels::Params& params) {
  std::vector<kernels::Params> list;
  const std::vector<kernels::Axis>& axes = kernels::space(params.family).axes;
  auto axis = std::find_if(axes.begin(), axes.end(), [](const auto& a) { return a.parameter.name == "ks"; });
  for (; axis != axes.end(); ++axis) {
    for (const std::uint32_t value : axis->values) {
      kernels::Params other = params;
      axis->parameter.set(other, value);
      if (axis->parameter.name != "ks" && !(other == params)) list.push_back(other);
    }
  }
  return list;
}

}  // namespace

kernels::Params with_kind(kernels::Params params, const GemmKind& kind) {
  params.kind() = kind;
  return params;
}

std::vector<kernels::Params> Proposals::defaults(const GemmKind& kind) const {
  const Device& device = options_.devices.front();
  std::vector<kernels::Params> list;
  for (const kernels::Params& p : kernels::default_variants(device.type, kind.precision, device.vector_bytes,
                                                            has_dots(device.limits, kind.precision))) {
    if (p.kind() == kind && kernels::admits(limits(), p)) list.push_back(p);
  }
  return list;
}

std::vector<kernels::Params> Proposals::known(const GemmKind& kind) const {
  const Device& device = options_.devices.front();
  std::vector<kernels::Params> list = defaults(kind);
  const auto add = [&](const kernels::Params& p) {
    const auto& families = options_.families;
    const bool wanted = std::find(families.begin(), families.end(), p.family) != families.end();
    const bool is_new = std::find(list.begin(), list.end(), p) == list.end();
    if (wanted && is_new && kernels::admits(limits(), p)) list.push_back(p);
  };
  for (const cache::CostModel& model : results_.tuning.prior) {
    if (model.kind() == kind) add(results_.params(model.variant));
  }
  for (const kernels::Params& p : kernels::specialists(device.type, kind.precision, device.vector_bytes)) {
    add(with_kind(p, kind));
  }
  return list;
}

// True for a point of this shard that was not proposed before; now it is.
bool Proposals::take(const kernels::Params& params) {
  return shard_of(params, options_.shards) == options_.shard && proposed_.insert(kernels::name(params)).second;
}

std::vector<kernels::Params> Proposals::seeds(const GemmKind& kind) {
  std::vector<kernels::Params> list;
  if (options_.strategy == Strategy::exhaustive) return list;
  append(known(kind), list);
  for (const kernels::Params& p : defaults(kind)) append(option_neighbours(p), list);
  if (options_.devices.front().type == kernels::DeviceType::gpu) {
    for (const kernels::Preset& preset : kernels::presets()) list.push_back(with_kind(preset.params, kind));
  }
  const auto& families = options_.families;
  const auto unfit = [&](const kernels::Params& p) {
    const bool wanted = std::find(families.begin(), families.end(), p.family) != families.end();
    return !wanted || !kernels::admits(limits(), p) || !take(p);
  };
  list.erase(std::remove_if(list.begin(), list.end(), unfit), list.end());
  const std::size_t count = list.empty() ? kRandomPoints : 1;
  for (const kernels::Family family : families) {
    const bool has = std::any_of(list.begin(), list.end(), [&](const auto& p) { return p.family == family; });
    if (!has) append(random_points(family, count, kind), list);
  }
  return list;
}

std::vector<kernels::Params> Proposals::random_points(kernels::Family family, std::size_t count, const GemmKind& kind) {
  std::vector<kernels::Params> list;
  std::mt19937 random = generator(options_.seed, 0);
  for (std::size_t i = 0; i < count; ++i) {
    PointWalk walk(kernels::space(family), kind, limits(), random);
    std::optional<kernels::Params> p = walk.next();
    while (p && !take(*p)) p = walk.next();
    if (p) list.push_back(*p);
  }
  return list;
}

std::optional<kernels::Params> Proposals::next(const GemmKind& kind, const std::vector<std::uint32_t>& elite,
                                               std::mt19937& random) {
  if (options_.strategy == Strategy::exhaustive) return next_of_all(kind);
  for (int i = 0; i < kNeighbourDraws && !elite.empty(); ++i) {
    const std::size_t rank = std::min(random() % elite.size(), random() % elite.size());
    const std::optional<kernels::Params> p = neighbour(results_.params(elite[rank]), limits(), random);
    if (p && take(*p)) return p;
  }
  return std::nullopt;
}

std::optional<kernels::Params> Proposals::next_of_all(const GemmKind& kind) {
  const auto [walks, is_new] = walks_.try_emplace(kind);
  if (is_new) {
    std::mt19937 random = generator(options_.seed, 0);
    for (const kernels::Family family : options_.families) {
      walks->second.emplace_back(kernels::space(family), kind, limits(), random);
    }
  }
  for (std::deque<PointWalk>& families = walks->second; !families.empty(); families.pop_front()) {
    while (std::optional<kernels::Params> p = families.front().next()) {
      if (take(*p)) return p;
    }
  }
  return std::nullopt;
}

}  // namespace clbake::builder::tune
