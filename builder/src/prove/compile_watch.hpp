// Tells whether the driver compiles while a program is loaded and launched for the first time.
//
// With Evidence::files every compiled function becomes a file, and files are counted: after the load, which unpacks the
// program's own, none may appear. Elsewhere times are compared: the cheapest compilation seen on any driver is longer
// than all that the limits leave room for.
#pragma once

#include <clbake/builder/platforms.hpp>
#include <clbake/clbake.hpp>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder::prove {

struct Timing {
  double first_us = 0;
  double steady_us = 0;
};

class CompileWatch {
 public:
  // `overhead_us`: the first launch of a kernel that does nothing, earlier in this process.
  CompileWatch(const Target& target, double overhead_us);

  // Before the load, and after it. `functions`: how many the program holds; 0: not known.
  void begin();
  void loaded(double wall_us, std::size_t functions);

  // A launch for the first time, a check of its results, and `runs` further launches. The launches return their time
  // on the clock, as the result does. `what`: "the first launch".
  using Launch = std::function<Result<double>()>;
  Result<Timing> time(const std::string& what, std::size_t runs, const Launch& first,
                      const std::function<Status()>& check, const Launch& later);

  // The first launch of a shape and later ones, by the times that are judged.
  void launched(const std::string& what, const Timing& judged);

  // Tells a person what was compiled, or which time is above its limit; empty when nothing was.
  std::string verdict();

 private:
  double took_us(double wall_us) const;
  std::set<std::string> find_functions() const;
  void look_for_functions(const std::string& what);
  void limit(const std::string& what, double us, double limit_us);

  process::Evidence evidence_;
  std::string directory_;  // the driver's cache
  double overhead_us_;
  double start_us_ = 0;
  std::set<std::string> functions_;  // of the directory, so far
  std::string compiled_;             // what was compiled, and when
  double overrun_us_ = 0;            // of the time that is furthest above its limit
  std::string overrun_;
};

}  // namespace clbake::builder::prove
