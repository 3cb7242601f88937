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

// Unlike split() it keeps empty parts: "512x" is no size.
std::vector<std::string> factors(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == 'x') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::size_t whole_number(const std::string& text, const std::string& size) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) {
    throw UsageError("--sizes: '" + size + "' is neither N nor MxNxK");
  }
  return std::stoul(text);
}

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

std::vector<Size> sizes_of(const std::string& text) {
  std::vector<Size> sizes;
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> numbers = factors(part);
    if (numbers.size() != 1 && numbers.size() != 3) throw UsageError("--sizes: '" + part + "' is neither N nor MxNxK");
    const Size size{whole_number(numbers.front(), part), whole_number(numbers[numbers.size() / 2], part),
                    whole_number(numbers.back(), part)};
    if (size.m == 0 || size.n == 0 || size.k == 0) throw UsageError("--sizes: '" + part + "' has nothing to time");
    sizes.push_back(size);
  }
  if (sizes.empty()) throw UsageError("--sizes: no size given");
  return sizes;
}

std::string name(const Size& size) {
  return std::to_string(size.m) + "x" + std::to_string(size.n) + "x" + std::to_string(size.k);
}

std::vector<Transposes> transposes_of(const std::string& text) {
  std::vector<Transposes> list;
  for (const std::string& part : split(text, ',')) {
    if (part.size() != 2 || part.find_first_not_of("nt") != std::string::npos) {
      throw UsageError("--trans: '" + part + "' is none of nn, nt, tn, tt");
    }
    const Transposes wanted{part[0] == 't', part[1] == 't'};
    const auto same = [&](const Transposes& t) { return t.a == wanted.a && t.b == wanted.b; };
    if (std::none_of(list.begin(), list.end(), same)) list.push_back(wanted);
  }
  if (list.empty()) throw UsageError("--trans: no transposes given");
  return list;
}

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
