#include "prove/compile_watch.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/os/paths.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iomanip>
#include <sstream>
#include <thread>
#include <utility>

namespace clbake::builder::prove {
using namespace process;

// The cheapest compilation seen takes 20 ms. Each kernel besides the first takes a part of what its compilation would.
constexpr double kLoadLimitUs = 20000;
constexpr double kFurtherKernelUs = 500;
// A first launch may take kFirstLaunchRatio times the steady one, but no more than kFirstLaunchSlackUs above it ...
constexpr double kFirstLaunchRatio = 1.5;
constexpr double kFirstLaunchSlackUs = 10000;
// ... plus the first launch of a kernel that does nothing, within these limits. A kernel of 30 KB touches more new
// pages than that one, 500 us of them on a virtual machine.
constexpr double kOverheadLeastUs = 2000;
constexpr double kOverheadLimitUs = 5000;
// Some drivers write their caches in the background.
constexpr std::chrono::milliseconds kLateWrite{500};

constexpr const char* kByFiles = "files in the driver's cache";
constexpr const char* kByLibraries = "libraries";
constexpr const char* kByChildren = "child processes";

std::string function_of(const std::string& file) {
  const std::filesystem::path path = os::native(file);
  return os::utf8(path.stem()) + " " + os::utf8(path.parent_path().filename());
}

std::string cache_directory(const Target& target) {
  for (const auto& [name, value] : builder_platform_of(target).caches) {
    const std::optional<std::string> directory = value.empty() ? os::variable(name) : std::nullopt;
    if (directory) return *directory;
  }
  return {};
}

std::string compiled_extension(const Target& target) { return platform_of(target).unpacks_programs ? ".so" : ""; }

CompileWatch::CompileWatch(const Target& target, Control control, double overhead_us)
    : control_(std::move(control)),
      directory_(cache_directory(target)),
      extension_(compiled_extension(target)),
      overhead_us_(overhead_us) {}

void CompileWatch::begin() {
  known_ = signs_now(directory_);
  // A library that another program's load brought in tells nothing any more.
  for (const std::string& library : known_.libraries) control_.libraries.erase(library);
  start_us_ = known_.processor_us;
}

double CompileWatch::took_us(double wall_us) const {
  return control_.in_process ? processor_time_us() - start_us_ : wall_us;
}

void CompileWatch::loaded(double wall_us, std::size_t kernels, std::size_t functions) {
  const double took = took_us(wall_us);
  if (!extension_.empty()) {
    const Signs now = signs_now(directory_);
    const std::size_t unpacked = with_extension(since(known_, now).files, extension_).size();
    // A driver that unpacks nothing keeps its functions elsewhere: its files tell nothing.
    control_.files = unpacked > 0;
    if (functions > 0 && unpacked > functions) {
      compiled_ = "loading compiled " + std::to_string(unpacked - functions) + " functions";
      sign_ = kByFiles;
    }
    known_.files = now.files;
  }
  look("loading");
  limit("loading", took, kLoadLimitUs + kFurtherKernelUs * static_cast<double>(std::max<std::size_t>(kernels, 1) - 1));
}

void CompileWatch::launched(const std::string& what, const Timing& judged) {
  look(what);
  limit(what, judged.first_us,
        judged.steady_us + std::min((kFirstLaunchRatio - 1) * judged.steady_us, kFirstLaunchSlackUs) +
            std::clamp(overhead_us_, kOverheadLeastUs, kOverheadLimitUs));
}

Timing CompileWatch::time(const std::string& what, std::size_t runs, const Launch& first,
                          const std::function<void()>& check, const Launch& later) {
  std::vector<double> times, judged;
  for (std::size_t i = 0; i <= runs; ++i) {
    start_us_ = processor_time_us();
    times.push_back(i == 0 ? first() : later());
    judged.push_back(took_us(times.back()));
    if (i == 0) check();
  }
  const auto timing = [](const std::vector<double>& us) { return Timing{us[0], median({us.begin() + 1, us.end()})}; };
  launched(what, timing(judged));
  return timing(times);
}

Verdict CompileWatch::verdict() {
  const bool late = control_.files && extension_.empty() && !overrun_.empty() && compiled_.empty();
  if (late) std::this_thread::sleep_for(kLateWrite);
  look("a later launch");
  const char* sign = control_.in_process ? "processor time" : "time on the clock, for want of a better sign";
  if (control_.children) sign = kByChildren;
  if (!control_.libraries.empty()) sign = kByLibraries;
  if (control_.files) sign = kByFiles;
  if (sign_) sign = sign_;
  const bool by_sign = control_.has_signs() || !compiled_.empty();
  return {by_sign ? compiled_ : overrun_, sign, !by_sign};
}

void CompileWatch::look(const std::string& what) {
  if (!compiled_.empty() || !control_.has_signs()) return;
  const Signs fresh = since(known_, signs_now(directory_));
  const std::vector<std::string> files = with_extension(fresh.files, extension_);
  const auto library = std::find_if(fresh.libraries.begin(), fresh.libraries.end(),
                                    [&](const std::string& name) { return control_.libraries.count(name) > 0; });
  if (control_.files && !files.empty()) {
    compiled_ = what + (extension_.empty() ? " wrote into the driver's cache, as a compilation does"
                                           : " compiled the function " + function_of(files.front()));
    sign_ = kByFiles;
  } else if (library != fresh.libraries.end()) {
    compiled_ = what + " loaded " + *library + ", as a compilation does";
    sign_ = kByLibraries;
  } else if (control_.children && fresh.has_children()) {
    compiled_ = what + " started a process, as a compilation does";
    sign_ = kByChildren;
  }
}

void CompileWatch::limit(const std::string& what, double us, double limit_us) {
  if (us - limit_us <= overrun_us_) return;
  overrun_us_ = us - limit_us;
  std::ostringstream text;
  text << std::fixed << std::setprecision(0) << what << " took " << us << " us"
       << (control_.in_process ? " of processor time" : "") << ", and " << limit_us << " us is the limit";
  overrun_ = text.str();
}

}  // namespace clbake::builder::prove
