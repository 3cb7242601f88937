// `clbake tune`: search, merge, report.
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/progress_bar.hpp"
#include "command/tune_merge.hpp"
#include "command/verbs.hpp"
#include "report/tune_report.hpp"

#include <clbake/builder/process.hpp>
#include <clbake/builder/tune.hpp>
#include <clbake/builder/tuning_file.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <set>

namespace clbake::tool {
namespace {

std::atomic<bool> interrupted{false};

void on_signal(int) { interrupted = true; }

builder::Strategy strategy_of(const std::string& text) {
  for (const builder::Strategy s :
       {builder::Strategy::staged, builder::Strategy::random, builder::Strategy::exhaustive}) {
    if (text == builder::name(s)) return s;
  }
  throw UsageError("--strategy: '" + text + "' is none of staged, random, exhaustive");
}

std::vector<kernels::Family> families_of(const std::vector<std::string>& names) {
  std::vector<kernels::Family> families;
  for (const std::string& wanted : names) {
    const auto* const at = std::find_if(std::begin(kernels::all_families), std::end(kernels::all_families),
                                        [&](const kernels::Family family) { return kernels::name(family) == wanted; });
    if (at == std::end(kernels::all_families)) throw UsageError("--family: '" + wanted + "' is no family of kernels");
    if (std::find(families.begin(), families.end(), *at) == families.end()) families.push_back(*at);
  }
  return families;
}

// A preset's name comes before a file's.
Status set_shapes(const std::string& text, builder::TuneOptions& options) {
  const std::optional<builder::TuneShapes> preset = builder::preset_shapes(text, options.devices.front().type);
  if (preset) {
    options.shapes = *preset;
    return {};
  }
  Result<builder::TuneShapes> shapes = builder::read_shapes(text);
  if (!shapes) return shapes.status().within("--shapes");
  options.shapes = std::move(*shapes);
  return {};
}

// The first selected device and those identical to it.
Status set_devices(const std::string& spec, builder::TuneOptions& options) {
  const Result<std::vector<builder::Device>> all = builder::list_devices();
  if (!all) return all.status();
  Result<std::vector<builder::Device>> selected = builder::select_one_target(*all, spec);
  if (!selected) return selected.status().within("--device");
  options.devices = std::move(*selected);
  const Target& tuned = options.devices.front().target;
  for (const builder::Device& device : *all) {
    if (!spec.empty() || device.target == tuned) continue;
    std::fprintf(stderr, "clbake tune: tunes %s, not %s: each needs a tuning of its own (--device)\n",
                 tuned.device_name.c_str(), device.target.device_name.c_str());
  }
  return {};
}

// The largest shape of each class, for the first pair of transposes of each precision: all of them fill a page.
std::vector<builder::Winner> shown_winners(const builder::Tuning& tuning) {
  std::vector<builder::Winner> shown;
  const auto shape_of = [&](const builder::Winner& winner) { return tuning.shapes[winner.figures.shape]; };
  for (const builder::Winner& winner : tuning.winners) {
    const builder::Shape shape = shape_of(winner);
    const auto first = std::find_if(tuning.shapes.begin(), tuning.shapes.end(),
                                    [&](const builder::Shape& s) { return s.precision == shape.precision; });
    if (shape.trans_a != first->trans_a || shape.trans_b != first->trans_b) continue;
    const auto same = std::find_if(shown.begin(), shown.end(), [&](const builder::Winner& w) {
      return w.shape_class == winner.shape_class && shape_of(w).precision == shape.precision;
    });
    if (same == shown.end()) {
      shown.push_back(winner);
    } else if (builder::operations(shape) > builder::operations(shape_of(*same))) {
      *same = winner;
    }
  }
  return shown;
}

// "single nn, single nt": what there are rules of.
std::string tuned_kinds(const builder::Tuning& tuning) {
  std::string text;
  std::set<std::string> said;
  for (const cache::Rule& rule : tuning.rules) {
    const std::string kind = builder::kind_name(rule);
    if (said.insert(kind).second) text += (text.empty() ? "" : ", ") + kind;
  }
  return text;
}

void print_winners(const builder::Tuning& tuning, const std::string& file) {
  std::printf("%s: %u variants tried on %s in %.0f s, %zu failed\n\n", file.c_str(), tuning.tried,
              tuning.target.device_name.c_str(), tuning.elapsed_s, tuning.failures.size());
  std::printf("| class     | largest shape                          |  median us |    GFLOP/s | variant\n");
  std::printf("|-----------|----------------------------------------|-----------:|-----------:|--------\n");
  for (const builder::Winner& winner : shown_winners(tuning)) {
    const builder::Shape& shape = tuning.shapes[winner.figures.shape];
    std::printf("| %-9s | %-38s | %10.1f | %10.1f | %s\n", winner.shape_class.c_str(), builder::name(shape).c_str(),
                winner.figures.median_us, builder::gflops(shape, winner.figures.median_us),
                tuning.variants[winner.figures.variant].c_str());
  }
  std::printf("\n%zu variants serve %s, by %zu rules: 'clbake build --profile %s' bakes them\n",
              builder::wanted_variants(tuning).size(), tuned_kinds(tuning).c_str(), tuning.rules.size(), file.c_str());
}

// Whether the list of a shapes file is still the one that was tuned.
bool has_shapes(const builder::Tuning& tuning, const builder::TuneShapes& wanted) {
  const auto there = [&](builder::Shape shape) {
    return std::any_of(tuning.shapes.begin(), tuning.shapes.end(), [&](const builder::Shape& s) {
      return s.m == shape.m && s.n == shape.n && s.k == shape.k && s.batch == shape.batch;
    });
  };
  return std::all_of(wanted.list.begin(), wanted.list.end(), there);
}

class Display {
 public:
  explicit Display(double budget) : budget_(budget) {}

  void show(const builder::TuneProgress& p) {
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

// An output that exists must be one of ours: a slip of the hand must not cost somebody's file, nor a tuning its end.
Status check_output(const std::string& path) {
  if (path.empty()) return {Code::invalid_argument, "the output has no name"};
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return {};
  if (!std::filesystem::is_regular_file(status)) {
    return {Code::invalid_argument, path + ": exists and is not a regular file"};
  }
  const Result<builder::Tuning> old = builder::read_tuning(path);
  if (old || old.status().code() != Code::malformed) return {};
  return {Code::invalid_argument, path + ": exists and is no profile; it stays as it is"};
}

// The page takes no profile's place, least of all that of the one it shows.
Status check_report(const std::string& path, const std::string& profile) {
  std::error_code error;
  const auto place = [&](const std::string& file) { return std::filesystem::weakly_canonical(file, error); };
  if (place(path) == place(profile) || builder::read_tuning(path)) {
    return {Code::invalid_argument, "--report: " + path + ": is a profile; it stays as it is"};
  }
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return {};
  if (!std::filesystem::is_regular_file(status)) {
    return {Code::invalid_argument, "--report: " + path + ": exists and is not a regular file"};
  }
  if (std::filesystem::file_size(path, error) == 0 || is_report(path)) return {};
  return {Code::invalid_argument, "--report: " + path + ": exists and is no report of a tuning; it stays as it is"};
}

// Whether the same command has ended before.
bool is_done(const std::string& output, const builder::TuneOptions& options) {
  const Result<builder::Tuning> tuning = builder::read_tuning(output);
  return tuning && tuning->complete && tuning->command == options.command &&
         tuning->target == options.devices.front().target && tuning->tool == "clbake " CLBAKE_VERSION &&
         tuning->compute_units == options.devices.front().compute_units && has_shapes(*tuning, options.shapes);
}

int write(const builder::Tuning& tuning, const std::string& output, const std::string& report) {
  const Status written = builder::write_tuning(output, tuning);
  if (!written) return fail("tune", written);
  const Status drawn = report.empty() ? Status() : write_report(report, tuning);
  return drawn ? kSuccess : fail("tune", drawn.within("--report"));
}

int report_from(const std::string& file, const std::string& report) {
  const Result<builder::Tuning> tuning = builder::read_tuning(file);
  if (!tuning) return fail("tune", tuning.status());
  const Status written = write_report(report, *tuning);
  return written ? kSuccess : fail("tune", written.within("--report"));
}

int search(const builder::TuneOptions& options, const std::string& output, const std::string& report) {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  Display display(options.budget.count());
  const auto show = [&](const builder::TuneProgress& progress) { display.show(progress); };
  const Result<builder::Tuning> tuning = builder::tune(options, interrupted, show);
  display.clear();
  if (!tuning) {
    if (tuning.status().code() != Code::cancelled) return fail("tune", tuning.status());
    display.message("clbake tune: interrupted; what is done is kept, the same command goes on from there");
    return kInterrupted;
  }
  if (!tuning->complete && tuning->measurements.empty()) {  // an earlier profile is worth more
    display.message("clbake tune: interrupted before anything was timed; the same command goes on from there");
    return kInterrupted;
  }
  const Result<builder::Tuning> earlier = builder::read_tuning(output);
  if (!tuning->complete && earlier && (earlier->complete || earlier->command != options.command)) {
    display.message("clbake tune: interrupted; " + output +
                    " keeps its earlier profile, the same command goes on from there");
    return kInterrupted;
  }
  const int status = write(*tuning, output, report);
  if (status != kSuccess) return status;
  if (!tuning->complete) {
    display.message("clbake tune: interrupted; " + output +
                    " holds what is known by now, the same command goes on from there");
    return kInterrupted;
  }
  builder::forget_tuning(options.work);
  print_winners(*tuning, output);
  return kSuccess;
}

}  // namespace

int tune(const std::vector<std::string>& arguments) {
  namespace po = boost::program_options;
  Cli cli("tune [OPTIONS] -o PROFILE.json",
          "Finds the best variants of a device for every kind of problem, and the rules by which the runtime chooses\n"
          "among them; 'clbake build --profile PROFILE.json' bakes them.");
  cli.options()("output,o", po::value<std::string>(), "the profile to write");
  cli.options()("device", po::value<std::string>(),
                "SPEC: an index of 'clbake devices', or part of a name; identical devices are tuned side by side");
  cli.options()("precision", po::value<std::string>(),
                "half, single, double, separated by commas; default single,double");
  cli.options()("trans", po::value<std::string>(),
                "nn, nt, tn, tt, separated by commas, the most important first; default all");
  cli.options()("budget", po::value<std::string>(),
                "time to spend, for example 90s, 10m, 2h; default 10m, with --strategy exhaustive none");
  cli.options()("shapes", po::value<std::string>(),
                "all, square, thin, small, batched, or a file with MxNxK or MxNxK batch N on each line; default all");
  cli.options()("strategy", po::value<std::string>(), "staged, random, exhaustive; default staged");
  cli.options()("family", po::value<std::vector<std::string>>()->composing(),
                "families of kernels to search, separated by commas; default all");
  cli.options()("seed", po::value<std::string>(), "of the order in which variants are tried; default 1");
  cli.options()("shard", po::value<std::string>(), "I/N: only the I-th of N parts of the space, for --merge");
  cli.options()("jobs", po::value<std::string>(), "compilations at a time; default: one for each core");
  cli.options()("timeout", po::value<std::string>(), "seconds after which a variant is given up; default 20");
  cli.options()("fresh", "start over, throw an unfinished tuning away");
  cli.options()("merge", po::value<std::vector<std::string>>()->multitoken()->composing(),
                "join these profiles, separated by blanks or commas, instead of tuning");
  cli.options()("force", "with --merge: although they are of different devices");
  cli.options()(
      "brief",
      "with --merge: keep the rules and what they were measured by only, as in the profiles that clbake ships");
  cli.options()("report", po::value<std::string>(), "write a page for the browser, too");
  cli.options()("from", po::value<std::string>(), "with --report: from this profile, instead of tuning");
  if (const auto status = cli.parse(arguments)) return *status;
  if (cli.has("from")) {
    if (!cli.has("report") || cli.has("output")) throw UsageError("--from: needs --report, and no -o");
    const Status page = check_report(behind_links(cli.text("report")), cli.text("from"));
    return page ? report_from(cli.text("from"), behind_links(cli.text("report"))) : fail("tune", page);
  }
  if (!cli.has("output")) throw UsageError("the option '--output' is required but missing");
  const std::string output = behind_links(cli.text("output"));
  Status places = check_output(output);
  if (places && cli.has("report")) places = check_report(behind_links(cli.text("report")), output);
  if (!places) return fail("tune", places);
  if (cli.has("merge")) return tune_merge(cli.list("merge"), cli.has("force"), cli.has("brief"), output);
  if (cli.has("force") || cli.has("brief")) throw UsageError("--force and --brief: only with --merge");

  builder::TuneOptions options;
  options.precisions = cli.precisions("precision");
  for (const Transposes& t : transposes_of(cli.has("trans") ? cli.text("trans") : "nn,nt,tn,tt")) {
    options.transposes.emplace_back(t.a, t.b);
  }
  if (cli.has("strategy")) options.strategy = strategy_of(cli.text("strategy"));
  if (cli.has("budget") || options.strategy != builder::Strategy::exhaustive) {
    options.budget = std::chrono::duration<double>(seconds_of(cli.has("budget") ? cli.text("budget") : "10m"));
  } else {
    options.budget = std::chrono::duration<double>(0);
  }
  if (cli.has("family")) options.families = families_of(cli.list("family"));
  if (cli.has("shard")) {
    const Shard shard = shard_of(cli.text("shard"));
    options.shard = shard.index;
    options.shards = shard.count;
  }
  options.seed = cli.size("seed", 1);
  options.parallel = static_cast<unsigned>(cli.size("jobs", 0, 0, 1024));
  options.timeout = std::chrono::seconds(cli.size("timeout", 20, 1, 86400));
  options.fresh = cli.has("fresh");
  options.worker = builder::own_path();
  options.work = output + ".work";
  options.command = "clbake tune";
  for (const std::string& argument : arguments) {
    if (argument != "--fresh") options.command += " " + argument;
  }
  Status ready = set_devices(cli.text("device"), options);
  if (ready) ready = set_shapes(cli.has("shapes") ? cli.text("shapes") : "all", options);
  if (!ready) return fail("tune", ready);
  if (!options.fresh && is_done(output, options)) {
    std::printf("%s: this very tuning is complete; --fresh tunes again\n", output.c_str());
    const std::string report = cli.text("report");
    return report.empty() ? kSuccess : report_from(output, behind_links(report));
  }
  return search(options, output, cli.has("report") ? behind_links(cli.text("report")) : std::string());
}

}  // namespace clbake::tool
