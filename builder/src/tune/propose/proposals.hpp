// Which variants the search tries: known good ones, and neighbours of what was fast.
#pragma once

#include "tune/propose/candidates.hpp"
#include "tune/results.hpp"

#include <deque>

namespace clbake::builder::tune {

// The same variant for another precision or other transposes.
kernels::Params with_kind(kernels::Params params, const GemmKind& kind);

class Proposals {
 public:
  // Both must outlive it; the results are read for what was fast, and for what failed.
  Proposals(const TuneOptions& options, const Results& results) : options_(options), results_(results) {}

  // The variants of every bundle, tuned or not, that the device admits.
  std::vector<kernels::Params> defaults(const GemmKind& kind) const;
  // The defaults, those of the prior, and specialists for shapes that the probes say nothing about, as far as the
  // device admits them.
  std::vector<kernels::Params> known(const GemmKind& kind) const;

  // Points of this shard, each once: known ones, all that differ from the defaults in one option, on GPUs the published
  // presets, and a random point of each family that has none so far. Of an exhaustive search: none.
  std::vector<kernels::Params> seeds(const GemmKind& kind);

  // A point of this shard that was not proposed before: near one of these variants, the better ones (first) more often.
  // An exhaustive search takes the next point of the kind. Nothing when none was found.
  std::optional<kernels::Params> next(const GemmKind& kind, const std::vector<std::uint32_t>& elite,
                                      std::mt19937& random);

 private:
  bool take(const kernels::Params& params);
  std::vector<kernels::Params> random_points(kernels::Family family, std::size_t count, const GemmKind& kind);
  std::optional<kernels::Params> next_of_all(const GemmKind& kind);

  const kernels::DeviceLimits& limits() const { return options_.devices.front().limits; }

  const TuneOptions& options_;
  const Results& results_;
  std::set<std::string> proposed_;
  std::map<GemmKind, std::deque<PointWalk>> walks_;  // of an exhaustive search: the families that have points left
};

}  // namespace clbake::builder::tune
