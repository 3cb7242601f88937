// `clbake bench choice`: how good the runtime's choice is for problems that were not timed for the profile.
#include "bench/alternate.hpp"
#include "bench/choice/choice_timing.hpp"
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/progress_bar.hpp"
#include "cli/table.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/shape/shapes_file.hpp>
#include <clbake/builder/times.hpp>
#include <clbake/choice.hpp>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <set>

namespace clbake::tool {
namespace {

struct DrawOptions {
  std::vector<Precision> precisions;
  std::vector<GemmKind> transposes;  // of any precision
  std::size_t shapes = 0;
  std::size_t min = 0;
  std::size_t max = 0;
  std::size_t limit = 0;    // of m * n * k
  std::vector<Size> sizes;  // instead of random ones
  std::string file;         // of problems, instead of random ones
  std::size_t batch = 1;
  std::uint32_t seed = 1;
};

Problem problem_of(const DrawOptions& o, Precision precision, const GemmKind& transposes, const Size& size) {
  GemmKind kind = transposes;
  kind.precision = precision;
  return problem_of(kind, size, o.batch);
}

// Random problems, each size log-uniform from min to max. The standard library's distributions are not used: they
// differ between implementations.
std::vector<Problem> draw(const DrawOptions& o) {
  // Gives up when, after many tries, fewer than one draw in a thousand is within the limit.
  const std::size_t most_draws = 1000000 + 1000 * o.shapes;
  std::mt19937 random(o.seed);
  const auto size = [&] {
    const double part = static_cast<double>(random()) / 4294967296.0;
    const double low = static_cast<double>(o.min);
    const double x = low * std::pow((static_cast<double>(o.max) + 1) / low, part);
    return std::clamp(static_cast<std::size_t>(x), o.min, o.max);
  };
  std::vector<Problem> problems;
  for (std::size_t draws = 0; problems.size() < o.shapes && draws < most_draws; ++draws) {
    const Precision precision = o.precisions[random() % o.precisions.size()];
    const GemmKind& t = o.transposes[random() % o.transposes.size()];
    const std::size_t m = size(), n = size(), k = size();
    if (m > o.limit / n / k) continue;
    problems.push_back(problem_of(o, precision, t, {m, n, k}));
  }
  if (problems.size() < o.shapes) {
    throw UsageError("--limit: hardly any sizes from --min to --max have at most " + std::to_string(o.limit) +
                     " multiplications");
  }
  return problems;
}

DrawOptions draw_options(const Cli& cli) {
  DrawOptions o;
  o.precisions = cli.real_precisions("precision");
  o.transposes = kinds_of({Precision::single_precision}, cli.text("trans", "nn"));
  o.shapes = cli.size("shapes", 60, 1, 100000);
  o.min = cli.size("min", 16, 1, 65536);
  o.max = cli.size("max", 4096, 1, 65536);
  if (o.min > o.max) throw UsageError("--min: " + std::to_string(o.min) + " is more than --max");
  o.limit = cli.size("limit", SIZE_MAX, 1);
  if (cli.has("sizes")) o.sizes = sizes_of(cli.text("sizes"));
  o.file = cli.text("problems");
  o.batch = cli.size("batch", 1, 1, INT32_MAX);
  o.seed = static_cast<std::uint32_t>(cli.size("seed", 1, 0, UINT32_MAX));
  return o;
}

// Those of the file, or the given sizes in every kind, or random ones.
std::vector<Problem> problems_of(const DrawOptions& o) {
  if (o.file.empty() && o.sizes.empty()) return draw(o);
  std::vector<GemmKind> kinds;
  for (const Precision precision : o.precisions) {
    for (GemmKind kind : o.transposes) {
      kind.precision = precision;
      kinds.push_back(kind);
    }
  }
  std::vector<Problem> problems;
  for (const GemmKind& kind : kinds) {
    for (const Size& size : o.sizes) problems.push_back(problem_of(kind, size, o.batch));
  }
  if (o.file.empty()) return problems;
  for (const builder::Shape& shape : need(builder::read_shapes(o.file, kinds), "--problems")) {
    problems.push_back(builder::problem_of(shape));
  }
  return problems;
}

Json to_json(const ChoiceTiming& row) {
  const Problem& p = row.problem;
  return {{"precision", clbake::name(p.precision)},
          {"trans", trans_name(p)},
          {"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"batch", p.batch},
          {"variants", row.us.size()},
          {"timed", row.us},
          {"choice", row.choice},
          {"choice_us", row.choice_us},
          {"best", row.best},
          {"best_us", row.best_us},
          {"ratio", row.ratio}};
}

void declare_options(Cli& cli) {
  cli.add_device();
  cli.add_precision("single,double");
  cli.add_value("trans", "LIST", "nn, nt, tn, tt, separated by commas; default nn");
  cli.add_value("shapes", "N", "number of problems; default 60");
  cli.add_value("min", "N", "least m, n and k; default 16");
  cli.add_value("max", "N", "largest m, n and k, which are log-uniform between the two; default 4096");
  cli.add_value("limit", "N", "draw only problems with m * n * k up to N; default: no limit");
  cli.add_value("sizes", "LIST", "these problems instead of random ones: N or MxNxK, separated by commas");
  cli.add_value("batch", "N", "products of each call, one behind the other in memory (a strided batch); default 1");
  cli.add_value("candidates", "FILE", "time the variants of this bundle, too");
  cli.add_value("seed", "N", "seed of the problems; default 1");
  cli.add_value("rounds", "N", "turns of each variant; default 5");
  cli.add_value("problems", "FILE", "the problems of this file instead of random ones: MxNxK [batch N] on each line");
  cli.add_value("times", "FILE",
                "also write the times of one precision and pair of transposes as CSV, to fit a profile to");
  cli.add_json();
}

void print_report(const Json& report, const Target& target) {
  std::printf(
      "%s; driver %s; medians of %zu turns. ratio: the best variant's time over the choice's; 1: none is faster\n\n",
      target.device_name.c_str(), target.driver_version.c_str(), report["rounds"].get<std::size_t>());
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
  std::printf("\nThe choice reaches %.1f %% of the best (geometric mean), at least %.1f %%. Choosing takes %.0f ns.\n",
              100 * report["geometric_mean"].get<double>(), 100 * report["minimum"].get<double>(),
              report["choosing_ns"].get<double>());
}

Json report_json(const std::vector<ChoiceTiming>& rows, double choosing_ns, const Target& target,
                 const DrawOptions& options, std::size_t rounds) {
  Json list = Json::array();
  std::vector<double> ratios;
  for (const ChoiceTiming& row : rows) {
    list.push_back(to_json(row));
    ratios.push_back(row.ratio);
  }
  return {{"device", target.device_name},
          {"seed", options.seed},
          {"rounds", rounds},
          {"choosing_ns", choosing_ns},
          {"geometric_mean", geometric_mean(ratios)},
          {"minimum", *std::min_element(ratios.begin(), ratios.end())},
          {"rows", list}};
}

// The file of --times, row by row, so that an interrupted run leaves what it has timed.
class TimesWriter {
 public:
  // Nothing is written for an empty path.
  TimesWriter(const std::string& path, const BenchDevice& on, const std::vector<Served>& contenders,
              const GemmKind& kind, const std::string& command)
      : path_(path) {
    if (path.empty()) return;
    std::set<std::string> variants;
    for (const Served& from : contenders) {
      for (const std::uint32_t i : capable_variants(from.bundle, kind)) variants.insert(from.bundle.variant(i)->name);
    }
    file_ = {on.device.target,
             on.device.compute_units,
             {{"tool", "clbake " CLBAKE_VERSION}, {"date", builder::utc_now()}, {"command", command}},
             kind,
             {variants.begin(), variants.end()}};
    stream_.open(path);
    write(builder::times_header(file_));
  }

  void add(const ChoiceTiming& row) {
    if (path_.empty()) return;
    std::vector<double> us;
    for (const std::string& variant : file_.variants) {
      const auto at = row.us.find(variant);
      us.push_back(at == row.us.end() ? 0 : at->second);
    }
    write(builder::times_row(builder::shape_of(row.problem), us));
  }

 private:
  void write(const std::string& text) {
    stream_ << text << std::flush;
    if (!stream_) throw Failure(path_ + ": cannot be written");
  }

  std::string path_;
  builder::TimesFile file_;
  std::ofstream stream_;
};

}  // namespace

int bench_choice(const std::vector<std::string>& arguments) {
  Cli cli(
      "bench choice FILE [OPTIONS]",
      "Draws random problems and times all variants of the bundle for each: how close does the one that the profile\n"
      "chooses come to the best?");
  declare_options(cli);
  if (const auto status = cli.parse(arguments)) return *status;
  const DrawOptions options = draw_options(cli);
  const std::size_t rounds = cli.size("rounds", 5, 1, 10000);
  const std::string times = behind_links(cli.text("times"));
  if (cli.has("times") && (times.empty() || options.precisions.size() * options.transposes.size() != 1)) {
    throw UsageError("--times: needs a file, one --precision and one pair of --trans");
  }
  const std::string file = cli.file();
  need(check_not_input(times, {file, cli.text("candidates"), options.file}), "--times");
  const std::vector<Problem> problems = problems_of(options);
  const BenchBundle bundle = open_bundle(file, cli.text("device"));
  std::vector<Served> contenders = {serve(bundle.on, bundle.bundle, file)};
  if (cli.has("candidates")) {
    const std::string more = cli.text("candidates");
    contenders.push_back(serve(bundle.on, need(open_verified(more)), more));
  }
  const Target& target = bundle.on.device.target;
  std::string command = "clbake bench choice";
  for (const std::string& argument : arguments) command += " " + argument;
  const double choosing_ns = time_choosing(bundle.bundle, file, target, problems);
  TimesWriter writer(times, bundle.on, contenders, problems.front().kind(), command);
  ProgressBar bar;
  std::vector<ChoiceTiming> rows;
  for (const Problem& problem : problems) {
    rows.push_back(time_choice(bundle.on, contenders, problem, rounds));
    writer.add(rows.back());
    bar.show(rows.size(), problems.size(), name(Size{problem.m, problem.n, problem.k}));
  }
  bar.clear();
  const Json report = report_json(rows, choosing_ns, target, options, rounds);
  cli.has("json") ? print(report) : print_report(report, target);
  return kSuccess;
}

}  // namespace clbake::tool
