#include "tune/propose/proposals.hpp"

#include <clbake/kernels/presets.hpp>

#include "tune/propose/cost_guess.hpp"

#include <algorithm>
#include <numeric>

namespace clbake::builder {
namespace {

constexpr std::size_t kDrawsCompared = 24;  // random points of which the one of least guessed cost is tried
constexpr int kNeighbourDraws = 30;         // at most, for one neighbour

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

void Proposals::start(const GemmKind& kind) {
  kind_ = kind;
  proposed_.clear();
  walks_.clear();
  if (options_.strategy != Strategy::exhaustive) return;
  std::mt19937 random = generator(options_.seed, 0);
  for (const kernels::Family family : options_.families) {
    walks_.emplace_back(kernels::space(family), kind, device().limits, random);
  }
}

void Proposals::mark_proposed(const std::vector<kernels::Params>& list) {
  for (const kernels::Params& p : list) proposed_.insert(kernels::name(p));
}

bool Proposals::unseen(const kernels::Params& params) const {
  return shard_of(params, options_.shards) == options_.shard && !proposed(kernels::name(params));
}

std::vector<kernels::Params> Proposals::defaults(const GemmKind& kind) const {
  std::vector<kernels::Params> list;
  for (const kernels::Params& p : kernels::default_variants(device().type, kind.precision, device().vector_bytes)) {
    if (p.kind() == kind && kernels::admits(device().limits, p)) list.push_back(p);
  }
  return list;
}

std::vector<kernels::Params> Proposals::specialists(const GemmKind& kind) const {
  std::vector<kernels::Params> list;
  for (const kernels::Params& p : kernels::specialists(device().type, kind.precision, device().vector_bytes)) {
    list.push_back(with_kind(p, kind));
  }
  return list;
}

std::vector<kernels::Params> Proposals::known(const GemmKind& kind) const {
  std::vector<kernels::Params> list;
  for (const cache::CostModel& model : table_.tuning.prior) {
    if (model.kind() == kind) list.push_back(table_.params(model.variant));
  }
  return list;
}

std::vector<kernels::Params> Proposals::seeds(const GemmKind& kind) {
  std::vector<kernels::Params> list = defaults(kind);
  for (const kernels::Params& p : known(kind)) list.push_back(p);
  for (const kernels::Params& p : defaults(kind)) {
    for (const kernels::Params& other : option_neighbours(p)) list.push_back(other);
  }
  for (const kernels::Params& p : specialists(kind)) list.push_back(p);
  if (device().type == kernels::DeviceType::gpu) {
    for (const kernels::Preset& preset : kernels::presets()) list.push_back(with_kind(preset.params, kind));
  }
  const auto excluded = [&](const kernels::Params& p) {
    const auto& families = options_.families;
    return std::find(families.begin(), families.end(), p.family) == families.end() ||
           !kernels::admits(device().limits, p) || !unseen(p);
  };
  list.erase(std::remove_if(list.begin(), list.end(), excluded), list.end());
  mark_proposed(list);
  return list;
}

std::optional<kernels::Params> Proposals::neighbour_of(const std::vector<std::uint32_t>& elite, std::size_t compared,
                                                       std::mt19937& random) {
  std::vector<kernels::Params> list;
  for (int i = 0; i < kNeighbourDraws && !elite.empty() && list.size() < compared; ++i) {
    const std::size_t rank = std::min(random() % elite.size(), random() % elite.size());
    const std::optional<kernels::Params> p = neighbour(table_.params(elite[rank]), device().limits, random);
    if (p && unseen(*p)) list.push_back(*p);
  }
  return least_cost(list);
}

std::optional<kernels::Params> Proposals::least_cost(const std::vector<kernels::Params>& list) {
  if (list.empty()) return std::nullopt;
  const auto cheaper = [&](const kernels::Params& a, const kernels::Params& b) {
    return cost_guess(a, device()) < cost_guess(b, device());
  };
  const kernels::Params& chosen = *std::min_element(list.begin(), list.end(), cheaper);
  mark_proposed({chosen});
  return chosen;
}

std::size_t Proposals::draw_family(std::mt19937& random) const {
  std::vector<double> weights;
  for (const kernels::Family family : options_.families) {
    weights.push_back(options_.strategy == Strategy::staged ? family_weight(family, device().type) : 1);
  }
  double at = static_cast<double>(random()) / 4294967296.0 * std::accumulate(weights.begin(), weights.end(), 0.0);
  std::size_t family = 0;
  while (family + 1 < weights.size() && at >= weights[family]) at -= weights[family++];
  return family;
}

std::optional<kernels::Params> Proposals::next_unseen(PointWalk& walk) const {
  while (std::optional<kernels::Params> p = walk.next()) {
    if (unseen(*p)) return p;
  }
  return std::nullopt;
}

std::optional<kernels::Params> Proposals::random_point(kernels::Family family, std::mt19937& random) {
  const std::size_t wanted = options_.strategy == Strategy::staged ? kDrawsCompared : 1;
  std::vector<kernels::Params> list;
  while (list.size() < wanted) {
    PointWalk walk(kernels::space(family), kind_, device().limits, random);
    const std::optional<kernels::Params> p = next_unseen(walk);
    // The same point again: few are left, and each takes long to find.
    if (!p || std::find(list.begin(), list.end(), *p) != list.end()) break;
    list.push_back(*p);
  }
  return least_cost(list);
}

std::optional<kernels::Params> Proposals::point(std::mt19937& random) {
  if (options_.strategy == Strategy::exhaustive) {
    for (; !walks_.empty(); walks_.pop_front()) {
      if (const std::optional<kernels::Params> p = next_unseen(walks_.front())) return least_cost({*p});
    }
    return std::nullopt;
  }
  const std::size_t first = draw_family(random);
  for (std::size_t i = 0; i < options_.families.size(); ++i) {
    const std::size_t family = (first + i) % options_.families.size();
    if (const std::optional<kernels::Params> p = random_point(options_.families[family], random)) return p;
  }
  return std::nullopt;
}

}  // namespace clbake::builder
