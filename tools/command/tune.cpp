// `clbake tune`: a search, or a profile from what was timed before.
#include "cli/cli.hpp"
#include "cli/progress_bar.hpp"
#include "command/tune_merge.hpp"
#include "command/tune_options.hpp"
#include "command/tune_output.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/tuning_file.hpp>

#include <cstdio>

namespace clbake::tool {
namespace {

class Display {
 public:
  explicit Display(double budget) : budget_(budget) {}

  void show(const builder::tune::TuneProgress& p) {
    if (!p.failure.empty()) {
      ++failures_;
      if (failures_ <= kShownFailures) bar_.message("clbake tune: left out: " + p.failure);
      if (failures_ == kShownFailures) bar_.message("clbake tune: further failures are in the profile only");
    }
    const auto now = static_cast<std::size_t>(p.elapsed_s);
    if (now == last_) return;
    last_ = now;
    bar_.show_time(p.elapsed_s, budget_,
                   p.stage + ", " + std::to_string(p.tried) + " tried, " + std::to_string(p.failed) +
                       " failed; latest best: " + p.best);
  }

  void clear() { bar_.clear(); }
  void message(const std::string& line) { bar_.message(line); }

 private:
  static constexpr std::size_t kShownFailures = 10;
  ProgressBar bar_;
  double budget_;
  std::size_t last_ = SIZE_MAX;
  std::size_t failures_ = 0;
};

int stopped(Display& display, const std::string& state) {
  display.message("clbake tune: interrupted; " + state + ", and the same command continues from there");
  return kInterrupted;
}

int search(const builder::tune::TuneOptions& options, const std::string& output) {
  Display display(options.budget.count());
  const auto show = [&](const builder::tune::TuneProgress& progress) { display.show(progress); };
  const Result<builder::Tuning> tuning = builder::tune::run(options, interrupted(), show);
  display.clear();
  if (!tuning && tuning.status().code() == Code::cancelled) return stopped(display, "finished work is kept");
  need(tuning.status());
  const Result<builder::Tuning> earlier = builder::read_tuning(output);
  if (!tuning->complete && tuning->measurements.empty()) return stopped(display, "nothing was timed yet");
  if (!tuning->complete && earlier && (earlier->complete || earlier->command != options.command)) {
    return stopped(display, output + " keeps its earlier profile");
  }
  need(builder::write_tuning(output, *tuning));
  if (!tuning->complete) return stopped(display, output + " holds what is known so far");
  builder::tune::forget(options.work);
  print_winners(*tuning, output);
  return kSuccess;
}

}  // namespace

int tune(const std::vector<std::string>& arguments) {
  Cli cli("tune [OPTIONS] -o FILE",
          "Finds the best variants of a device for every kind of problem, and the cost models by which the runtime "
          "chooses among them. The result is a profile, which 'clbake build --profile FILE' bakes.");
  declare_tune_options(cli);
  if (const auto status = cli.parse(arguments)) return *status;
  if (!cli.has("output")) throw UsageError("the option '--output' is required but missing");
  const std::string output = behind_links(cli.text("output"));
  if (output.empty()) throw Failure("--output: names no file");
  need(check_profile_path(output));
  if (cli.has("merge")) return tune_merge(cli.list("merge"), output);
  if (cli.has("fit")) return tune_fit(cli.list("fit"), output);

  const builder::tune::TuneOptions options = tune_options(cli, arguments, output);
  if (!options.fresh && is_complete(output, options)) {
    std::printf("%s: this tuning is complete already; --fresh repeats it\n", output.c_str());
    return kSuccess;
  }
  return search(options, output);
}

}  // namespace clbake::tool
