#include "tune/timing/timing_process.hpp"

#include <algorithm>

namespace clbake::builder {

// Variants that take turns on one device.
class TimingPool::Turns {
 public:
  Turns(TimingPool& pool, const TurnCallbacks& callbacks, Clock::time_point deadline)
      : pool_(pool), callbacks_(callbacks), deadline_(deadline) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;
  ~Turns() {
    for (auto& process : processes_) pool_.take_back(std::move(process));
  }

  // Waits until all are compiled.
  Status start(const std::vector<kernels::Params>& variants) {
    variants_ = variants;
    for (bool compiling = true; compiling || processes_.size() < variants.size();) {
      if (over()) return check_cancel(pool_.cancel_);
      const auto count = static_cast<unsigned>(std::count_if(
          processes_.begin(), processes_.end(), [](const auto& p) { return p->state() == State::compiling; }));
      if (processes_.size() < variants.size() && count < pool_.parallel_) {
        Result<std::unique_ptr<Process>> process = pool_.process_for(variants[processes_.size()], 0);
        if (!process) return process.status();
        processes_.push_back(std::move(*process));
      }
      compiling = poll();
      if (compiling) wait_for(processes_);
    }
    if (callbacks_.compiled) deadline_ = callbacks_.compiled();
    return {};
  }

  Status run(const std::vector<TimingOrder>& orders, unsigned rounds) {
    for (std::size_t o = 0; o < orders.size(); ++o) {
      order_ = o;
      prepare(orders[o]);
      for (unsigned round = 0; round < rounds; ++round) {
        for (std::size_t v = 0; v < processes_.size(); ++v) {
          if (over()) return check_cancel(pool_.cancel_);
          const bool wanted = callbacks_.wanted(v, o, round);
          if (wanted && processes_[v]->state() == State::idle) turn(v, o, orders[o]);
        }
      }
    }
    return {};
  }

 private:
  using State = Process::State;

  bool over() const { return pool_.cancel_ || Clock::now() >= deadline_; }

  // Takes in what the processes have answered. True while one is compiling.
  bool poll() {
    bool compiling = false;
    for (std::size_t v = 0; v < processes_.size(); ++v) {
      if (processes_[v]->poll(times_) && processes_[v]->state() == State::failed) failed(v);
      compiling = compiling || processes_[v]->state() == State::compiling;
    }
    return compiling;
  }

  // All processes at once allocate, fill and check the shape's matrices, which takes longer than to multiply them.
  void prepare(TimingOrder order) {
    settle();
    order.runs = 0;
    for (const auto& process : processes_) {
      if (process->state() == State::idle) process->order(order, processes_.size());
    }
    settle();
  }

  // Waits until no process is busy.
  void settle() {
    while (!over()) {
      poll();
      const bool busy = std::any_of(processes_.begin(), processes_.end(), [](const auto& p) { return p->busy(); });
      if (!busy) return;
      wait_for(processes_);
    }
  }

  // Times one variant with nothing beside it; dropped at the deadline.
  void turn(std::size_t v, std::size_t number, const TimingOrder& order) {
    Process& process = *processes_[v];
    process.order(order);
    while (!process.poll(times_)) {
      if (over()) return;
      LineChannel::wait({&process.child()}, kTimingPollMs);
    }
    if (process.state() == State::failed) {
      failed(v);
      settle();
      const bool again = callbacks_.wanted(v, number, 0);
      if (again && processes_[v]->state() == State::idle) turn(v, number, order);
      return;
    }
    if (!times_.empty()) callbacks_.turn(v, number, times_);
  }

  // The variant takes no more turns, unless the shape is to blame, or an earlier variant may have broken the process:
  // then it goes on in a new one.
  void failed(std::size_t v) {
    const Process& process = *processes_[v];
    const bool shape_to_blame = process.late() && callbacks_.late(v, order_, process.failure());
    if (!shape_to_blame && process.variants() == 1) return callbacks_.failed(v, process.failure());
    Result<std::unique_ptr<Process>> fresh = pool_.new_process(variants_[v], 0);
    if (fresh) processes_[v] = std::move(*fresh);
  }

  TimingPool& pool_;
  const TurnCallbacks& callbacks_;
  Clock::time_point deadline_;
  std::vector<kernels::Params> variants_;
  std::vector<std::unique_ptr<Process>> processes_;  // of each variant
  std::vector<double> times_;
  std::size_t order_ = 0;  // under way
};

Status TimingPool::take_turns(const std::vector<kernels::Params>& variants, const std::vector<TimingOrder>& orders,
                              unsigned rounds, const TurnCallbacks& callbacks, Clock::time_point deadline) {
  Turns turns(*this, callbacks, deadline);
  const Status started = turns.start(variants);
  return started ? turns.run(orders, rounds) : started;
}

}  // namespace clbake::builder
