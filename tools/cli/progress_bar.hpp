// Progress of long work on stderr: a bar with the time left on a terminal; elsewhere plain lines,
// the first step's and the last step's, and one in ten seconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace clbake::tool {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  // removes the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `done` of `total` steps; `last`: the step just finished.
  void show(std::size_t done, std::size_t total, const std::string& last);

  // The same for work with a time budget: `elapsed` of `budget` seconds; 0: no limit.
  void show_time(double elapsed, double budget, const std::string& last);

  // Prints a line above the bar.
  void message(const std::string& line);

  // Removes the bar, before something is printed on stdout.
  void clear();

 private:
  void draw(double share, const std::string& done, const std::string& left, const std::string& last);
  bool terminal_;
  bool drawn_ = false;
  double next_line_ = 0;  // elapsed seconds at which the next plain line is due
  std::chrono::steady_clock::time_point start_;
};

}  // namespace clbake::tool
