#include <clbake/builder/programs.hpp>
#include "process/need.hpp"
#include "program/trial_run.hpp"
#include "prove/entry_proof.hpp"
#include "prove/results.hpp"

#include <algorithm>
#include <optional>

namespace clbake::builder::prove {
using namespace program;
namespace {

constexpr std::size_t kProgramRuns = 7;
constexpr int kMoreRuns = 4;  // of a build from source, whose results may differ from run to run

using Results = std::vector<cache::Bytes>;  // by argument

// One trial at one size.
struct Tried {
  TrialCase tried;
  Results results;  // of the first launch; those that are compared are empty again
};

bool is_stated(const TrialArgument& argument) { return !argument.expected.empty(); }

bool is_built(const TrialArgument& argument) { return argument.is_memory() && !is_stated(argument); }

void add_remark(EntryProof& entry, const std::string& remark) {
  entry.remark += (entry.remark.empty() ? "" : "; ") + remark;
}

[[noreturn]] void fail(const Tried& one, std::size_t number, const std::string& wrong) {
  throw Failure(
      {Code::wrong_result, one.tried.name() + ": wrong result: argument " + std::to_string(number) + ", " + wrong});
}

// The buffers and images with stated numbers.
void compare_stated(Tried& one, EntryProof& entry) {
  const std::vector<TrialArgument>& arguments = one.tried.trial.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_stated(arguments[i])) continue;
    const Comparison same = compare(arguments[i], one.results[i], stated_content(arguments[i]));
    if (!same.wrong.empty()) fail(one, i, same.wrong);
    entry.checked(same.error, arguments[i].tolerance);
    one.results[i] = {};
  }
}

Results results_of(TrialRun& run) {
  need(run.run());
  return need(run.results());
}

// An argument's result in further runs of the same program, behind `once`.
std::vector<cache::Bytes> more_runs(TrialRun& run, std::size_t number, const cache::Bytes& once) {
  std::vector<cache::Bytes> runs = {once};
  for (int i = 0; i < kMoreRuns; ++i) runs.push_back(std::move(results_of(run)[number]));
  return runs;
}

// Atomics and races make results that differ from run to run. Such a result is compared as far as it can be, which
// the proof's note says. False when nothing can be said of it.
bool compare_again(const Tried& one, std::size_t number, TrialRun& run, const cache::Bytes& found,
                   const cache::Bytes& expected, EntryProof& entry) {
  const TrialArgument& argument = one.tried.trial.arguments[number];
  const Comparison same = compare(argument, found, expected);
  if (same.wrong.empty()) entry.checked(same.error, argument.tolerance);
  if (same.wrong.empty()) return true;
  const std::vector<cache::Bytes> runs =
      within("built from source: " + one.tried.name(), [&] { return more_runs(run, number, expected); });
  const auto is_steady = [&](const cache::Bytes& each) { return compare(argument, each, expected).wrong.empty(); };
  if (std::all_of(runs.begin(), runs.end(), is_steady)) fail(one, number, same.wrong);
  const std::optional<Comparison> varying = compare_varying(argument, found, runs);
  if (varying && !varying->wrong.empty()) fail(one, number, varying->wrong);
  if (!varying) return false;
  add_remark(entry, one.tried.name() + ": argument " + std::to_string(number) +
                        " is compared with the range of several runs, as it differs from run to run");
  return true;
}

// The others, with what the program built from source leaves there. False when nothing can be said of one of them.
bool compare_built(Tried& one, const LoadedProgram& reference, EntryProof& entry) {
  announce(one.tried);
  const std::string where = "built from source: " + one.tried.name();
  TrialRun run = need(TrialRun::create(entry.session, entry.device, reference.get(), one.tried), where);
  const Results expected = within(where, [&] { return results_of(run); });
  const std::vector<TrialArgument>& arguments = one.tried.trial.arguments;
  bool known = true;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_built(arguments[i])) continue;
    known = compare_again(one, i, run, one.results[i], expected[i], entry) && known;
    one.results[i] = {};
  }
  return known;
}

// After the timings: a proof's process has compiled nothing before. A case that cannot be compared is not tried.
void compare_with_source(std::vector<Tried>& all, EntryProof& entry) {
  std::optional<LoadedProgram> reference;
  std::vector<std::string> uncompared;
  entry.is_tried = false;
  for (Tried& one : all) {
    const std::vector<TrialArgument>& arguments = one.tried.trial.arguments;
    if (std::none_of(arguments.begin(), arguments.end(), is_built)) {
      entry.is_tried = true;
      continue;
    }
    if (!reference) reference = need(build_from_source(entry.job, entry.device, entry.session));
    const bool compared = compare_built(one, *reference, entry);
    entry.is_tried = entry.is_tried || compared;
    if (!compared) uncompared.push_back(one.tried.kernel.name + " at " + size_text(one.tried.size));
  }
  if (uncompared.empty()) return;
  const std::string names = kernels_text(uncompared);
  add_remark(entry, kUncompared + names.substr(names.find(' ') + 1));
}

// First launch, its results, later launches.
Timing try_case(Tried& one, cl_program program, EntryProof& entry) {
  announce(one.tried);
  TrialRun run = need(TrialRun::create(entry.session, entry.device, program, one.tried), one.tried.name());
  const auto check = [&] {
    one.results = need(run.results());
    compare_stated(one, entry);
  };
  const auto launch = [&] { return need(run.run()); };
  return entry.watch.time("the first launch of " + one.tried.name(), kProgramRuns, launch, check, launch);
}

}  // namespace

void prove_program(EntryProof& entry) {
  const cache::Variant& variant = entry.job.variant;
  const std::vector<TriedKernel> kernels = need(parse_trial(entry.job.trial));
  const std::vector<std::string> untried = need(untried_kernels(variant, entry.job.trial));
  if (!untried.empty()) entry.remark = "untried: " + kernels_text(untried) + ": loaded, never launched";
  entry.watch.begin();
  const LoadedProgram program = need(entry.library.program(variant.name));
  entry.loaded(program.explanation());
  std::vector<Tried> all;
  for (const TrialCase& tried : cases_of(kernels)) {
    all.push_back({tried, {}});
    const Timing timing = try_case(all.back(), program.get(), entry);
    if (all.size() > 1) continue;
    entry.proof.first_us = static_cast<float>(timing.first_us);
    entry.proof.steady_us = static_cast<float>(timing.steady_us);
  }
  entry.verdict = entry.watch.verdict();  // before the build from source
  compare_with_source(all, entry);
}

}  // namespace clbake::builder::prove
