#include "tune/search.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/kernels/presets.hpp>

#include "tune/cost_model.hpp"

#include <algorithm>
#include <cmath>

namespace clbake::builder {
namespace {

// Of so many candidates the most promising one is compiled.
constexpr std::size_t kDrawsCompared = 24;

// All that differ in one option, not in a blocking factor: few, and some of them are for this device only.
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

kernels::Params of_kind(kernels::Params params, const TuneKind& kind) {
  params.kind() = kind.kind();
  return params;
}

bool Search::unseen(const kernels::Params& params) const {
  return shard_of(params, options_.shards) == options_.shard && seen_.count(kernels::name(params)) == 0;
}

// What every bundle holds, tuned or not.
std::vector<kernels::Params> Search::defaults(const TuneKind& kind) const {
  std::vector<kernels::Params> list;
  for (const kernels::Params& p : kernels::default_variants(device_.type, kind.precision, device_.vector_bytes)) {
    const bool of_kind = p.trans_a == kind.trans_a && p.trans_b == kind.trans_b;
    if (of_kind && kernels::admits(device_.limits, p)) list.push_back(p);
  }
  return list;
}

std::vector<kernels::Params> Search::specialists(const TuneKind& kind) const {
  std::vector<kernels::Params> list;
  for (const kernels::Params& p : kernels::specialists(device_.type, kind.precision, device_.vector_bytes)) {
    list.push_back(of_kind(p, kind));
  }
  return list;
}

// Known good points, before anything is drawn.
std::vector<kernels::Params> Search::seeds(const TuneKind& kind) const {
  std::vector<kernels::Params> list = defaults(kind);
  for (const kernels::Params& p : defaults(kind)) {
    for (const kernels::Params& other : option_neighbours(p)) list.push_back(other);
  }
  for (const kernels::Params& p : specialists(kind)) list.push_back(p);
  if (device_.type == kernels::DeviceType::gpu) {
    for (const kernels::Preset& preset : kernels::presets()) list.push_back(of_kind(preset.params, kind));
  }
  const auto unfit = [&](const kernels::Params& p) {
    const auto& families = options_.families;
    return std::find(families.begin(), families.end(), p.family) == families.end() ||
           !kernels::admits(device_.limits, p);
  };
  list.erase(std::remove_if(list.begin(), list.end(), unfit), list.end());
  return list;
}

std::optional<kernels::Params> Search::unseen_neighbour(const std::vector<std::uint32_t>& elite, std::size_t compared,
                                                        std::mt19937& random) {
  std::vector<kernels::Params> list;
  for (int i = 0; i < 30 && !elite.empty() && list.size() < compared; ++i) {
    // The better ones more often.
    const std::size_t rank = std::min(random() % elite.size(), random() % elite.size());
    const std::optional<kernels::Params> p = neighbour(measured_.params(elite[rank]), device_.limits, random);
    if (p && unseen(*p)) list.push_back(*p);
  }
  return most_promising(list);
}

std::optional<kernels::Params> Search::most_promising(const std::vector<kernels::Params>& list) {
  if (list.empty()) return std::nullopt;
  const auto cheaper = [&](const kernels::Params& a, const kernels::Params& b) {
    return expected_cost(a, device_) < expected_cost(b, device_);
  };
  const kernels::Params& chosen = *std::min_element(list.begin(), list.end(), cheaper);
  seen_.insert(kernels::name(chosen));
  return chosen;
}

// Families whose best is far behind are drawn less often.
std::size_t Search::random_family(std::mt19937& random) const {
  std::vector<double> weights;
  double sum = 0;
  for (std::size_t f = 0; f < family_best_.size(); ++f) {
    double weight = 1;
    if (options_.strategy == Strategy::staged) {
      weight = family_weight(options_.families[f], device_.type);
      if (family_best_[f] > 0) weight *= std::max(0.03, std::pow(family_best_[f], -4));
    }
    weights.push_back(weight);
    sum += weight;
  }
  double at = static_cast<double>(random()) / 4294967296.0 * sum;
  std::size_t family = 0;
  while (family + 1 < weights.size() && at >= weights[family]) at -= weights[family++];
  return family;
}

std::optional<kernels::Params> Search::unseen_random(std::mt19937& random) {
  const std::size_t wanted = options_.strategy == Strategy::staged ? kDrawsCompared : 1;
  const std::size_t first = random_family(random);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    CandidateStream& stream = streams_[(first + i) % streams_.size()];
    std::vector<kernels::Params> list;
    while (list.size() < wanted) {
      const std::optional<kernels::Params> p = stream.next();
      if (!p) break;
      if (unseen(*p)) list.push_back(*p);
    }
    if (!list.empty()) return most_promising(list);
  }
  return std::nullopt;
}

}  // namespace clbake::builder
