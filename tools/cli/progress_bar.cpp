#include "cli/progress_bar.hpp"
#include "cli/cli.hpp"

#include <clbake/os/console.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace clbake::tool {
namespace {

constexpr double kSecondsBetweenLines = 10;  // without a terminal
constexpr double kSecondsToEstimate = 10;    // first steps wait for processes, or were done by an earlier build

std::string duration(double seconds) {
  const auto whole = std::lround(seconds);
  char text[32];
  std::snprintf(text, sizeof text, "%ld:%02ld", whole / 60, whole % 60);
  return text;
}

}  // namespace

ProgressBar::ProgressBar() : terminal_(os::is_terminal(os::Stream::error)), start_(std::chrono::steady_clock::now()) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::clear() {
  if (drawn_) std::fprintf(stderr, "\r\033[K");
  drawn_ = false;
}

void ProgressBar::show(std::size_t done, std::size_t total, const std::string& last) {
  if (total == 0) return;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  if (!terminal_ && (done == 0 || (done < total && elapsed.count() < next_line_))) return;
  next_line_ = elapsed.count() + kSecondsBetweenLines;
  const double share = static_cast<double>(done) / static_cast<double>(total);
  const bool known = done == total || (done > 0 && elapsed.count() >= kSecondsToEstimate);
  const std::string left = known ? duration(elapsed.count() * (1 / share - 1)) + " left" : "estimating the time";
  draw(share, std::to_string(done) + "/" + std::to_string(total), left, last);
}

void ProgressBar::show_time(double elapsed, double budget, const std::string& last) {
  if (!terminal_ && elapsed < next_line_) return;
  next_line_ = elapsed + kSecondsBetweenLines;
  const bool ends = budget > 0;
  draw(ends ? std::min(1.0, elapsed / budget) : 0, duration(elapsed),
       (ends ? duration(std::max(0.0, budget - elapsed)) : "-:--") + " left", last);
}

void ProgressBar::draw(double share, const std::string& done, const std::string& left, const std::string& last) {
  if (!terminal_) {
    std::fprintf(stderr, "[%s] %s, %s\n", done.c_str(), printable(last).c_str(), left.c_str());
    return;
  }
  constexpr std::size_t width = 30;
  const auto filled = static_cast<std::size_t>(share * width);
  const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
  std::fprintf(stderr, "\r\033[K[%s] %s  %s  %.60s", bar.c_str(), done.c_str(), left.c_str(), printable(last).c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::message(const std::string& line) {
  clear();
  std::fprintf(stderr, "%s\n", printable(line).c_str());
}

}  // namespace clbake::tool
