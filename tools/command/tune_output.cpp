#include "command/tune_output.hpp"

#include "cli/cli.hpp"

#include <clbake/builder/tuning_file.hpp>

#include <algorithm>
#include <cstdio>
#include <set>

namespace clbake::tool {
namespace {

// The winner on the largest shape of each class and precision, for the precision's first pair of transposes. All
// winners would fill pages.
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

// "single nn, single nt": the kinds that have winners.
std::string tuned_kinds(const builder::Tuning& tuning) {
  std::string text;
  std::set<std::string> listed;
  for (const builder::Winner& winner : tuning.winners) {
    const std::string kind = builder::kind_name(tuning.shapes[winner.figures.shape]);
    if (listed.insert(kind).second) text += (text.empty() ? "" : ", ") + kind;
  }
  return text;
}

// True when all wanted shapes were tuned, with these weights: a file of shapes may have changed.
bool has_shapes(const builder::Tuning& tuning, const builder::tune::TuneShapes& wanted) {
  std::set<std::string> tuned;
  for (const builder::Shape& shape : tuning.shapes) tuned.insert(builder::weighted_name(shape));
  return std::all_of(wanted.list.begin(), wanted.list.end(),
                     [&](const builder::Shape& shape) { return tuned.count(builder::weighted_name(shape)) > 0; });
}

}  // namespace

bool is_complete(const std::string& output, const builder::tune::TuneOptions& options) {
  const Result<builder::Tuning> tuning = builder::read_tuning(output);
  return tuning && tuning->complete && tuning->command == options.command &&
         tuning->target == options.devices.front().target && tuning->tool == "clbake " CLBAKE_VERSION &&
         tuning->compute_units == options.devices.front().compute_units && has_shapes(*tuning, options.shapes);
}

void print_winners(const builder::Tuning& tuning, const std::string& file) {
  std::printf("%s: %s tried on %s in %.0f s, %zu failed\n", file.c_str(), counted(tuning.tried, "variant").c_str(),
              tuning.target.device_name.c_str(), tuning.elapsed_s, tuning.failures.size());
  if (tuning.noise > 0) {
    std::printf("noise: the same variant, timed beside itself, differs by %.1f %% (median of the shapes)\n",
                100 * tuning.noise);
  }
  std::printf("\n");
  std::printf("| class     | largest shape                          |  median us |    GFLOP/s | variant\n");
  std::printf("|-----------|----------------------------------------|-----------:|-----------:|--------\n");
  for (const builder::Winner& winner : shown_winners(tuning)) {
    const builder::Shape& shape = tuning.shapes[winner.figures.shape];
    std::printf("| %-9s | %-38s | %10.1f | %10.1f | %s\n", winner.shape_class.c_str(), builder::name(shape).c_str(),
                winner.figures.median_us, builder::gflops(shape, winner.figures.median_us),
                tuning.variants[winner.figures.variant].c_str());
  }
  const std::size_t wanted = builder::wanted_variants(tuning).size();
  if (wanted == 0) {
    std::printf(
        "\nnothing proved faster than the default variants, which serve %s: 'clbake build --profile %s' bakes them\n",
        tuned_kinds(tuning).c_str(), file.c_str());
    return;
  }
  std::printf("\n%s %s %s, by %s and %s: 'clbake build --profile %s' bakes them\n", counted(wanted, "variant").c_str(),
              wanted == 1 ? "serves" : "serve", tuned_kinds(tuning).c_str(),
              counted(tuning.models.size(), "cost model").c_str(),
              counted(tuning.exceptions.size(), "exception").c_str(), file.c_str());
}

}  // namespace clbake::tool
