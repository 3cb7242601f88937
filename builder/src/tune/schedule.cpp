#include "tune/schedule.hpp"

#include <algorithm>
#include <cmath>

namespace clbake::builder {
namespace {

constexpr double kCarryOver = 0.6;  // of another pair's time; the rest is for refining it

}  // namespace

TuneClock::TuneClock(double earlier_runs_s)
    : start_(std::chrono::steady_clock::now()), earlier_runs_s_(earlier_runs_s) {}

double TuneClock::now() const {
  return earlier_runs_s_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void TuneClock::set_back(double seconds) { earlier_runs_s_ -= now() - seconds; }

std::chrono::steady_clock::time_point TuneClock::at(double seconds) const {
  using Clock = std::chrono::steady_clock;
  if (std::isinf(seconds)) return Clock::time_point::max();
  return start_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds - earlier_runs_s_));
}

double part_of(double begin, double end, double fraction) {
  return std::isinf(end) ? end : begin + (end - begin) * fraction;
}

double race_deadline(double now, const SharedTime& time, double compiling) {
  const double left = std::max(0.0, time.end - now);
  const double set_aside = std::min(compiling * static_cast<double>(time.races - 1), left / 2);
  return now + (left - set_aside) / static_cast<double>(time.races);
}

std::vector<std::uint32_t> in_turn(const std::vector<std::uint32_t>& one, const std::vector<std::uint32_t>& other) {
  std::vector<std::uint32_t> all;
  for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
    if (i < one.size()) all.push_back(one[i]);
    if (i < other.size()) all.push_back(other[i]);
  }
  return all;
}

// On GPUs, where compiling is cheap, the default variants and their neighbours are near the final speed within seconds:
// the races, which need many shapes for the cost models, get almost half of the time.
Schedule::Schedule(Strategy strategy, kernels::DeviceType device, std::size_t pairs, double begin, double end)
    : staged_(strategy == Strategy::staged), pairs_(pairs), begin_(begin), end_(end) {
  if (!staged_ && pairs > 1) {
    ends_ = {0.6, 0.7, 0.7, 0.85};
  } else if (!staged_) {
    ends_ = {0.75, 0.87, 0.87, 0.87};
  } else if (device == kernels::DeviceType::gpu && pairs == 1) {
    ends_ = {0.3, 0.42, 0.55, 0.55};
  } else if (device == kernels::DeviceType::gpu) {
    ends_ = {0.15, 0.23, 0.29, 0.55};
  } else if (pairs == 1) {
    ends_ = {0.5, 0.63, 0.82, 0.82};
  } else {
    ends_ = {0.36, 0.46, 0.54, 0.72};
  }
}

double Schedule::explore() const { return at(ends_.explore); }
double Schedule::range() const { return at(ends_.range); }
double Schedule::refine() const { return at(ends_.refine); }

double Schedule::carry_over(std::size_t pair) const {
  const double begin = pair == 1 ? at(ends_.refine) : refine_other(pair - 1);
  return part_of(begin, refine_other(pair), staged_ ? kCarryOver : 1);
}

double Schedule::refine_other(std::size_t pair) const {
  return at(part_of(ends_.refine, ends_.others, static_cast<double>(pair) / static_cast<double>(pairs_ - 1)));
}

}  // namespace clbake::builder
