#include "prove/compile_watch.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <sys/resource.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <sstream>

namespace clbake::builder::prove {
using namespace process;
namespace {

constexpr double kLoadLimitUs = 20000;  // the cheapest compilation seen
// A first launch may take kFirstLaunchRatio times the steady one, but no more than kFirstLaunchSlackUs above it ...
constexpr double kFirstLaunchRatio = 1.5;
constexpr double kFirstLaunchSlackUs = 10000;
// ... plus the first launch of a kernel that does nothing, within these limits. A kernel of 30 KB touches more new
// pages than that one, 500 us of them on a virtual machine.
constexpr double kOverheadLeastUs = 2000;
constexpr double kOverheadLimitUs = 5000;

double used_us(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto us = [](const timeval& t) { return 1e6 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec); };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

// The time of this process and of those that it started and waited for, as drivers do for a linker.
double processor_time_us() { return used_us(RUSAGE_SELF) + used_us(RUSAGE_CHILDREN); }

std::string cache_directory(const Environment& caches) {
  for (const auto& [name, value] : caches) {
    const char* const directory = value.empty() ? std::getenv(name.c_str()) : nullptr;
    if (directory) return directory;
  }
  return {};
}

}  // namespace

CompileWatch::CompileWatch(const Target& target, double overhead_us)
    : evidence_(builder_platform_of(target).evidence),
      directory_(cache_directory(builder_platform_of(target).caches)),
      overhead_us_(overhead_us) {}

void CompileWatch::begin() {
  if (evidence_ == Evidence::files) functions_ = find_functions();
  start_us_ = processor_time_us();
}

double CompileWatch::took_us(double wall_us) const {
  return evidence_ == Evidence::cpu_time ? processor_time_us() - start_us_ : wall_us;
}

void CompileWatch::loaded(double wall_us, std::size_t functions) {
  const std::size_t before = functions_.size();
  if (evidence_ == Evidence::files) functions_ = find_functions();
  const std::size_t unpacked = functions_.size() - before;
  // A driver that unpacks nothing keeps its functions elsewhere: its files tell nothing.
  if (evidence_ == Evidence::files && unpacked == 0) evidence_ = Evidence::wall_time;
  if (evidence_ == Evidence::files && functions > 0 && unpacked > functions) {
    compiled_ = "loading compiled " + std::to_string(unpacked - functions) + " functions";
  }
  limit("loading", took_us(wall_us), kLoadLimitUs);
}

void CompileWatch::launched(const std::string& what, const Timing& judged) {
  look_for_functions(what);
  limit(what, judged.first_us,
        judged.steady_us + std::min((kFirstLaunchRatio - 1) * judged.steady_us, kFirstLaunchSlackUs) +
            std::clamp(overhead_us_, kOverheadLeastUs, kOverheadLimitUs));
}

Result<Timing> CompileWatch::time(const std::string& what, std::size_t runs, const Launch& first,
                                  const std::function<Status()>& check, const Launch& later) {
  std::vector<double> times, judged;
  for (std::size_t i = 0; i <= runs; ++i) {
    start_us_ = processor_time_us();
    const Result<double> us = i == 0 ? first() : later();
    if (!us) return us.status();
    times.push_back(*us);
    judged.push_back(took_us(*us));
    const Status right = i == 0 ? check() : Status();
    if (!right) return right;
  }
  const auto timing = [](const std::vector<double>& us) { return Timing{us[0], median({us.begin() + 1, us.end()})}; };
  launched(what, timing(judged));
  return timing(times);
}

std::string CompileWatch::verdict() {
  look_for_functions("a later launch");
  return evidence_ == Evidence::files ? compiled_ : overrun_;
}

// "gemm 8-8-1-goffs0" of .../gemm/8-8-1-goffs0/gemm.so.
std::set<std::string> CompileWatch::find_functions() const {
  namespace fs = std::filesystem;
  std::set<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator file(directory_, error), end; !error && file != end; file.increment(error)) {
    const fs::path& path = file->path();
    if (path.extension() != ".so") continue;
    const fs::path shape = path.parent_path();
    // With the program's place in the directory, as the one that does nothing may have a function of the same name.
    found.insert(path.stem().string() + " " + shape.filename().string() + " of " + shape.parent_path().string());
  }
  return found;
}

void CompileWatch::look_for_functions(const std::string& what) {
  if (evidence_ != Evidence::files || !compiled_.empty()) return;
  const std::set<std::string> now = find_functions();
  const auto is_new = [&](const std::string& function) { return functions_.count(function) == 0; };
  const auto made = std::find_if(now.begin(), now.end(), is_new);
  if (made != now.end()) compiled_ = what + " compiled the function " + made->substr(0, made->rfind(" of "));
}

void CompileWatch::limit(const std::string& what, double us, double limit_us) {
  if (us - limit_us <= overrun_us_) return;
  overrun_us_ = us - limit_us;
  std::ostringstream text;
  text << std::fixed << std::setprecision(0) << what << " took " << us << " us"
       << (evidence_ == Evidence::cpu_time ? " of processor time" : "") << ", and " << limit_us << " us is the limit";
  overrun_ = text.str();
}

}  // namespace clbake::builder::prove
