// Tells whether the driver compiles while a program is loaded and launched for the first time.
//
// With Evidence::files every compiled function becomes a file, and files are counted: after the load, which unpacks the
// program's own, none may appear. Elsewhere times are compared: the cheapest compilation seen on any driver is longer
// than all that the limits leave room for.
#pragma once

#include <clbake/builder/platforms.hpp>

#include "compile/overhead_job.hpp"

#include <set>
#include <string>
#include <vector>

namespace clbake::builder {

struct Timing {
  double first_us = 0;
  double steady_us = 0;
};

class CompileWatch {
 public:
  // `overhead`: what the driver needs for a kernel that does nothing, loaded and launched before in this process.
  CompileWatch(const Target& target, const LaunchOverhead& overhead);

  // Before the load, and after it. `functions`: how many the program holds; 0: not known.
  void begin();
  void loaded(double wall_us, std::size_t functions);

  // Before a launch; and after it, with its time on the clock: the time to judge by.
  void begin_launch();
  double took_us(double wall_us) const;

  // The first launch of a shape and later ones, by took_us().
  void launched(const std::string& what, const Timing& judged);

  struct Verdict {
    bool compiles = false;
    bool near_miss = false;  // above a limit by less than any compilation takes: noise, as likely as not
    std::string cause;       // for a person; empty unless it compiles
  };
  Verdict verdict();

 private:
  std::set<std::string> find_functions() const;
  void look_for_functions(const std::string& what);
  void limit(const std::string& what, double us, double limit_us);

  Evidence evidence_;
  std::string directory_;  // the driver's cache
  LaunchOverhead overhead_;
  double start_us_ = 0;
  std::set<std::string> functions_;  // of the directory, so far
  std::string compiled_;             // what was compiled, and when
  double overrun_us_ = 0;            // of the time that is furthest above its limit
  std::string overrun_;
};

}  // namespace clbake::builder
