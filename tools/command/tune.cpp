// `clbake tune`: a search, or a profile from what was timed before.
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/progress_bar.hpp"
#include "command/verbs.hpp"

#include <clbake/added_options.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/shape/shapes_file.hpp>
#include <clbake/builder/times.hpp>
#include <clbake/builder/tune.hpp>
#include <clbake/builder/tuning_file.hpp>
#include <clbake/os/libraries.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace clbake::tool {
namespace {

// ---- Options

std::vector<kernels::Family> families_of(const std::vector<std::string>& wanted) {
  std::vector<std::string_view> names;
  for (const kernels::Family family : kernels::all_families) names.push_back(kernels::name(family));
  std::vector<kernels::Family> families;
  for (const std::string& word : wanted) {
    const kernels::Family family = kernels::all_families[number_of("family", word, names)];
    if (std::find(families.begin(), families.end(), family) == families.end()) families.push_back(family);
  }
  return families;
}

std::string joined(const std::vector<GemmKind>& kinds) {
  std::string text;
  for (const GemmKind& kind : kinds) text += (text.empty() ? "" : ", ") + builder::kind_name(kind);
  return text;
}

// Takes the shapes of the selected kinds, and leaves the kinds that have some. `asked`: the user selected the kinds.
void take_shapes(const std::string& file, const std::vector<builder::Shape>& shapes, bool asked,
                 builder::tune::TuneOptions& options) {
  const std::vector<GemmKind> selected = std::exchange(options.kinds, {});
  std::vector<GemmKind> missing;
  for (const GemmKind& kind : selected) {
    const bool has = std::any_of(shapes.begin(), shapes.end(), [&](const auto& s) { return s.kind() == kind; });
    (has ? options.kinds : missing).push_back(kind);
  }
  if (options.kinds.empty()) {
    throw Failure("--shapes: " + file + ": no shape of what is to be tuned: " + joined(selected));
  }
  options.shapes = builder::tune::shapes_to_tune(shapes, options.kinds);
  const std::size_t left_out = shapes.size() - options.shapes.list.size();
  if (left_out > 0) {
    std::fprintf(stderr, "clbake tune: %s: leaves out %s of other kinds than those to be tuned: %s\n", file.c_str(),
                 counted(left_out, "shape").c_str(), joined(options.kinds).c_str());
  }
  if (asked && !missing.empty()) {
    std::fprintf(stderr, "clbake tune: %s: no shape of %s, not tuned\n", file.c_str(), joined(missing).c_str());
  }
}

// Those of a preset, or else of a file.
void set_shapes(const Cli& cli, builder::tune::TuneOptions& options) {
  const std::string name = cli.text("shapes", "all");
  std::optional<builder::tune::TuneShapes> preset =
      builder::tune::preset_shapes(name, options.devices.front().type, options.kinds);
  if (preset) {
    options.shapes = std::move(*preset);
    return;
  }
  std::vector<builder::Shape> shapes = need(builder::read_shapes(name, options.kinds), "--shapes");
  for (builder::Shape& shape : shapes) shape = builder::real_shape(shape);
  take_shapes(name, shapes, cli.has("precision") || cli.has("trans"), options);
}

// The first selected device and those identical to it.
void set_devices(const std::string& spec, builder::tune::TuneOptions& options) {
  const std::vector<builder::Device> all = need(builder::list_devices());
  options.devices = need(builder::select_one_target(all, spec), "--device");
  const Target& tuned = options.devices.front().target;
  for (const builder::Device& device : all) {
    if (!spec.empty() || device.target == tuned) continue;
    std::fprintf(stderr, "clbake tune: tunes %s, not %s, which needs a tuning of its own (--device)\n",
                 tuned.device_name.c_str(), device.target.device_name.c_str());
  }
}

// The profile of that file, or else the one that is shipped.
void set_prior(const std::string& file, builder::tune::TuneOptions& options) {
  if (file == "none") return;
  if (!file.empty()) {
    options.prior = need(builder::profile::read_tuning(file), "--prior");
    return;
  }
  const std::string wanted = builder::profile::device_class(options.devices.front());
  for (const builder::profile::NamedTuning& shipped : builder::profile::shipped_profiles()) {
    if (shipped.file == wanted) options.prior = shipped.tuning;
  }
}

// The kinds of the variants alone are left.
void set_variants(const Cli& cli, builder::tune::TuneOptions& options) {
  for (const char* other : {"strategy", "family", "shard"}) {
    if (cli.has(other)) throw UsageError("--" + std::string(other) + ": --variant says what is timed");
  }
  options.strategy = builder::tune::Strategy::variants;
  options.variants = variants_named(cli.list("variant"));
  if (options.variants.empty()) throw UsageError("--variant: no variant given");
  const std::vector<GemmKind> selected = std::exchange(options.kinds, {});
  std::set<GemmKind> wanted;
  for (const kernels::Params& params : options.variants) {
    wanted.insert(params.kind());
    if (std::find(selected.begin(), selected.end(), params.kind()) != selected.end()) continue;
    throw UsageError("--variant: " + kernels::name(params) + " computes " + builder::kind_name(params.kind()) +
                     ", not " + joined(selected) + " (--precision, --trans)");
  }
  std::copy_if(selected.begin(), selected.end(), std::back_inserter(options.kinds),
               [&](const GemmKind& kind) { return wanted.count(kind) > 0; });
}

// A named variant that cannot be timed is an error, not left out.
void check_variants(const builder::tune::TuneOptions& options) {
  for (const kernels::Params& params : options.variants) {
    const std::string broken = violation(params, options.devices.front());
    if (!broken.empty()) throw UsageError("--variant: " + kernels::name(params) + ": " + broken);
    if (std::find(options.kinds.begin(), options.kinds.end(), params.kind()) != options.kinds.end()) continue;
    throw UsageError("--variant: " + kernels::name(params) + ": --shapes has no shape of " +
                     builder::kind_name(params.kind()));
  }
}

// Exhaustive search has no budget unless one is given.
std::chrono::duration<double> budget_of(const Cli& cli, builder::tune::Strategy strategy) {
  if (!cli.has("budget") && strategy == builder::tune::Strategy::exhaustive) return std::chrono::duration<double>(0);
  return std::chrono::duration<double>(seconds_of(cli.text("budget", "10m")));
}

void declare_tune_options(Cli& cli) {
  cli.add_value("output,o", "FILE", "the profile to write");
  cli.add_device("; default: the first; identical devices are tuned side by side");
  cli.add_precision("single,double");
  cli.add_value("trans", "LIST", "nn, nt, tn, tt, separated by commas, the most important first; default: all");
  cli.add_value("budget", "TIME",
                "time to spend, such as 90s, 10m, 2h; default 10m; unlimited for --strategy exhaustive");
  cli.add_value(
      "shapes", "NAME",
      "all, square, thin, small, batched, or a file with a problem on each line: [PRECISION] [TRANS] MxNxK [lda N] "
      "[ldb N] [batch N] [weight W], such as 'single nt 512x256x64 weight 3'. A line without PRECISION or TRANS "
      "stands for those of --precision or --trans; W, usually 1, is what a gain there counts. Default all");
  cli.add_list("variant", "LIST",
               "do not search: time only these variants or presets, separated by commas, and the default ones");
  cli.add_value("strategy", "NAME", "staged or exhaustive; default staged");
  cli.add_value(
      "prior", "FILE",
      "start from this profile; default: the one that clbake ships for the device's class; none: from nothing");
  cli.add_list("family", "LIST", "kernel families to search, separated by commas; default: all");
  cli.add_value("seed", "N", "seed of the order in which variants are tried; default 1");
  cli.add_value("shard", "I/N", "search only the I-th of N parts of the space; --merge joins the parts");
  cli.add_jobs();
  cli.add_timeout("variant after this time; default 20, on slow machines more");
  cli.add_flag("fresh", "start over and discard an unfinished tuning");
  cli.add_arguments("merge", "FILES", "join these profiles, separated by blanks or commas, instead of tuning");
  cli.add_arguments("fit", "FILES",
                    "fit cost models to these timings of 'clbake bench choice --times' instead of tuning: so the "
                    "profiles that clbake ships are made");
}

// The search that the options ask for, with `output` as its profile; `arguments` are recorded as its command.
builder::tune::TuneOptions tune_options(const Cli& cli, const std::vector<std::string>& arguments,
                                        const std::string& output) {
  builder::tune::TuneOptions options;
  options.kinds = kinds_of(cli.real_precisions("precision"), cli.text("trans", "nn,nt,tn,tt"));
  options.strategy = static_cast<builder::tune::Strategy>(
      number_of("strategy", cli.text("strategy", "staged"), std::array{"staged", "exhaustive"}));
  if (cli.has("variant")) set_variants(cli, options);
  options.budget = budget_of(cli, options.strategy);
  if (cli.has("family")) options.families = families_of(cli.list("family"));
  if (cli.has("shard")) {
    const Shard shard = shard_of(cli.text("shard"));
    options.shard = shard.index;
    options.shards = shard.count;
  }
  options.seed = cli.size("seed", 1);
  options.parallel = cli.jobs();
  options.timeout = cli.timeout(0);
  options.fresh = cli.has("fresh");
  options.worker = os::path_of_program();
  options.work = output + ".work";
  options.command = "clbake tune";
  for (const std::string& argument : arguments) {
    if (argument != "--fresh") options.command += " " + argument;
  }
  set_devices(cli.text("device"), options);
  set_shapes(cli, options);
  set_prior(cli.text("prior"), options);
  check_variants(options);
  return options;
}

// ---- The search

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
