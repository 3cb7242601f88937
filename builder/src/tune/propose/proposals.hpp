// Which variants the search tries: known good ones, neighbours of what was fast, and random points.
#pragma once

#include <clbake/builder/tune.hpp>

#include "tune/propose/candidates.hpp"
#include "tune/timing_table.hpp"

#include <deque>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder {

// The same variant for another precision or other transposes.
kernels::Params with_kind(kernels::Params params, const GemmKind& kind);

class Proposals {
 public:
  // Both must outlive it; the table is read for what was fast.
  Proposals(const TuneOptions& options, const TimingTable& table) : options_(options), table_(table) {}

  // Forgets what was proposed, and starts with a new precision and pair of transposes.
  void start(const GemmKind& kind);
  void mark_proposed(const std::vector<kernels::Params>& list);
  bool proposed(const std::string& variant) const { return proposed_.count(variant) > 0; }

  // The variants of every bundle, tuned or not, that the device admits.
  std::vector<kernels::Params> defaults(const GemmKind& kind) const;
  // Those of the prior that the device admits.
  std::vector<kernels::Params> known(const GemmKind& kind) const;
  // Those made for shapes that the probes say nothing about.
  std::vector<kernels::Params> specialists(const GemmKind& kind) const;
  // Known good points of this shard, each once: defaults, those of the prior, all that differ from them in one option,
  // specialists and, on GPUs, published presets. Marks them as proposed.
  std::vector<kernels::Params> seeds(const GemmKind& kind);

  // What follows is of this shard, was not proposed before, and is marked as proposed. Nothing: none was found.

  // Near one of these variants, the better ones (first) more often: of `compared` points the one of least expected
  // cost.
  std::optional<kernels::Params> neighbour_of(const std::vector<std::uint32_t>& elite, std::size_t compared,
                                              std::mt19937& random);
  // Staged: of 24 random points the one of least guessed cost, mostly of the families made for the device's type.
  // Random: any point. Exhaustive: the next point of the walk.
  std::optional<kernels::Params> point(std::mt19937& random);

 private:
  bool unseen(const kernels::Params& params) const;
  std::optional<kernels::Params> least_cost(const std::vector<kernels::Params>& list);
  std::size_t draw_family(std::mt19937& random) const;
  std::optional<kernels::Params> next_unseen(PointWalk& walk) const;
  std::optional<kernels::Params> random_point(kernels::Family family, std::mt19937& random);

  const Device& device() const { return options_.devices.front(); }

  const TuneOptions& options_;
  const TimingTable& table_;
  GemmKind kind_;
  std::set<std::string> proposed_;
  std::deque<PointWalk> walks_;  // of an exhaustive search: the families that have points left
};

}  // namespace clbake::builder
