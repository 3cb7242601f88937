#include "bench/alternate.hpp"

#include <chrono>
#include <cmath>
#include <thread>

namespace clbake::tool {
namespace {

using Clock = std::chrono::steady_clock;

// The threads of some libraries spin for a while after a call. Without a pause they slow the next library down.
constexpr std::chrono::milliseconds kPause{40};
constexpr double kTurnSeconds = 0.1;

Status take_turn(TimedCall& timed) {
  const auto turn = Clock::now();
  do {
    const auto start = Clock::now();
    const Status status = timed.call();
    if (!status) return status;
    timed.us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  } while (std::chrono::duration<double>(Clock::now() - turn).count() < kTurnSeconds);
  return {};
}

}  // namespace

std::string trans_name(const GemmKind& kind) {
  return std::string(kind.trans_a ? "t" : "n") + (kind.trans_b ? "t" : "n");
}

Status time_alternately(std::vector<TimedCall>& calls, std::size_t rounds) {
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (TimedCall& timed : calls) {
      std::this_thread::sleep_for(kPause);
      const Status status = take_turn(timed);
      if (!status) return status;
      if (round == 0) timed.us.clear();
    }
  }
  return {};
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
