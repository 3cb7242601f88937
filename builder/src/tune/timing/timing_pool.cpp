#include "tune/timing/timing_process.hpp"

#include <algorithm>
#include <list>
#include <thread>

namespace clbake::builder {
namespace {

constexpr unsigned kTimeoutsOfAShape = 3;       // after so many without a success nothing else is timed on the shape
constexpr unsigned kVariantsPerProcess = 100;   // of a GPU, where a context takes a second or two
constexpr unsigned kLargestBatch = 64;          // variants that are compiled before they are timed
constexpr std::chrono::seconds kLastAnswer{5};  // for a process whose answer nobody waits for any more

}  // namespace

// Where compiling stops for timing, a batch is compiled first; elsewhere enough that the devices never wait.
TimingPool::TimingPool(const TuneOptions& options, const std::atomic<bool>& cancel)
    : options_(options),
      cancel_(cancel),
      shares_cores_(options.devices.front().type == kernels::DeviceType::cpu),
      units_(shares_cores_ ? 1 : options.devices.size()),
      parallel_(options.parallel ? options.parallel : std::max(1u, std::thread::hardware_concurrency())),
      waiting_(shares_cores_ ? std::min(6 * parallel_, kLargestBatch) : 2 * static_cast<unsigned>(units_) + 2),
      variants_per_process_(shares_cores_ ? 1 : kVariantsPerProcess) {}

TimingPool::~TimingPool() = default;

Result<std::unique_ptr<TimingPool::Process>> TimingPool::new_process(const kernels::Params& params, std::size_t unit) {
  return Process::start(options_, params, processes_++, unit);
}

Result<std::unique_ptr<TimingPool::Process>> TimingPool::process_for(const kernels::Params& params, std::size_t unit) {
  std::unique_ptr<Process> process = take_spare(unit);
  if (!process) return new_process(params, unit);
  const Status sent = process->next(options_.devices.front().target, params);
  if (!sent) return sent;
  return process;
}

// A process that is still at work at a deadline is kept: it will soon be idle, and new contexts for all variants of a
// race take longer than many of its shapes.
void TimingPool::take_back(std::unique_ptr<Process> process) {
  const bool usable = process->state() != Process::State::failed && process->variants() < variants_per_process_;
  if (usable) spare_.push_back(std::move(process));
}

// An idle process of the unit, null when there is none. First waits for all busy ones, which would disturb what is
// timed next, but drops those that take too long.
std::unique_ptr<TimingPool::Process> TimingPool::take_spare(std::size_t unit) {
  const Clock::time_point give_up = Clock::now() + kLastAnswer;
  const auto remove = [&](const auto& unwanted) {
    spare_.erase(std::remove_if(spare_.begin(), spare_.end(), unwanted), spare_.end());
  };
  const auto busy = [&](const auto& process) { return process->unit() == unit && process->busy(); };
  while (true) {
    std::vector<double> ignored;
    for (const auto& process : spare_) process->poll(ignored);
    remove([](const auto& process) { return process->state() == Process::State::failed; });
    if (std::any_of(spare_.begin(), spare_.end(), busy)) {
      if (cancel_ || Clock::now() >= give_up) remove(busy);
      wait_for(spare_);
      continue;
    }
    const auto idle = std::find_if(spare_.begin(), spare_.end(), [&](const auto& process) {
      return process->unit() == unit && process->state() == Process::State::idle;
    });
    if (idle != spare_.end()) {
      std::unique_ptr<Process> process = std::move(*idle);
      spare_.erase(idle);
      return process;
    }
    return nullptr;
  }
}

// The requests that are under way.
class TimingPool::Queue {
 public:
  Queue(TimingPool& pool, const TimingPool::Callbacks& callbacks) : pool_(pool), callbacks_(callbacks) {}

  bool over() const { return no_more_ && active_.empty(); }

  Status start() {
    if (pool_.shares_cores_ && timing_phase_) return {};
    while (!no_more_ && count(State::compiling) < pool_.parallel_ &&
           active_.size() < pool_.parallel_ + pool_.waiting_) {
      TimingRequest request;
      const TimingPool::Next next = callbacks_.next(request);
      if (next == TimingPool::Next::end) no_more_ = true;
      if (next != TimingPool::Next::request) break;
      const std::string skipped = pool_.hanging_.skips(0, request.params.vector_width);
      if (!skipped.empty()) {
        callbacks_.done(request, {skipped, {}, {}});
        break;  // cancelling is looked at in between
      }
      auto timing = std::make_unique<ActiveTiming>();
      Result<std::unique_ptr<Process>> process = pool_.process_for(request.params, started_ % pool_.units_);
      if (!process) return process.status();
      timing->request = std::move(request);
      timing->process = std::move(*process);
      active_.push_back(std::move(timing));
      ++started_;
    }
    return {};
  }

  // Takes in what the processes have answered.
  void poll() {
    for (auto at = active_.begin(); at != active_.end();) {
      ActiveTiming& timing = **at;
      const State before = timing.state();
      std::vector<double> times;
      const bool news = timing.process->poll(times);
      if (news && before == State::timing && timing.state() == State::idle) {
        if (!times.empty()) pool_.finished_.insert(name(timing.shape()));
        timing.result.us.push_back(std::move(times));
      }
      const bool failed = timing.state() == State::failed && !skip_shape(timing) && !retry(timing);
      if (failed) timing.result.failure = timing.process->failure();
      if (before == State::compiling && timing.state() != State::compiling) {
        pool_.hanging_.ended(0, timing.request.params.vector_width, timing.process->hung());
      }
      at = failed ? finish(at) : std::next(at);
    }
  }

  // Gives every free device something to time.
  void give_turns() {
    if (pool_.shares_cores_) {
      if (count(State::compiling) > 0) return;
      timing_phase_ = !active_.empty();
    }
    for (std::size_t unit = 0; unit < pool_.units_; ++unit) {
      if (is_free(unit)) give_turn(unit);
    }
    if (active_.empty()) timing_phase_ = false;
  }

  void wait() const { wait_for(active_); }

 private:
  using State = Process::State;
  struct ActiveTiming {
    TimingRequest request;
    TimingResult result;
    std::unique_ptr<Process> process;
    State state() const { return process->state(); }
    const Shape& shape() const { return request.shapes[result.us.size()]; }  // the next one, or the one under way
    bool busy() const { return process->busy(); }
    const LineChannel& child() const { return process->child(); }
  };
  using Active = std::list<std::unique_ptr<ActiveTiming>>;

  // An earlier variant may have broken the process: once more, in a new one. False when there was no earlier variant.
  bool retry(ActiveTiming& timing) {
    if (timing.process->variants() == 1 || !replace_process(timing)) return false;
    timing.result = {};
    return true;
  }

  bool replace_process(ActiveTiming& timing) {
    Result<std::unique_ptr<Process>> process = pool_.new_process(timing.request.params, timing.process->unit());
    if (process) timing.process = std::move(*process);
    return process.ok();
  }

  bool finished_by_any(const ActiveTiming& timing) const {
    return timing.request.best_us[timing.result.us.size()] > 0 || pool_.finished_.count(name(timing.shape())) > 0;
  }

  // A variant that times out on a shape that no variant has finished goes on with its next shape.
  bool skip_shape(ActiveTiming& timing) {
    if (!timing.process->late() || finished_by_any(timing) || !replace_process(timing)) return false;
    ++pool_.timeouts_[name(timing.shape())];
    timing.result.late.push_back(timing.result.us.size());
    timing.result.us.emplace_back();
    return true;
  }

  bool too_slow(const ActiveTiming& timing) const {
    const auto timeouts = pool_.timeouts_.find(name(timing.shape()));
    return timeouts != pool_.timeouts_.end() && timeouts->second >= kTimeoutsOfAShape && !finished_by_any(timing);
  }

  std::size_t count(State state) const {
    return static_cast<std::size_t>(
        std::count_if(active_.begin(), active_.end(), [&](const auto& timing) { return timing->state() == state; }));
  }

  bool is_free(std::size_t unit) const {
    return std::none_of(active_.begin(), active_.end(), [&](const auto& timing) {
      return timing->process->unit() == unit && timing->state() == State::timing;
    });
  }

  // To the oldest request of the unit that has something left to time.
  void give_turn(std::size_t unit) {
    for (auto at = active_.begin(); at != active_.end();) {
      ActiveTiming& timing = **at;
      if (timing.process->unit() != unit || timing.state() != State::idle) {
        ++at;
        continue;
      }
      std::vector<std::vector<double>>& us = timing.result.us;
      const std::size_t count = timing.request.shapes.size();
      while (us.size() < count && too_slow(timing)) us.emplace_back();
      std::optional<TimingOrder> order;
      if (us.size() < count) order = callbacks_.order(timing.request, us.size(), timing.result);
      if (order) {
        timing.process->order(*order);
        return;
      }
      at = finish(at);
    }
  }

  Active::iterator finish(Active::iterator at) {
    const std::unique_ptr<ActiveTiming> timing = std::move(*at);
    const auto next = active_.erase(at);
    pool_.take_back(std::move(timing->process));
    callbacks_.done(timing->request, std::move(timing->result));
    return next;
  }

  TimingPool& pool_;
  const Callbacks& callbacks_;
  Active active_;  // oldest first
  std::size_t started_ = 0;
  bool no_more_ = false;
  bool timing_phase_ = false;  // where the device shares cores: nothing compiles now
};

Status TimingPool::run(const Callbacks& callbacks, Clock::time_point deadline) {
  Queue queue(*this, callbacks);
  do {  // at least once: results that the journal knows take no time
    Status status = check_cancel(cancel_);
    if (status) status = queue.start();
    if (!status) return status;
    queue.poll();
    queue.give_turns();
    if (queue.over()) return {};
    queue.wait();
  } while (Clock::now() < deadline);
  return {};
}

}  // namespace clbake::builder
