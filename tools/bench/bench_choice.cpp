// `clbake bench choice`: how good the runtime's choice is for problems that were not timed for the profile.
#include "bench/bench.hpp"
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "cli/progress_bar.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/shape/shapes_file.hpp>
#include <clbake/builder/times.hpp>
#include <clbake/choice.hpp>
#include <clbake/os/paths.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>

namespace clbake::tool {
namespace {

constexpr double kTurnUs = 1000;  // least length of a turn
constexpr double kSlow = 3;       // variants so many times slower than the fastest drop out after the first round
// Products of so few multiplications are compared with the reference, which takes it some milliseconds.
constexpr std::uint64_t kChecked = std::uint64_t{1} << 20;

struct Candidate {
  std::string variant;
  std::vector<double> turns_us;  // the median call of each turn
};

// The first call warms up and is not counted.
double turn_us(builder::GemmRun& gemm_run, Gemm& gemm) {
  need(gemm_run.run(gemm), gemm.explanation().variant);
  std::vector<double> calls;
  for (double total = 0; total < kTurnUs; total += calls.back()) calls.push_back(need(gemm_run.time(gemm)));
  return builder::median(calls);
}

bool is_right(builder::GemmRun& gemm_run, Gemm& gemm) {
  need(gemm_run.reset());
  need(gemm_run.run(gemm));
  return need(gemm_run.check()).ok();
}

// Every variant that the library loads and that computes the problem, after its first turn.
std::vector<Candidate> candidates_of(const Served& served, const Problem& problem, builder::GemmRun& gemm_run) {
  const bool is_small = problem.m * problem.n * problem.k * problem.batch <= kChecked;
  std::vector<Candidate> candidates;
  std::vector<std::uint32_t> capable = capable_variants(served.bundle, problem);
  Problem other = problem;
  if (read_otherwise(other)) {
    for (const std::uint32_t i : capable_variants(served.bundle, other)) capable.push_back(i);
  }
  for (const std::uint32_t i : capable) {
    const std::string variant = served.bundle.variant(i)->name;
    Result<Gemm> gemm = served.library.prepare(problem, variant);
    if (!gemm) continue;  // not baked for this device, or its workspace is too large
    if (is_small && !is_right(gemm_run, *gemm)) continue;
    candidates.push_back({variant, {turn_us(gemm_run, *gemm)}});
  }
  return candidates;
}

// One row of the report. Variants take turns: a slow moment of the machine meets all of them. The fastest of many is
// also the luckiest, so that the ratio is a little less than it should be; more rounds help.
Json time_choice(const BenchDevice& on, const Served& served, const Problem& problem, std::size_t rounds) {
  const std::string choice = need(served.library.prepare(problem), served.name).explanation().variant;
  builder::GemmRun gemm_run = need(builder::GemmRun::create(on.session, on.device, problem));
  std::vector<Candidate> candidates = candidates_of(served, problem, gemm_run);
  double fastest = INFINITY;
  for (const Candidate& candidate : candidates) fastest = std::min(fastest, candidate.turns_us[0]);
  for (std::size_t round = 1; round < rounds; ++round) {
    for (Candidate& candidate : candidates) {
      if (candidate.turns_us[0] > kSlow * fastest && candidate.variant != choice) continue;
      // Prepared again for each turn: the workspaces of all candidates may not fit the device at once.
      Gemm gemm = need(served.library.prepare(problem, candidate.variant));
      candidate.turns_us.push_back(turn_us(gemm_run, gemm));
    }
  }
  std::map<std::string, double> us;
  std::vector<double> spreads;
  for (const Candidate& candidate : candidates) {
    const auto figures = builder::profile::figures_of(candidate.turns_us, true);
    us[candidate.variant] = figures.median_us;
    if (figures.runs > 1) spreads.push_back(figures.spread);
  }
  if (us.count(choice) == 0) throw Failure(choice + ": wrong result");
  std::string best = choice;
  for (const Candidate& candidate : candidates) {
    const bool is_whole = candidate.turns_us.size() == rounds;  // timed as often as the choice
    if (is_whole && us[candidate.variant] < us[best]) best = candidate.variant;
  }
  return {{"precision", clbake::name(problem.precision)},
          {"trans", trans_name(problem)},
          {"m", problem.m},
          {"n", problem.n},
          {"k", problem.k},
          {"batch", problem.batch},
          {"variants", us.size()},
          {"spread", spreads.empty() ? 0 : builder::median(spreads)},
          {"timed", us},
          {"choice", choice},
          {"choice_us", us[choice]},
          {"best", best},
          {"best_us", us[best]},
          {"ratio", us[best] / us[choice]}};
}

// The problems of --problems, or of --sizes, in every kind.
std::vector<Problem> problems_of(const Cli& cli, const std::vector<GemmKind>& kinds) {
  std::vector<Problem> problems;
  if (cli.has("problems")) {
    for (const builder::Shape& shape : need(builder::read_shapes(cli.text("problems"), kinds), "--problems")) {
      problems.push_back(builder::problem_of(shape));
    }
    return problems;
  }
  const char* const several = "50,100,200,300,500,750,1000,1500,2000,16x2000x700,2000x16x700,100x100x10000";
  for (const GemmKind& kind : kinds) {
    for (const Size& size : sizes_of(cli.text("sizes", several))) problems.push_back(problem_of(kind, size, 1));
  }
  return problems;
}

// The file of --times, row by row, so that an interrupted run leaves what it has timed.
class TimesWriter {
 public:
  // Nothing is written for an empty path.
  TimesWriter(const std::string& path, const BenchDevice& on, const Bundle& bundle, const GemmKind& kind,
              const std::string& command)
      : path_(path) {
    if (path.empty()) return;
    for (const std::uint32_t i : capable_variants(bundle, kind)) variants_.push_back(bundle.variant(i)->name);
    stream_.open(os::native(path));
    write(builder::profile::times_header(
        {on.device.target,
         on.device.compute_units,
         {{"tool", "clbake " CLBAKE_VERSION}, {"date", builder::profile::utc_now()}, {"command", command}},
         kind,
         variants_}));
  }

  void add(const Problem& problem, const Json& row) {
    if (path_.empty()) return;
    std::vector<double> us;
    for (const std::string& variant : variants_) us.push_back(row["timed"].value(variant, 0.0));
    write(builder::profile::times_row(builder::shape_of(problem), row["spread"], us));
  }

 private:
  void write(const std::string& text) {
    stream_ << text << std::flush;
    if (!stream_) throw Failure(path_ + ": cannot be written");
  }

  std::string path_;
  std::vector<std::string> variants_;
  std::ofstream stream_;
};

void print_choice(const Json& report) {
  std::printf(
      "%s; driver %s; medians of %zu turns. ratio: the best variant's time over the choice's; 1: none is faster\n\n",
      cell_text(report["device"]).c_str(), cell_text(report["driver"]).c_str(), report["rounds"].get<std::size_t>());
  print_table({"precision",
               "trans",
               "m",
               "n",
               "k",
               "batch",
               "choice",
               {"us", "choice_us"},
               {"best us", "best_us"},
               "ratio",
               "best"},
              report["rows"]);
  std::printf("\nThe choice reaches %.1f %% of the best (geometric mean), at least %.1f %%.\n",
              100 * report["geometric_mean"].get<double>(), 100 * report["minimum"].get<double>());
}

}  // namespace

int bench_choice(const std::vector<std::string>& arguments) {
  Cli cli("bench choice FILE [OPTIONS]",
          "Times all variants of the bundle for some problems: how close does the one that the profile chooses\n"
          "come to the best? Those more than three times slower than the fastest drop out after their first\n"
          "turn.");
  cli.add_device();
  cli.add_precision("single,double");
  cli.add_value("trans", "LIST", "nn, nt, tn, tt, separated by commas; default nn");
  cli.add_value("sizes", "LIST", "N or MxNxK, separated by commas; default: some from 50 to 2000");
  cli.add_value("problems", "FILE", "instead of --sizes: MxNxK [batch N] on each line");
  cli.add_value("rounds", "N", "turns of each variant; default 5");
  cli.add_value("times", "FILE",
                "also write the times of one precision and pair of transposes as CSV, to fit a profile to");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::size_t rounds = cli.size("rounds", 5, 1, 10000);
  const std::vector<GemmKind> kinds = kinds_of(cli.real_precisions("precision"), cli.text("trans", "nn"));
  const std::string file = cli.file(), times = behind_links(cli.text("times"));
  if (cli.has("times") && (times.empty() || kinds.size() != 1)) {
    throw UsageError("--times: needs a file, one --precision and one pair of --trans");
  }
  check_not_input(times, {file, cli.text("problems")}, "--times");
  const std::vector<Problem> problems = problems_of(cli, kinds);
  for (const Problem& problem : problems) {
    if (times.empty() || problem.kind() == kinds.front()) continue;
    throw UsageError("--times: is for " + builder::kind_name(kinds.front()) + " alone, and --problems has " +
                     builder::kind_name(problem.kind()));
  }

  const Bundle bundle = open_verified(file);
  const BenchDevice on = open_device(bundle, cli.text("device"));
  const Served served = serve(on, bundle, file);
  std::string command = "clbake bench choice";
  for (const std::string& argument : arguments) command += " " + argument;
  TimesWriter writer(times, on, bundle, kinds.front(), command);
  ProgressBar bar;
  Json rows = Json::array();
  std::vector<double> ratios;
  for (const Problem& problem : problems) {
    rows.push_back(time_choice(on, served, problem, rounds));
    ratios.push_back(rows.back()["ratio"]);
    writer.add(problem, rows.back());
    bar.show(rows.size(), problems.size(), name(Size{problem.m, problem.n, problem.k}));
  }
  bar.clear();
  const Json report = {{"device", on.device.target.device_name},
                       {"driver", on.device.target.driver_version},
                       {"rounds", rounds},
                       {"geometric_mean", geometric_mean(ratios)},
                       {"minimum", *std::min_element(ratios.begin(), ratios.end())},
                       {"rows", rows}};
  cli.has("json") ? print(report) : print_choice(report);
  return kSuccess;
}

}  // namespace clbake::tool
