// `clbake bench choice`: how good the runtime's choice is for problems that were not timed for the profile.
#include "bench/alternate.hpp"
#include "bench/choice/choice_timing.hpp"
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "cli/progress_bar.hpp"
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
Result<std::vector<Problem>> problems_of(const DrawOptions& o) {
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
  const Result<std::vector<builder::Shape>> shapes = builder::read_shapes(o.file, kinds);
  if (!shapes) return shapes.status();
  for (const builder::Shape& shape : *shapes) problems.push_back(builder::problem_of(shape));
  return problems;
}

struct Summary {
  double geometric_mean = 1;
  double minimum = 1;
};

Summary summary_of(const std::vector<ChoiceTiming>& rows) {
  std::vector<double> ratios;
  for (const ChoiceTiming& row : rows) ratios.push_back(row.ratio);
  return {geometric_mean(ratios), *std::min_element(ratios.begin(), ratios.end())};
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

void print_table(const std::vector<ChoiceTiming>& rows, const Target& target, std::size_t rounds) {
  std::printf(
      "%s; driver %s; medians of %zu turns. ratio: the best variant's time over the choice's; 1: none is faster\n\n",
      target.device_name.c_str(), target.driver_version.c_str(), rounds);
  int width = 6;
  for (const ChoiceTiming& row : rows) width = std::max(width, static_cast<int>(row.choice.size()));
  std::printf("| precision | op | %-18s | %-*s | %12s | %12s | %5s | best\n", "m x n x k", width, "choice", "median us",
              "best us", "ratio");
  std::printf("|-----------|----|--------------------|%s|-------------:|-------------:|------:|------\n",
              std::string(static_cast<std::size_t>(width) + 2, '-').c_str());
  for (const ChoiceTiming& row : rows) {
    const Problem& p = row.problem;
    std::string size = std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k);
    if (p.batch > 1) size += ", " + std::to_string(p.batch);
    std::printf("| %-9s | %s | %-18s | %-*s | %12.1f | %12.1f | %5.2f | %s\n", clbake::name(p.precision),
                trans_name(p).c_str(), size.c_str(), width, row.choice.c_str(), row.choice_us, row.best_us, row.ratio,
                row.best == row.choice ? "the choice" : row.best.c_str());
  }
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
                "also write the times of one precision and pair of transposes, for 'clbake tune --fit'");
  cli.add_json();
}

void print_report(const std::vector<ChoiceTiming>& rows, const ChoosingCost& choosing, const Target& target,
                  std::size_t rounds) {
  const Summary summary = summary_of(rows);
  print_table(rows, target, rounds);
  std::printf("\nThe choice reaches %.1f %% of the best (geometric mean), at least %.1f %%. Choosing takes %.0f ns.\n",
              100 * summary.geometric_mean, 100 * summary.minimum, choosing.ns);
}

Json report_json(const std::vector<ChoiceTiming>& rows, const ChoosingCost& choosing, const Target& target,
                 const DrawOptions& options, std::size_t rounds) {
  const Summary summary = summary_of(rows);
  Json list = Json::array();
  for (const ChoiceTiming& row : rows) list.push_back(to_json(row));
  return {{"device", target.device_name},
          {"seed", options.seed},
          {"rounds", rounds},
          {"choosing_ns", choosing.ns},
          {"geometric_mean", summary.geometric_mean},
          {"minimum", summary.minimum},
          {"rows", list}};
}

// The file of --times, row by row, so that an interrupted run leaves what it has timed.
class TimesWriter {
 public:
  // Nothing is written for an empty path.
  TimesWriter(const std::string& path, const BenchDevice& on, const std::vector<Contenders>& contenders,
              const GemmKind& kind, const std::string& command)
      : path_(path) {
    if (path.empty()) return;
    std::set<std::string> variants;
    for (const Contenders& from : contenders) {
      for (const std::uint32_t i : capable_variants(from.bundle, kind)) variants.insert(from.bundle.variant(i)->name);
    }
    file_ = {on.device.target,
             on.device.compute_units,
             {{"tool", "clbake " CLBAKE_VERSION}, {"date", builder::utc_now()}, {"command", command}},
             kind,
             {variants.begin(), variants.end()}};
    stream_.open(path);
    stream_ << builder::times_header(file_) << std::flush;
  }

  Status add(const ChoiceTiming& row) {
    if (path_.empty()) return {};
    std::vector<double> us;
    for (const std::string& variant : file_.variants) {
      const auto at = row.us.find(variant);
      us.push_back(at == row.us.end() ? 0 : at->second);
    }
    stream_ << builder::times_row(builder::shape_of(row.problem), us) << std::flush;
    return stream_ ? Status() : Status(Code::io, path_ + ": cannot be written");
  }

 private:
  std::string path_;
  builder::TimesFile file_;
  std::ofstream stream_;
};

// The bundle, and the one of --candidates, if any: what is baked in them.
Result<std::vector<Contenders>> contenders_of(const BenchBundle& bundle, const std::string& candidates) {
  Options baked_only;
  baked_only.on_miss = OnMiss::fail;
  std::vector<Contenders> list;
  const auto add = [&](const Bundle& from) {
    Result<Library> library = open_library(bundle.on, from, baked_only);
    if (library) list.push_back({from, std::move(*library)});
    return library.status();
  };
  Status added = add(bundle.bundle);
  if (!added) return added;
  if (candidates.empty()) return list;
  const Result<Bundle> more = open_verified(candidates);
  if (!more) return more.status();
  added = add(*more);
  if (!added) return added.within(candidates);
  return list;
}

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
  const Result<std::vector<Problem>> drawn = problems_of(options);
  if (!drawn) return fail("bench choice", drawn.status().within("--problems"));
  const std::vector<Problem>& problems = *drawn;

  const Result<BenchBundle> bundle = open_bundle(cli.file(), cli.text("device"));
  if (!bundle) return fail("bench choice", bundle.status());
  Result<std::vector<Contenders>> contenders = contenders_of(*bundle, cli.text("candidates"));
  if (!contenders) return fail("bench choice", contenders.status());
  const Target& target = bundle->on.device.target;
  const Result<ChoosingCost> choosing = time_choosing(bundle->bundle, target, problems);
  if (!choosing) return fail("bench choice", choosing.status().within(cli.file()));
  std::string command = "clbake bench choice";
  for (const std::string& argument : arguments) command += " " + argument;
  TimesWriter writer(times, bundle->on, *contenders, problems.front().kind(), command);
  ProgressBar bar;
  std::vector<ChoiceTiming> rows;
  for (const Problem& problem : problems) {
    const Result<ChoiceTiming> row = time_choice(bundle->on, *contenders, problem, rounds);
    if (!row) return fail("bench choice", row.status().within(cli.file()));
    rows.push_back(*row);
    const Status written = writer.add(*row);
    if (!written) return fail("bench choice", written);
    bar.show(rows.size(), problems.size(), name(Size{problem.m, problem.n, problem.k}));
  }
  bar.clear();
  if (cli.has("json")) {
    print(report_json(rows, *choosing, target, options, rounds));
  } else {
    print_report(rows, *choosing, target, rounds);
  }
  return kSuccess;
}

}  // namespace clbake::tool
