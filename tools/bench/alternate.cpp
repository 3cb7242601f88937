#include "bench/alternate.hpp"

#include <chrono>
#include <cmath>
#include <thread>

namespace clbake::tool {
namespace {

// The threads of some libraries spin for a while after a call. Without a pause they slow the next library down.
constexpr std::chrono::milliseconds kPause{40};
constexpr double kTurnUs = 1e5;

}  // namespace

double time_us(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

void time_alternately(std::vector<TimedCall>& calls, std::size_t rounds) {
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (TimedCall& timed : calls) {
      std::this_thread::sleep_for(kPause);
      if (round == 1) timed.us.clear();
      for (double turn = 0; turn < kTurnUs; turn += timed.us.back()) timed.us.push_back(time_us(timed.call));
    }
  }
}

double gflops(const Problem& p, double us) {
  return (is_complex(p.precision) ? 8.0 : 2.0) * static_cast<double>(p.m) * static_cast<double>(p.n) *
         static_cast<double>(p.k) * static_cast<double>(p.batch) / us / 1e3;
}

double geometric_mean(const std::vector<double>& values) {
  double logarithms = 0;
  for (const double value : values) logarithms += std::log(value);
  return std::exp(logarithms / static_cast<double>(values.size()));
}

}  // namespace clbake::tool
