#include "tune/final_race.hpp"

#include <clbake/builder/gemm_run.hpp>

#include "profile/coverage.hpp"
#include "tune/schedule.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace clbake::builder {
namespace {

constexpr std::size_t kRacers = 12;   // besides the default variants, the specialists and the prior's
constexpr unsigned kFirstRounds = 3;  // of pass 0
constexpr unsigned kRounds = 5;
constexpr unsigned kLongRounds = 2;  // of shapes on which a call is long enough to be measured well in few rounds
constexpr double kLongUs = 10000;
constexpr double kTurnUs = 2000;
constexpr double kHopeless = 2;  // times the best: no further rounds on this shape

using Turns = std::vector<std::vector<double>>;  // microseconds of the calls, by racer

bool any_finished(const Turns& turns) {
  return std::any_of(turns.begin(), turns.end(), [](const auto& us) { return !us.empty(); });
}

// One race of one precision and pair of transposes.
class FinalRace {
 public:
  FinalRace(SearchContext& context, std::size_t pass, const std::vector<std::uint32_t>& racers,
            std::set<std::pair<std::size_t, std::uint32_t>>& done)
      : context_(context),
        results_(context.results),
        table_(results_.table),
        pass_(pass),
        racers_(racers),
        done_(done) {
    if (racers_.size() > 1) racers_.push_back(racers_.front());  // beside itself it shows what is noise
    for (const std::uint32_t v : racers_) {
      params_.push_back(table_.params(v));
      names_.push_back(table_.tuning.variants[v]);
      results_.count_tried(names_.back());
      all_names_ += (all_names_.empty() ? "" : " ") + names_.back();
    }
    turns_.resize(racers_.size());
  }

  // Takes in which racers failed in this race before an interruption, and the shapes that the journal knows.
  void resume(const std::vector<std::uint32_t>& shapes) {
    for (const std::string& name : names_) {
      const JournalRecord* known = context_.journal.find(race_failure_key(pass_, name), name);
      if (known && !table_.excluded(name)) results_.fail(name, known->failure);
    }
    for (const std::uint32_t shape : shapes) {
      if (done_.count({pass_, shape}) > 0) continue;
      const JournalRecord* known = context_.journal.find(key_of(shape), all_names_);
      if (known) {
        take_in(shape, known->us);
      } else if (!results_.too_slow(shape)) {
        shapes_.push_back(shape);
        orders_.push_back({table_.tuning.shapes[shape], 1, kTurnUs, 0});
      }
    }
  }

  Status run(const SharedTime& time) {
    TuneClock& clock = context_.clock;
    const double begin = clock.now();
    if (orders_.empty() || params_.empty() || begin >= time.end) return {};
    TimingPool::TurnCallbacks callbacks;
    callbacks.turn = [this](std::size_t v, std::size_t order, const std::vector<double>& us) { turn(v, order, us); };
    callbacks.late = [this](std::size_t v, std::size_t order, const std::string& cause) {
      return shape_to_blame(v, order, cause);
    };
    callbacks.wanted = [this](std::size_t v, std::size_t order, unsigned round) { return wanted(v, order, round); };
    callbacks.failed = [this](std::size_t v, const std::string& cause) { fail(v, cause); };
    // The budget of a calibration is for timing alone: compiling takes longer than that on a CPU.
    const bool compiling_counts = context_.options.strategy != Strategy::calibrate;
    double until = time.end;
    callbacks.compiled = [&] {
      if (!compiling_counts) clock.set_back(begin);
      until = race_deadline(clock.now(), time, clock.now() - begin);
      return clock.at(until);
    };
    const auto deadline = compiling_counts ? clock.at(time.end) : TimingPool::Clock::time_point::max();
    const unsigned rounds = pass_ == 0 ? kFirstRounds : kRounds;
    const Status raced = context_.pool.take_turns(params_, orders_, rounds, callbacks, deadline);
    if (raced && clock.now() < until) finish_orders_before(shapes_.size());
    return journal_status_ ? raced : journal_status_;
  }

 private:
  std::string key_of(std::uint32_t shape) const { return race_key(pass_, table_.tuning.shapes[shape]); }

  void take_in(std::uint32_t shape, const Turns& turns) {
    if (!any_finished(turns)) results_.no_racer_finished(shape);
    done_.insert({pass_, shape});
    for (std::size_t v = 0; v < racers_.size() && v < turns.size(); ++v) table_.add(racers_[v], shape, turns[v], true);
    const bool beside_itself = turns.size() > 1 && turns.size() == racers_.size();
    if (beside_itself && !turns.front().empty() && !turns.back().empty()) {
      table_.add_noise(median(turns.front()) / median(turns.back()));
    }
  }

  void turn(std::size_t v, std::size_t order, const std::vector<double>& us) {
    finish_orders_before(order);
    turns_[v].insert(turns_[v].end(), us.begin(), us.end());
    for (const auto& [racer, cause] : std::exchange(late_, {})) fail(racer, cause);
  }

  bool shape_to_blame(std::size_t v, std::size_t order, const std::string& cause) {
    finish_orders_before(order);
    if (any_finished(turns_) || table_.best(shapes_[order]) > 0) return false;
    late_[v] = cause;
    return true;
  }

  bool wanted(std::size_t v, std::size_t order, unsigned round) {
    if (table_.excluded(names_[v])) return false;
    finish_orders_before(order);
    if (late_.count(v) > 0) return false;
    if (round == 0) return true;
    double best = std::numeric_limits<double>::infinity();
    for (const auto& us : turns_) best = us.empty() ? best : std::min(best, median(us));
    if (round >= kLongRounds && best > kLongUs) return false;
    return turns_[v].empty() || median(turns_[v]) <= kHopeless * best;
  }

  void fail(std::size_t v, const std::string& cause) {
    if (table_.excluded(names_[v])) return;
    write({race_failure_key(pass_, names_[v]), names_[v], cause, context_.clock.now(), {}});
    results_.fail(names_[v], cause);
  }

  // The pool has gone on to a later order, so these are complete.
  void finish_orders_before(std::size_t end) {
    for (; order_ < end; ++order_) {
      take_in(shapes_[order_], turns_);
      write({key_of(shapes_[order_]), all_names_, {}, context_.clock.now(), turns_});
      turns_.assign(racers_.size(), {});
      late_.clear();
      results_.report();
    }
  }

  void write(JournalRecord record) {
    const Status written = context_.journal.add(std::move(record));
    if (!written) journal_status_ = written;
  }

  SearchContext& context_;
  Results& results_;
  TimingTable& table_;
  std::size_t pass_;
  std::vector<std::uint32_t> racers_;
  std::set<std::pair<std::size_t, std::uint32_t>>& done_;
  std::vector<kernels::Params> params_;  // of the racers
  std::vector<std::string> names_;
  std::string all_names_;
  std::vector<TimingOrder> orders_;
  std::vector<std::uint32_t> shapes_;        // of the orders
  std::size_t order_ = 0;                    // under way
  Turns turns_;                              // of this order
  std::map<std::size_t, std::string> late_;  // racers that timed out before any finished this order, and the causes
  Status journal_status_;
};

}  // namespace

// The default variants, which every bundle has; then those that the user names, or else the specialists that were
// tried, those of the prior, and the few that promise to gain most.
std::vector<std::uint32_t> FinalRaces::choose_racers(const KindShapes& shapes) const {
  TimingTable& table = context_.results.table;
  std::vector<std::uint32_t> list;
  const auto add = [&](const kernels::Params& p) {
    const std::uint32_t v = table.variant(p);
    if (!table.excluded(kernels::name(p)) && std::find(list.begin(), list.end(), v) == list.end()) list.push_back(v);
  };
  if (context_.options.shard == 1) {  // in one shard is enough
    for (const kernels::Params& p : proposals_.defaults(shapes.kind)) add(p);
    if (context_.options.strategy == Strategy::variants) {
      for (const kernels::Params& p : context_.options.variants) {
        if (p.kind() == shapes.kind) add(p);
      }
      return list;
    }
    for (const kernels::Params& p : proposals_.specialists(shapes.kind)) {
      if (context_.results.tried(kernels::name(p))) add(p);
    }
    for (const kernels::Params& p : proposals_.known(shapes.kind)) add(p);
  }
  for (const std::uint32_t v : Times(table.tuning).cover(shapes.list, kRacers, list)) {
    if (std::find(list.begin(), list.end(), v) == list.end()) list.push_back(v);
  }
  return list;
}

Status FinalRaces::race(const KindShapes& shapes, std::size_t pass, const SharedTime& time) {
  context_.results.enter({Stage::final_race, shapes.kind});
  // A race that was cut short goes on with the same racers.
  std::vector<std::uint32_t>& racers = racers_[{shapes.kind, pass}];
  if (racers.empty()) racers = choose_racers(shapes);
  const std::vector<std::uint32_t> list = pass == 0 ? in_turn(shapes.list, shapes.grid) : shapes.list;
  FinalRace race(context_, pass, racers, done_);
  race.resume(list);
  return race.run(time);
}

}  // namespace clbake::builder
