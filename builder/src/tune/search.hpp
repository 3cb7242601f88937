// The stages of a tuning.
#pragma once

#include <clbake/builder/timing.hpp>
#include <clbake/builder/tune.hpp>

#include "tune/candidates.hpp"
#include "tune/journal.hpp"

#include <deque>
#include <map>
#include <set>

namespace clbake::builder {

// A precision and a pair of transposes, with the shapes that are timed for it (indices into Tuning::shapes).
struct TuneKind : GemmKind {
  std::vector<std::uint32_t> shapes;
  std::vector<std::uint32_t> grid;
  std::vector<std::uint32_t> probes;
  std::string name() const { return kind_name(kind()); }
};

// The same variant for another precision and other transposes.
kernels::Params of_kind(kernels::Params params, const TuneKind& kind);

// Everything that was measured so far, by name and by shape; fills a Tuning.
class TimingTable {
 public:
  std::uint32_t variant(const kernels::Params& params);
  std::uint32_t shape(const Shape& shape);
  const kernels::Params& params(std::uint32_t variant) const { return params_[variant]; }

  // Calls of one visit or turn; several of them are taken together when they are final. No calls: the device was
  // unable, nothing is kept.
  void add(std::uint32_t variant, std::uint32_t shape, const std::vector<double>& us, bool final);

  // The variant is out: nothing of it counts, not even what it was timed before.
  void exclude(const std::string& variant);
  bool excluded(const std::string& variant) const { return excluded_.count(variant) > 0; }

  // The smallest median on a shape, of those that were not stopped early; 0 when there is none.
  double best(std::uint32_t shape) const;
  // Variants by their median on a shape, the fastest first, at most `most`.
  std::vector<std::uint32_t> fastest(std::uint32_t shape, std::size_t most) const;
  double median_of(std::uint32_t variant, std::uint32_t shape) const;  // 0 when there is none

  Tuning tuning;

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // shape, variant
  std::vector<kernels::Params> params_;
  std::map<std::string, std::uint32_t> variants_;
  std::map<std::string, std::uint32_t> shapes_;
  std::map<Key, std::size_t> places_;  // in tuning.measurements
  std::map<Key, std::vector<double>> finals_;
  std::set<std::string> excluded_;
};

class Search {
 public:
  Search(const TuneOptions& options, Journal journal, const std::atomic<bool>& cancel,
         const std::function<void(const TuneProgress&)>& progress);

  Result<Tuning> run();

 private:
  using Make = std::function<std::optional<TimingRequest>(std::size_t number)>;
  using Order = std::function<std::optional<TimingOrder>(const TimingRequest&, std::size_t shape, const TimingResult&)>;

  double clock() const;  // seconds of all runs
  TimingPool::Clock::time_point at(double seconds) const;

  Status tune_precision(std::vector<TuneKind>& kinds, double begin, double end);
  Status explore(const TuneKind& kind, double until);
  Status range(const TuneKind& kind, double until);
  Status refine(const TuneKind& kind, double until, std::size_t pass);
  Status carry_over(const TuneKind& from, const TuneKind& to, double until);
  std::vector<std::uint32_t> racers(const TuneKind& kind);
  Status final_race(const TuneKind& kind, double until, std::size_t pass);

  // The visits that `make` gives for 0, 1, 2 ... until it gives none or the clock says `until`. Results of a generation
  // are taken in, in their order, before the next but one is made: so equal measurements make equal searches, and
  // compiling need not wait for timing.
  Status stage(const std::string& name, double until, const Make& make, const Order& order);
  void take_in(const TimingRequest& visit, const TimingResult& visited, double at_s);
  void fail(const std::string& variant, const std::string& cause);
  // The variant took too long on the shape. Its fault when another one has managed the shape, or does so later.
  void blame_late(const std::string& variant, std::uint32_t shape);
  void blame_all_late(std::uint32_t shape);
  bool too_slow(std::uint32_t shape) const;  // nobody has managed it in time
  void report(const std::string& failure = {});
  void count_tried(const std::string& variant);

  // Of so many neighbours of the elite the most promising one.
  std::optional<kernels::Params> unseen_neighbour(const std::vector<std::uint32_t>& elite, std::size_t compared,
                                                  std::mt19937& random);
  std::optional<kernels::Params> unseen_random(std::mt19937& random);
  bool unseen(const kernels::Params& params) const;
  std::optional<kernels::Params> most_promising(const std::vector<kernels::Params>& list);
  std::size_t random_family(std::mt19937& random) const;
  std::vector<kernels::Params> defaults(const TuneKind& kind) const;
  std::vector<kernels::Params> specialists(const TuneKind& kind) const;
  std::vector<kernels::Params> seeds(const TuneKind& kind) const;
  std::vector<std::uint32_t> finalists(const TuneKind& kind, std::size_t most) const;
  TuneKind make_kind(Precision precision, std::pair<bool, bool> transposes);

  const TuneOptions& options_;
  const Device& device_;
  Journal journal_;
  const std::function<void(const TuneProgress&)>& progress_;
  TimingPool pool_;
  std::chrono::steady_clock::time_point start_;
  double earlier_s_;  // of earlier runs
  TimingTable measured_;
  std::set<std::string> tried_;
  std::set<std::string> seen_;
  std::map<std::uint32_t, std::vector<std::string>> late_;  // of a shape that nobody has managed: who was late
  std::map<std::pair<std::string, std::size_t>, std::vector<std::uint32_t>> racers_;  // by kind and pass
  std::set<std::pair<std::size_t, std::uint32_t>> raced_;  // pass and shape that are taken in
  std::deque<CandidateStream> streams_;                    // of the families, for the kind that is explored
  std::vector<double> family_best_;  // smallest slowdown against the best on a probe; 0 = nothing timed
  std::string stage_;
  std::string best_;
};

}  // namespace clbake::builder
