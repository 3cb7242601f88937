// Progress of long work on stderr: a bar with the time left on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace clbake::tool {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  // ends the bar's line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // done of total steps; `last` is what was just finished.
  void show(std::size_t done, std::size_t total, const std::string& last);

  // The same of work that ends at a time: `elapsed` of `budget` seconds; a budget of 0 has no end.
  void show_time(double elapsed, double budget, const std::string& last);

  // A line of its own that stays, above the bar.
  void message(const std::string& line);

  // Takes the bar away, before something is printed on stdout.
  void clear();

 private:
  void draw(double share, const std::string& done, const std::string& left, const std::string& last);
  bool terminal_;
  bool drawn_ = false;
  double next_line_ = 0;  // seconds, of show_time
  std::chrono::steady_clock::time_point start_;
};

}  // namespace clbake::tool
