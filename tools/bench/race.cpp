#include "bench/race.hpp"

#include "cli/cli.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace clbake::tool {
namespace {

using Clock = std::chrono::steady_clock;

// Threads of some libraries spin for a while after a call; without a pause they slow down whoever runs next.
constexpr std::chrono::milliseconds kPause{40};
constexpr double kRoundSeconds = 0.1;  // one contender's turn in a round

// Calls `once` until the turn's time is over; appends the microseconds of each call.
Status take_turn(const std::function<Status()>& once, std::vector<double>& times) {
  const auto turn = Clock::now();
  do {
    const auto start = Clock::now();
    const Status status = once();
    if (!status) return status;
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  } while (std::chrono::duration<double>(Clock::now() - turn).count() < kRoundSeconds);
  return {};
}

}  // namespace

std::string trans_name(const Problem& p) { return std::string(p.trans_a ? "t" : "n") + (p.trans_b ? "t" : "n"); }

Status race(std::vector<Contender>& contenders, std::size_t rounds) {
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (Contender& contender : contenders) {
      std::this_thread::sleep_for(kPause);
      const Status status = take_turn(contender.once, contender.times);
      if (!status) return status;
      if (round == 0) contender.times.clear();
    }
  }
  return {};
}

double gflops(const Problem& p, double us) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) / us / 1e3;
}

}  // namespace clbake::tool
