#include "tune/search.hpp"

#include <clbake/builder/gemm_run.hpp>

#include "profile/coverage.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace clbake::builder {
namespace {

constexpr std::size_t kRaced = 10;   // variants of a kind
constexpr double kMeanGain = 0.005;  // a racer has to promise less than a winner has to gain (conclude.cpp)
constexpr double kSingleGain = 0.1;
constexpr unsigned kRounds = 5;
constexpr unsigned kFirstRounds = 3;  // of the first race
constexpr unsigned kLongRounds = 2;   // of calls that are long enough to be measured well in few rounds
constexpr double kLongUs = 10000;
constexpr double kTurnUs = 2000;
constexpr double kOutOfRace = 2;  // times the best

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

bool managed(const std::vector<std::vector<double>>& turns) {
  return std::any_of(turns.begin(), turns.end(), [](const auto& us) { return !us.empty(); });
}

}  // namespace

// The default variants, which every bundle holds, those that are made for few shapes, whatever a glance at them said,
// and the few that promise to be faster.
std::vector<std::uint32_t> Search::racers(const TuneKind& kind) {
  std::vector<std::uint32_t> list;
  const auto add = [&](const kernels::Params& p) {
    if (!measured_.excluded(kernels::name(p))) list.push_back(measured_.variant(p));
  };
  if (options_.shard == 1) {  // one part of them is enough
    for (const kernels::Params& p : defaults(kind)) add(p);
    for (const kernels::Params& p : specialists(kind)) {
      if (tried_.count(kernels::name(p)) > 0) add(p);
    }
  }
  for (const std::uint32_t v : Times(measured_.tuning).cover(kind.shapes, kRaced, kMeanGain, kSingleGain, list)) {
    if (std::find(list.begin(), list.end(), v) == list.end()) list.push_back(v);
  }
  return list;
}

// In turns, on all shapes.
Status Search::final_race(const TuneKind& kind, double until, std::size_t pass) {
  stage_ = "finals " + kind.name();
  // A race that time cut short goes on with the same ones.
  std::vector<std::uint32_t>& racers = racers_[{kind.name(), pass}];
  if (racers.empty()) racers = this->racers(kind);
  std::vector<kernels::Params> params;
  std::vector<std::string> names;
  for (const std::uint32_t v : racers) {
    params.push_back(measured_.params(v));
    names.push_back(measured_.tuning.variants[v]);
    count_tried(names.back());
  }
  // A variant that turned out to be wrong in this race before an interruption.
  const auto out_key = [&](std::size_t v) { return "out " + std::to_string(pass) + ' ' + names[v]; };
  for (std::size_t v = 0; v < names.size(); ++v) {
    if (measured_.excluded(names[v])) continue;
    if (const JournalRecord* known = journal_.find(out_key(v), names[v])) fail(names[v], known->failure);
  }
  std::vector<std::uint32_t> shapes = kind.shapes;
  if (pass == 0) shapes.insert(shapes.end(), kind.grid.begin(), kind.grid.end());

  const auto key = [&](std::uint32_t shape) {
    return "finals " + std::to_string(pass) + ' ' + name(measured_.tuning.shapes[shape]);
  };
  using Turns = std::vector<std::vector<double>>;  // of each racer
  const auto take_in_turns = [&](std::uint32_t shape, const Turns& us) {
    raced_.insert({pass, shape});
    for (std::size_t v = 0; v < racers.size() && v < us.size(); ++v) measured_.add(racers[v], shape, us[v], true);
  };
  std::vector<TimingOrder> orders;
  std::vector<std::uint32_t> open;  // the orders' shapes
  for (const std::uint32_t shape : shapes) {
    if (raced_.count({pass, shape}) > 0) continue;
    const JournalRecord* known = journal_.find(key(shape), joined(names));
    if (known) {
      if (!managed(known->us)) late_[shape];
      take_in_turns(shape, known->us);
      continue;
    }
    if (too_slow(shape)) continue;
    open.push_back(shape);
    orders.push_back({measured_.tuning.shapes[shape], 1, kTurnUs, 0, true});
  }
  if (orders.empty() || params.empty() || clock() >= until) return {};

  Status disk;
  Turns now(racers.size());
  std::map<std::size_t, std::string> late;  // on a shape that nobody has managed: the causes, should somebody do so
  std::size_t at_order = 0;
  const auto finish_order = [&] {
    take_in_turns(open[at_order], now);
    const Status written = journal_.add({key(open[at_order]), joined(names), {}, clock(), now});
    if (!written) disk = written;
    if (!managed(now)) late_[open[at_order]];  // later races need not try
    now.assign(racers.size(), {});
    late.clear();
    report();
  };
  const auto out = [&](std::size_t v, const std::string& cause) {
    if (measured_.excluded(names[v])) return;  // known already
    const Status written = journal_.add({out_key(v), names[v], cause, clock(), {}});
    if (!written) disk = written;
    fail(names[v], cause);
  };
  TimingPool::RaceCallbacks callbacks;
  callbacks.turn = [&](std::size_t v, std::size_t order, const std::vector<double>& us) {
    for (; at_order < order; ++at_order) finish_order();
    now[v].insert(now[v].end(), us.begin(), us.end());
    for (const auto& [who, cause] : std::exchange(late, {})) out(who, cause);
  };
  callbacks.late = [&](std::size_t v, std::size_t order, const std::string& cause) {
    for (; at_order < order; ++at_order) finish_order();
    if (managed(now) || measured_.best(open[order]) > 0) return false;
    late[v] = cause;
    return true;
  };
  callbacks.wanted = [&](std::size_t v, std::size_t order, unsigned round) {
    if (measured_.excluded(names[v])) return false;
    for (; at_order < order; ++at_order) finish_order();
    if (late.count(v) > 0) return false;
    if (round == 0) return true;
    double best = std::numeric_limits<double>::infinity();
    for (const auto& us : now) best = us.empty() ? best : std::min(best, median(us));
    if (round >= kLongRounds && best > kLongUs) return false;
    return now[v].empty() || median(now[v]) <= kOutOfRace * best;
  };
  callbacks.failed = [&](std::size_t v, const std::string& cause) { out(v, cause); };
  const Status raced = pool_.race(params, orders, pass == 0 ? kFirstRounds : kRounds, callbacks, at(until));
  if (raced && clock() < until) {
    for (; at_order < open.size(); ++at_order) finish_order();
  }
  return disk ? raced : disk;
}

}  // namespace clbake::builder
