#include "tune/timing_process.hpp"

#include <algorithm>

namespace clbake::builder {

// Variants in turns.
class TimingPool::Race {
 public:
  Race(TimingPool& pool, const RaceCallbacks& callbacks, Clock::time_point deadline)
      : pool_(pool), callbacks_(callbacks), deadline_(deadline) {}
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;
  ~Race() {
    for (auto& process : processes_) pool_.take_back(std::move(process));
  }

  // Until all of them are compiled.
  Status start(const std::vector<kernels::Params>& variants) {
    variants_ = variants;
    for (bool compiling = true; compiling || processes_.size() < variants.size();) {
      if (over()) return check_cancel(pool_.cancel_);
      const auto count = static_cast<unsigned>(std::count_if(
          processes_.begin(), processes_.end(), [](const auto& p) { return p->state() == State::compiling; }));
      if (processes_.size() < variants.size() && count < pool_.options_.parallel) {
        Result<std::unique_ptr<Process>> process = pool_.process_for(variants[processes_.size()], 0);
        if (!process) return process.status();
        processes_.push_back(std::move(*process));
      }
      compiling = look();
      if (compiling) wait_for(processes_);
    }
    return {};
  }

  Status turns(const std::vector<TimingOrder>& orders, unsigned rounds) {
    for (std::size_t o = 0; o < orders.size(); ++o) {
      at_ = o;
      prepare(orders[o]);
      for (unsigned round = 0; round < rounds; ++round) {
        for (std::size_t v = 0; v < processes_.size(); ++v) {
          if (over()) return check_cancel(pool_.cancel_);
          const bool wanted = !callbacks_.wanted || callbacks_.wanted(v, o, round);
          if (wanted && processes_[v]->state() == State::idle) turn(v, o, orders[o]);
        }
      }
    }
    return {};
  }

 private:
  using State = Process::State;

  bool over() const { return pool_.cancel_ || Clock::now() >= deadline_; }

  // True while one is compiling.
  bool look() {
    bool compiling = false;
    for (std::size_t v = 0; v < processes_.size(); ++v) {
      if (processes_[v]->look(times_) && processes_[v]->state() == State::out) failed(v);
      compiling = compiling || processes_[v]->state() == State::compiling;
    }
    return compiling;
  }

  // All at once make the matrices and check their results: large ones take longer to make than to multiply.
  void prepare(TimingOrder order) {
    settle();
    order.runs = 0;
    for (const auto& process : processes_) {
      if (process->state() == State::idle) process->order(order, processes_.size());
    }
    settle();
  }

  // Until none of them is busy.
  void settle() {
    while (!over()) {
      look();
      const bool busy = std::any_of(processes_.begin(), processes_.end(), [](const auto& p) { return p->busy(); });
      if (!busy) return;
      wait_for(processes_);
    }
  }

  // To its end, with nothing beside it; dropped when the time is over.
  void turn(std::size_t v, std::size_t number, const TimingOrder& order) {
    Process& process = *processes_[v];
    process.order(order);
    while (!process.look(times_)) {
      if (over()) return;
      LineChannel::wait({&process.child()}, kTimingPollMs);
    }
    if (process.state() == State::out) {
      failed(v);
      settle();
      const bool again = !callbacks_.wanted || callbacks_.wanted(v, number, 0);
      if (again && processes_[v]->state() == State::idle) turn(v, number, order);
      return;
    }
    if (!times_.empty()) callbacks_.turn(v, number, times_);
  }

  // It is out of the race, unless the shape is to blame; of a process that others used before nobody knows whose fault
  // that is: once more, alone.
  void failed(std::size_t v) {
    const Process& process = *processes_[v];
    const bool forgiven = process.late() && callbacks_.late && callbacks_.late(v, at_, process.failure());
    if (!forgiven && process.variants() == 1) return callbacks_.failed(v, process.failure());
    Result<std::unique_ptr<Process>> alone = Process::start(pool_.options_, variants_[v], pool_.processes_++, 0);
    if (alone) processes_[v] = std::move(*alone);
  }

  TimingPool& pool_;
  const RaceCallbacks& callbacks_;
  Clock::time_point deadline_;
  std::vector<kernels::Params> variants_;
  std::vector<std::unique_ptr<Process>> processes_;  // of each variant
  std::vector<double> times_;
  std::size_t at_ = 0;  // the order under way
};

Status TimingPool::race(const std::vector<kernels::Params>& variants, const std::vector<TimingOrder>& orders,
                        unsigned rounds, const RaceCallbacks& callbacks, Clock::time_point deadline) {
  Race race(*this, callbacks, deadline);
  const Status started = race.start(variants);
  return started ? race.turns(orders, rounds) : started;
}

}  // namespace clbake::builder
