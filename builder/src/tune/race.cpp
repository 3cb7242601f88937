#include "tune/race.hpp"

#include <clbake/builder/gemm_run.hpp>
#include "process/need.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace clbake::builder::tune {

constexpr int kPollMs = 20;
constexpr std::size_t kTimeouts = 3;  // on a shape that nobody has finished: it is too much for the device
constexpr double kHopeless = 2;       // times the best: before the finals one such call is enough
constexpr double kTurnUs = 2000;      // of a turn, at least: many calls where they are shorter than the clock's jitter
constexpr std::uint32_t kCalls = 3;   // of a turn, at least, so that the median drops one that was disturbed ...
constexpr unsigned kFinalRounds = 2;  // ... or one in each round of the finals, where variants take turns
constexpr std::uint32_t kFinalCalls = 1;

double SearchContext::budget_s() const { return options.budget.count() > 0 ? options.budget.count() : INFINITY; }

unsigned SearchContext::jobs() const {
  return options.parallel > 0 ? options.parallel : std::max(1U, std::thread::hardware_concurrency());
}

std::string stage_name(Stage stage, const GemmKind& kind) {
  constexpr const char* names[] = {"explore", "range", "refine", "finals"};
  return names[static_cast<std::size_t>(stage)] + (' ' + kind_name(kind));
}

Race::Race(SearchContext& context, Stage stage, const GemmKind& kind, std::size_t number, std::vector<Racer> racers)
    : context_(context),
      stage_(stage),
      key_(stage_name(stage, kind) + ' ' + std::to_string(number)),
      racers_(std::move(racers)) {
  if (stage == Stage::finals && racers_.size() > 1) racers_.push_back(Racer(racers_.front()));
  for (const Racer& racer : racers_) {
    names_.push_back(kernels::name(racer.params));
    all_names_ += (all_names_.empty() ? "" : " ") + names_.back();
  }
  steps_ = racers_.empty() ? 0 : racers_.front().shapes.size();
  processes_.resize(racers_.size());
}

void Race::run(double until, std::size_t end) {
  until_ = until;
  context_.results.enter(key_);
  for (; !cut_ && step_ < std::min(end, steps_); step_ += cut_ ? 0 : 1) {
    const std::string key = key_ + ' ' + std::to_string(step_);
    if (const JournalRecord* known = context_.journal.find(key, all_names_)) {
      take_in(*known);
      continue;
    }
    const bool compiled = stage_ == Stage::explore && step_ > 0;
    if (context_.clock.now() >= (compiled ? context_.budget_s() : until)) break;
    record_ = {key, all_names_, 0, std::vector<std::vector<double>>(racers_.size()), {}, {}};
    time_step();
    if (cut_) break;
    record_.at_s = context_.clock.now();
    need(context_.journal.add(record_));
    take_in(record_);
  }
  for (std::unique_ptr<TimingProcess>& process : processes_) {
    if (process) context_.processes.give_back(std::move(process));
  }
}

void Race::time_step() {
  std::vector<std::size_t> racers = wanted();
  for (bool retry = false; !racers.empty() && !cut_; retry = true) {
    again_.clear();
    compile(racers, retry);
    prepare(racers);
    const unsigned rounds = stage_ == Stage::finals ? kFinalRounds : 1;
    for (unsigned round = 0; round < rounds; ++round) take_turns(racers);
    racers = again_;
  }
}

std::vector<std::size_t> Race::wanted() const {
  std::vector<std::size_t> list;
  for (std::size_t r = 0; r < racers_.size(); ++r) {
    if (!context_.results.excluded(names_[r]) && !too_slow(r)) list.push_back(r);
  }
  return list;
}

// Nobody has finished the racer's shape, but some have timed out on it.
bool Race::too_slow(std::size_t racer) const {
  const std::uint32_t shape = shape_of(racer);
  if (context_.results.best(shape) > 0) return false;
  const auto is_shape = [&](std::size_t r) { return shape_of(r) == shape; };
  for (std::size_t r = 0; r < record_.us.size(); ++r) {
    if (is_shape(r) && !record_.us[r].empty()) return false;
  }
  const auto late = std::count_if(record_.late.begin(), record_.late.end(), is_shape);
  return static_cast<std::size_t>(late) + context_.results.late(shape) >= kTimeouts;
}

void Race::compile(const std::vector<std::size_t>& racers, bool in_new_processes) {
  in_parallel(racers, false, [&](std::size_t r) {
    const bool in_time = stage_ == Stage::finals || in_new_processes || context_.clock.now() < until_;
    if (processes_[r] || !in_time) return;
    const std::string skipped = context_.processes.skips(racers_[r].params);
    if (!skipped.empty()) record_.failures[r] = skipped;
    if (!skipped.empty()) return;
    // Turns of different devices cannot be compared as the finals do.
    const std::size_t unit = stage_ == Stage::finals ? 0 : r % context_.options.devices.size();
    processes_[r] = context_.processes.take(racers_[r].params, unit, in_new_processes);
  });
}

// Allocates, fills and checks the matrices, which takes longer than to multiply them.
void Race::prepare(const std::vector<std::size_t>& racers) {
  in_parallel(racers, false, [&](std::size_t r) {
    const Shape& shape = context_.results.tuning.shapes[shape_of(r)];
    const bool starts = processes_[r] && !processes_[r]->has_prepared(shape) && !too_slow(r);
    if (starts) processes_[r]->order({shape, 0, 0, 0}, context_.jobs());
  });
}

void Race::take_turns(const std::vector<std::size_t>& racers) {
  in_parallel(racers, true, [&](std::size_t r) {
    if (!processes_[r] || too_slow(r)) return;
    const double limit_us = stage_ == Stage::finals ? 0 : kHopeless * context_.results.best(shape_of(r));
    const std::uint32_t calls = stage_ == Stage::finals ? kFinalCalls : kCalls;
    processes_[r]->order({context_.results.tuning.shapes[shape_of(r)], calls, kTurnUs, limit_us}, 1);
  });
}

// Starts something in the process of each racer, for timing one on each device at a time, else as many as there are
// cores, and waits until all are idle.
void Race::in_parallel(std::vector<std::size_t> waiting, bool timing,
                       const std::function<void(std::size_t racer)>& start) {
  std::vector<std::size_t> busy;
  const auto is_free = [&](std::size_t racer) {
    if (!timing) return busy.size() < context_.jobs();
    return std::none_of(busy.begin(), busy.end(), [&](std::size_t other) {
      return processes_[racer] && processes_[other]->unit() == processes_[racer]->unit();
    });
  };
  while (!cut_ && !(waiting.empty() && busy.empty())) {
    if (context_.cancel) throw Failure({Code::cancelled, "interrupted"});
    cut_ = context_.clock.now() >= context_.budget_s();
    for (auto at = waiting.begin(); at != waiting.end();) {
      if (!is_free(*at)) {
        ++at;
        continue;
      }
      start(*at);
      if (processes_[*at] && processes_[*at]->busy()) busy.push_back(*at);
      at = waiting.erase(at);
    }
    std::vector<const os::LineChannel*> children;
    for (const std::size_t r : busy) children.push_back(&processes_[r]->child());
    if (!children.empty()) os::LineChannel::wait(children, kPollMs);
    for (auto at = busy.begin(); at != busy.end();) {
      std::vector<double> us;
      if (!processes_[*at]->poll(us)) {
        ++at;
        continue;
      }
      record_.us[*at].insert(record_.us[*at].end(), us.begin(), us.end());
      if (processes_[*at]->state() == TimingProcess::State::failed) failed(*at);
      at = busy.erase(at);
    }
  }
}

// An order that timed out may be the shape's fault, and an earlier variant may have broken the process: then once more,
// in a new one.
void Race::failed(std::size_t racer) {
  const std::unique_ptr<TimingProcess> process = std::move(processes_[racer]);
  record_.us[racer].clear();
  if (process->late()) {
    record_.late.push_back(racer);
  } else if (process->variants() > 1) {
    again_.push_back(racer);
  } else {
    record_.failures[racer] = process->failure();
  }
}

void Race::take_in(const JournalRecord& record) {
  Results& results = context_.results;
  for (const auto& [racer, cause] : record.failures) results.fail(names_[racer], cause);
  const bool finals = stage_ == Stage::finals;
  const std::size_t twin = finals && racers_.size() > 1 ? racers_.size() - 1 : racers_.size();
  for (std::size_t r = 0; r < racers_.size(); ++r) {
    const std::vector<double>& us = record.us[r];
    if (us.empty()) continue;
    if (r != twin) results.add(racers_[r].params, shape_of(r), us, finals);
    if (r == twin && !record.us[0].empty()) results.add_noise(median(record.us[0]) / median(us));
  }
  for (const std::size_t racer : record.late) results.add_late(names_[racer], shape_of(racer));
  results.report();
}

}  // namespace clbake::builder::tune
