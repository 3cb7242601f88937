// Tells whether the driver compiles while a program is loaded and launched for the first time.
//
// By any of the signs that this driver's compilations are known to leave (Control): files in its cache directory,
// libraries, child processes. Where it leaves none of them, by times, which are compared: the cheapest compilation seen
// on any driver is longer than all that the limits leave room for. A driver that unpacks programs into
// its cache directory, as PoCL does, shows by that that it keeps functions there.
#pragma once

#include <clbake/builder/platforms.hpp>
#include <clbake/clbake.hpp>

#include "prove/signs.hpp"

#include <functional>
#include <string>

namespace clbake::builder::prove {

struct Timing {
  double first_us = 0;
  double steady_us = 0;
};

struct Verdict {
  std::string compiled;   // what was compiled, or which time is above its limit; empty: nothing was
  std::string judged_by;  // the sign that says so, or that would have
  bool by_time = false;   // on a slow machine another verdict is possible than on a fast one
};

class CompileWatch {
 public:
  // `overhead_us`: the first launch of a kernel that does nothing, earlier in this process.
  CompileWatch(const Target& target, Control control, double overhead_us);

  // Before the load, and after it. `kernels`: how many the program has. `functions`: how many functions it holds; 0:
  // not known.
  void begin();
  void loaded(double wall_us, std::size_t kernels, std::size_t functions);

  // A launch for the first time, a check of its results, and `runs` further launches. The launches return their time
  // on the clock, as the result does. `what`: "the first launch".
  using Launch = std::function<double()>;
  Timing time(const std::string& what, std::size_t runs, const Launch& first, const std::function<void()>& check,
              const Launch& later);

  // The first launch of a shape and later ones, by the times that are judged.
  void launched(const std::string& what, const Timing& judged);

  Verdict verdict();

 private:
  double took_us(double wall_us) const;
  void look(const std::string& what);
  void limit(const std::string& what, double us, double limit_us);

  Control control_;        // of signs that can still come up
  std::string directory_;  // the driver's cache
  std::string extension_;  // of its files that count
  double overhead_us_;
  double start_us_ = 0;  // of processor time
  Signs known_;          // what there was before, or a load unpacked
  std::string compiled_;
  const char* sign_ = nullptr;  // of compiled_
  double overrun_us_ = 0;       // of the time that is furthest above its limit
  std::string overrun_;
};

// The driver's cache directory by this process's environment; empty when it is not known.
std::string cache_directory(const Target& target);

// The extension of the files that compilations make there, where the driver also unpacks programs; else empty: any
// file.
std::string compiled_extension(const Target& target);

// The function of PoCL's in such a file: "gemm 8-8-1-goffs0" of .../gemm/8-8-1-goffs0/gemm.so.
std::string function_of(const std::string& file);

}  // namespace clbake::builder::prove
