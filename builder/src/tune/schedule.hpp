// The time of a tuning: its clock, and when each stage has to end.
#pragma once

#include <clbake/builder/tune.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

namespace clbake::builder {

// Seconds of all runs of a tuning together: an interrupted one goes on where its clock stopped.
class TuneClock {
 public:
  explicit TuneClock(double earlier_runs_s);
  double now() const;

  // Goes back to an earlier time: what came since then does not count.
  void set_back(double seconds);

  // When now() will be `seconds`; the far future for infinity.
  std::chrono::steady_clock::time_point at(double seconds) const;

 private:
  std::chrono::steady_clock::time_point start_;
  double earlier_runs_s_;  // without what does not count
};

// `fraction` of the way from begin to end; an infinite end stays infinite.
double part_of(double begin, double end, double fraction);

// The time that this final race and the later ones have together.
struct SharedTime {
  double end;         // seconds of the clock
  std::size_t races;  // this one and those that follow, at least 1
};

// When the race that may begin its turns now has to end, so that all of the time's races get turns for equally long:
// what is left, without what the later ones need to compile, divided by the races. `compiling`: seconds that this one
// took for it, and the later ones are expected to take; at most half of what is left is set aside for that.
double race_deadline(double now, const SharedTime& time, double compiling);

// One of each after the other: the order of a race's shapes, so that one that is cut short has some of both.
std::vector<std::uint32_t> in_turn(const std::vector<std::uint32_t>& one, const std::vector<std::uint32_t>& other);

// The deadlines of the stages for one precision, in seconds of the clock.
class Schedule {
 public:
  // For the time from `begin` to `end`, and `pairs` pairs of transposes (at least 1), numbered from 0.
  Schedule(Strategy strategy, kernels::DeviceType device, std::size_t pairs, double begin, double end);

  double explore() const;                       // pair 0
  double range() const;                         // pair 0
  double refine() const;                        // pair 0
  double carry_over(std::size_t pair) const;    // from 1 on
  double refine_other(std::size_t pair) const;  // from 1 on
  double final_races() const { return end_; }   // of all pairs: SharedTime

 private:
  double at(double fraction) const { return part_of(begin_, end_, fraction); }

  bool staged_;
  std::size_t pairs_;
  double begin_;
  double end_;
  // Parts of the time that are over at the end of each stage; the final races get the rest.
  struct {
    double explore, range, refine, others;
  } ends_;
};

}  // namespace clbake::builder
