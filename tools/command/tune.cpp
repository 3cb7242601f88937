// `clbake tune`: a search, or a profile from what was timed before.
#include "cli/cli.hpp"
#include "cli/progress_bar.hpp"
#include "command/tune_options.hpp"
#include "command/verbs.hpp"

#include <clbake/added_options.hpp>
#include <clbake/builder/times.hpp>
#include <clbake/builder/tuning_file.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace clbake::tool {
namespace {

// True when all wanted shapes were tuned, with these weights: a file of shapes may have changed.
bool has_shapes(const builder::profile::Tuning& tuning, const builder::tune::TuneShapes& wanted) {
  std::set<std::string> tuned;
  for (const builder::Shape& shape : tuning.shapes) tuned.insert(builder::weighted_name(shape));
  return std::all_of(wanted.list.begin(), wanted.list.end(),
                     [&](const builder::Shape& shape) { return tuned.count(builder::weighted_name(shape)) > 0; });
}

// True when `output` is the finished profile of the same command by this version of clbake on the same device.
bool is_complete(const std::string& output, const builder::tune::TuneOptions& options) {
  const Result<builder::profile::Tuning> tuning = builder::profile::read_tuning(output);
  return tuning && tuning->complete && tuning->command == options.command &&
         tuning->target == options.devices.front().target && tuning->tool == "clbake " CLBAKE_VERSION &&
         tuning->compute_units == options.devices.front().compute_units && has_shapes(*tuning, options.shapes);
}

// A table of the winners on large shapes, and how to bake them.
void print_winners(const builder::profile::Tuning& tuning, const std::string& file) {
  std::printf("%s: %s tried on %s in %.0f s, %zu failed\n", file.c_str(), counted(tuning.tried, "variant").c_str(),
              tuning.target.device_name.c_str(), tuning.elapsed_s, tuning.failures.size());
  if (tuning.noise > 0) {
    std::printf("noise: the same variant, timed beside itself, differs by %.1f %% (median of the shapes)\n",
                100 * tuning.noise);
  }
  std::printf("\n");
  std::printf("| class     | largest shape                          |  median us |    GFLOP/s | variant\n");
  std::printf("|-----------|----------------------------------------|-----------:|-----------:|--------\n");
  std::map<std::pair<Precision, std::string>, builder::profile::Measurement> largest;  // all would fill pages
  for (const builder::profile::Measurement& winner : builder::profile::winners(tuning)) {
    const builder::Shape& shape = tuning.shapes[winner.shape];
    const auto at = largest.emplace(std::pair(shape.precision, builder::shape_class(shape)), winner).first;
    const bool larger = builder::operations(shape) > builder::operations(tuning.shapes[at->second.shape]);
    if (larger) at->second = winner;
  }
  for (const auto& [group, winner] : largest) {
    const builder::Shape& shape = tuning.shapes[winner.shape];
    std::printf("| %-9s | %-38s | %10.1f | %10.1f | %s\n", group.second.c_str(), builder::name(shape).c_str(),
                winner.median_us, builder::gflops(shape, winner.median_us), tuning.variants[winner.variant].c_str());
  }
  const std::size_t wanted = builder::profile::wanted_variants(tuning).size();
  if (wanted == 0) {
    std::printf("\nnothing proved faster than the default variants: 'clbake build --profile %s' bakes them\n",
                file.c_str());
    return;
  }
  std::printf("\n%s chosen, by %s and %s: 'clbake build --profile %s' bakes them\n", counted(wanted, "variant").c_str(),
              counted(tuning.models.size(), "cost model").c_str(),
              counted(tuning.exceptions.size(), "exception").c_str(), file.c_str());
}

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
  const Result<builder::profile::Tuning> tuning = builder::tune::run(options, interrupted(), show);
  display.clear();
  if (!tuning && tuning.status().code() == Code::cancelled) return stopped(display, "finished work is kept");
  need(tuning.status());
  const Result<builder::profile::Tuning> earlier = builder::profile::read_tuning(output);
  if (!tuning->complete && tuning->measurements.empty()) return stopped(display, "nothing was timed yet");
  if (!tuning->complete && earlier && (earlier->complete || earlier->command != options.command)) {
    return stopped(display, output + " keeps its earlier profile");
  }
  need(builder::profile::write_tuning(output, *tuning));
  if (!tuning->complete) return stopped(display, output + " holds what is known so far");
  builder::tune::forget(options.work);
  print_winners(*tuning, output);
  return kSuccess;
}

// The joined measurements of several profiles, fitted again.
int tune_merge(const std::vector<std::string>& profiles, const std::string& output) {
  std::vector<builder::profile::NamedTuning> all;
  std::string command = "clbake tune --merge ";
  for (const std::string& file : profiles) {
    command += (all.empty() ? "" : ",") + file;
    all.push_back({file, need(builder::profile::read_tuning(file), "--merge")});
  }
  if (all.empty()) throw UsageError("--merge: no profile given");
  builder::profile::Tuning merged = need(builder::profile::merge(all), "--merge");
  merged.command = command + " -o " + output;
  need(builder::profile::write_tuning(output, merged));
  std::printf("%s: %s joined, %s timed on %s, %u tried%s\n", output.c_str(), counted(all.size(), "profile").c_str(),
              counted(merged.variants.size(), "variant").c_str(), counted(merged.shapes.size(), "shape").c_str(),
              merged.tried, merged.complete ? "" : "; not complete: a shard is missing or was interrupted");
  return kSuccess;
}

// The choice that raw timings give, without measurements.
int tune_fit(const std::vector<std::string>& times, const std::string& output) {
  if (times.empty()) throw UsageError("--fit: no file given");
  builder::profile::Tuning tuning = need(builder::profile::read_times(times), "--fit");
  tuning.command = "clbake tune --fit";
  builder::profile::fit(tuning);
  need(builder::profile::write_tuning(output, builder::profile::brief(tuning)));
  std::printf("%s: %s for %s, from %s timed on %s\n", output.c_str(),
              counted(tuning.models.size(), "cost model").c_str(), tuning.target.device_name.c_str(),
              counted(tuning.variants.size(), "variant").c_str(), counted(tuning.shapes.size(), "problem").c_str());
  return kSuccess;
}

}  // namespace

int tune(const std::vector<std::string>& arguments) {
  Cli cli("tune [OPTIONS] -o FILE",
          "Finds the best variants of a device for every kind of problem, and the cost models by which the runtime\n"
          "chooses among them. The result is a profile, which 'clbake build --profile FILE' bakes.");
  declare_tune_options(cli);
  if (const auto status = cli.parse(arguments)) return *status;
  if (!cli.has("output")) throw UsageError("the option '--output' is required but missing");
  const std::string output = behind_links(cli.text("output"));
  if (output.empty()) throw Failure("--output: names no file");
  const auto is_profile = [&] { return builder::profile::read_tuning(output).status().code() != Code::malformed; };
  check_replaceable(output, "a profile", is_profile);
  if (cli.has("merge")) return tune_merge(cli.list("merge"), output);
  if (cli.has("fit")) return tune_fit(cli.list("fit"), output);

  need(no_added_options());
  const builder::tune::TuneOptions options = tune_options(cli, arguments, output);
  if (!options.fresh && is_complete(output, options)) {
    std::printf("%s: this tuning is complete already; --fresh repeats it\n", output.c_str());
    return kSuccess;
  }
  return search(options, output);
}

}  // namespace clbake::tool
