#include "tune/timing_process.hpp"

#include <algorithm>
#include <list>

namespace clbake::builder {
namespace {

constexpr unsigned kLateVisits = 3;  // so many without a success: the shape is too much for this device

}  // namespace

TimingPool::TimingPool(Options options, const std::atomic<bool>& cancel)
    : options_(std::move(options)), cancel_(cancel) {}
TimingPool::~TimingPool() = default;

Result<std::unique_ptr<TimingPool::Process>> TimingPool::process_for(const kernels::Params& params, std::size_t unit) {
  const auto of_unit = [&](const auto& process) { return process->unit() == unit; };
  const auto at = std::find_if(spare_.begin(), spare_.end(), of_unit);
  if (at == spare_.end()) return Process::start(options_, params, processes_++, unit);
  std::unique_ptr<Process> process = std::move(*at);
  spare_.erase(at);
  const Status told = process->next(options_.target, params);
  if (!told) return told;
  return process;
}

void TimingPool::take_back(std::unique_ptr<Process> process) {
  const bool usable = process->state() == Process::State::idle && process->variants() < options_.variants_per_process;
  if (usable) spare_.push_back(std::move(process));
}

// The visits that are under way.
class TimingPool::TimingQueue {
 public:
  TimingQueue(TimingPool& pool, const TimingPool::Callbacks& callbacks)
      : pool_(pool), options_(pool.options_), callbacks_(callbacks) {}

  bool over() const { return no_more_ && guests_.empty(); }

  Status start() {
    // Where compiling and timing would disturb each other they take turns: compile until enough wait.
    if (options_.shares_cores && timing_phase_) return {};
    while (!no_more_ && count(State::compiling) < options_.parallel && guests_.size() < most()) {
      TimingRequest visit;
      const TimingPool::Next next = callbacks_.next(visit);
      if (next == TimingPool::Next::end) no_more_ = true;
      if (next != TimingPool::Next::visit) break;
      auto guest = std::make_unique<ActiveTiming>();
      guest->number = started_;
      Result<std::unique_ptr<Process>> process = pool_.process_for(visit.params, started_ % options_.units);
      if (!process) return process.status();
      guest->visit = std::move(visit);
      guest->process = std::move(*process);
      guests_.push_back(std::move(guest));
      ++started_;
    }
    return {};
  }

  void look() {
    for (auto at = guests_.begin(); at != guests_.end();) {
      ActiveTiming& guest = **at;
      const bool timed = guest.state() == State::timing;
      std::vector<double> times;
      const bool news = guest.process->look(times);
      if (news && timed && guest.state() == State::idle) {
        if (!times.empty()) pool_.managed_.insert(name(guest.shape()));
        guest.visited.us.push_back(std::move(times));
      }
      const bool out = guest.state() == State::out && !forgive(guest) && !restart(guest);
      if (out) guest.visited.failure = guest.process->failure();
      at = out ? leave(at) : std::next(at);
    }
  }

  // Gives every unit that is free something to time.
  void give_turns() {
    if (options_.shares_cores) {
      if (count(State::compiling) > 0) return;
      timing_phase_ = !guests_.empty();
    }
    for (std::size_t unit = 0; unit < options_.units; ++unit) {
      if (free(unit)) give_turn(unit);
    }
    if (guests_.empty()) timing_phase_ = false;
  }

  void wait() const { wait_for(guests_); }

 private:
  using State = Process::State;
  struct ActiveTiming {
    std::size_t number = 0;
    TimingRequest visit;
    TimingResult visited;
    std::unique_ptr<Process> process;
    State state() const { return process->state(); }
    const Shape& shape() const { return visit.shapes[visited.us.size()]; }  // the next one, or the one under way
    bool busy() const { return process->busy(); }
    const LineChannel& child() const { return process->child(); }
  };
  using Guests = std::list<std::unique_ptr<ActiveTiming>>;

  // Whoever was in the process before may have left it broken: once more, alone. False when nobody was.
  bool restart(ActiveTiming& guest) {
    if (guest.process->variants() == 1 || !start_anew(guest)) return false;
    guest.visited = {};
    return true;
  }

  bool start_anew(ActiveTiming& guest) {
    Result<std::unique_ptr<Process>> process =
        Process::start(options_, guest.visit.params, pool_.processes_++, guest.process->unit());
    if (process) guest.process = std::move(*process);
    return process.ok();
  }

  bool managed(const ActiveTiming& guest) const {
    return guest.visit.best_us[guest.visited.us.size()] > 0 || pool_.managed_.count(name(guest.shape())) > 0;
  }

  // Who is late on a shape that nobody has managed goes on with the next one.
  bool forgive(ActiveTiming& guest) {
    if (!guest.process->late() || managed(guest) || !start_anew(guest)) return false;
    ++pool_.late_[name(guest.shape())];
    guest.visited.late.push_back(guest.visited.us.size());
    guest.visited.us.emplace_back();
    return true;
  }

  // Whether so many have been late that nobody else needs to try.
  bool too_slow(const ActiveTiming& guest) const {
    const auto late = pool_.late_.find(name(guest.shape()));
    return late != pool_.late_.end() && late->second >= kLateVisits && !managed(guest);
  }

  std::size_t most() const { return options_.parallel + options_.waiting; }

  std::size_t count(State state) const {
    return static_cast<std::size_t>(
        std::count_if(guests_.begin(), guests_.end(), [&](const auto& guest) { return guest->state() == state; }));
  }

  bool free(std::size_t unit) const {
    return std::none_of(guests_.begin(), guests_.end(), [&](const auto& guest) {
      return guest->process->unit() == unit && guest->state() == State::timing;
    });
  }

  // The oldest guest goes on until it has nothing left to time.
  void give_turn(std::size_t unit) {
    for (auto at = guests_.begin(); at != guests_.end();) {
      ActiveTiming& guest = **at;
      if (guest.process->unit() != unit || guest.state() != State::idle) {
        ++at;
        continue;
      }
      std::vector<std::vector<double>>& us = guest.visited.us;
      const std::size_t count = guest.visit.shapes.size();
      while (us.size() < count && too_slow(guest)) us.emplace_back();
      std::optional<TimingOrder> order;
      if (us.size() < count) order = callbacks_.order(guest.visit, us.size(), guest.visited);
      if (order) {
        guest.process->order(*order);
        return;
      }
      at = leave(at);
    }
  }

  Guests::iterator leave(Guests::iterator at) {
    const std::unique_ptr<ActiveTiming> guest = std::move(*at);
    const auto next = guests_.erase(at);
    pool_.take_back(std::move(guest->process));
    callbacks_.done(guest->number, guest->visit, std::move(guest->visited));
    return next;
  }

  TimingPool& pool_;
  const Options& options_;
  const Callbacks& callbacks_;
  Guests guests_;  // oldest first
  std::size_t started_ = 0;
  bool no_more_ = false;
  bool timing_phase_ = false;
};

Status TimingPool::visit(const Callbacks& callbacks, Clock::time_point deadline) {
  TimingQueue visits(*this, callbacks);
  do {  // once in any case: some visits need no time, as they are known
    Status status = check_cancel(cancel_);
    if (status) status = visits.start();
    if (!status) return status;
    visits.look();
    visits.give_turns();
    if (visits.over()) return {};
    visits.wait();
  } while (Clock::now() < deadline);
  return {};
}

}  // namespace clbake::builder
