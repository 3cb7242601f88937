#include <clbake/builder/programs.hpp>
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

Status wrong_result(std::size_t number, const std::string& wrong) {
  return {Code::wrong_result, "wrong result: argument " + std::to_string(number) + ", " + wrong};
}

// The buffers and images with stated numbers.
Status compare_stated(Tried& one, EntryProof& entry) {
  const std::vector<TrialArgument>& arguments = one.tried.trial.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_stated(arguments[i])) continue;
    const Comparison same = compare(arguments[i], one.results[i], stated_content(arguments[i]));
    if (!same.wrong.empty()) return wrong_result(i, same.wrong);
    entry.checked(same.error, arguments[i].tolerance);
    one.results[i] = {};
  }
  return {};
}

Result<Results> results_of(TrialRun& run) {
  const Result<double> ran = run.run();
  if (!ran) return ran.status();
  return run.results();
}

// True when the argument's result is another one in some run of the same program.
Result<bool> differs_by_itself(TrialRun& run, const TrialArgument& argument, std::size_t number,
                               const cache::Bytes& once) {
  for (int i = 0; i < kMoreRuns; ++i) {
    const Result<Results> again = results_of(run);
    if (!again) return again.status();
    if (!compare(argument, (*again)[number], once).wrong.empty()) return true;
  }
  return false;
}

// The others, with what the program built from source leaves there. Atomics and races make results that differ from
// run to run: those are not compared, which the proof's note says.
Status compare_built(Tried& one, const LoadedProgram& reference, EntryProof& entry) {
  announce(one.tried);
  Result<TrialRun> run = TrialRun::create(entry.session, entry.device, reference.get(), one.tried);
  const Result<Results> expected = run ? results_of(*run) : run.status();
  if (!expected) return expected.status().within("built from source: " + one.tried.name());
  const std::vector<TrialArgument>& arguments = one.tried.trial.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_built(arguments[i])) continue;
    const Comparison same = compare(arguments[i], std::move(one.results[i]), (*expected)[i]);
    one.results[i] = {};
    if (same.wrong.empty()) {
      entry.checked(same.error, arguments[i].tolerance);
      continue;
    }
    const Result<bool> varies = differs_by_itself(*run, arguments[i], i, (*expected)[i]);
    if (!varies) return varies.status().within("built from source: " + one.tried.name());
    if (!*varies) return wrong_result(i, same.wrong).within(one.tried.name());
    entry.remark += (entry.remark.empty() ? "" : "; ") + one.tried.name() + ": argument " + std::to_string(i) +
                    " is not compared, as it differs from run to run when built from source, too";
  }
  return {};
}

// After the timings: a proof's process has compiled nothing before.
Status compare_with_source(std::vector<Tried>& all, EntryProof& entry) {
  std::optional<LoadedProgram> reference;
  for (Tried& one : all) {
    const std::vector<TrialArgument>& arguments = one.tried.trial.arguments;
    if (std::none_of(arguments.begin(), arguments.end(), is_built)) continue;
    if (!reference) {
      const Result<LoadedProgram> built = build_from_source(entry.job, entry.device, entry.session);
      if (!built) return built.status();
      reference = *built;
    }
    const Status same = compare_built(one, *reference, entry);
    if (!same) return same;
  }
  return {};
}

// First launch, its results, later launches.
Result<Timing> try_case(Tried& one, cl_program program, EntryProof& entry) {
  announce(one.tried);
  Result<TrialRun> run = TrialRun::create(entry.session, entry.device, program, one.tried);
  if (!run) return run.status();
  const auto check = [&] {
    Result<Results> results = run->results();
    if (!results) return results.status();
    one.results = std::move(*results);
    return compare_stated(one, entry);
  };
  const auto launch = [&] { return run->run(); };
  return entry.watch.time("the first launch of " + one.tried.name(), kProgramRuns, launch, check, launch);
}

}  // namespace

Status prove_program(EntryProof& entry) {
  const cache::Variant& variant = entry.job.variant;
  const Result<std::vector<TriedKernel>> kernels = parse_trial(entry.job.trial);
  if (!kernels) return kernels.status();
  const Result<std::vector<std::string>> untried = untried_kernels(variant, entry.job.trial);
  if (!untried) return untried.status();
  if (!untried->empty()) entry.remark = "untried: " + kernels_text(*untried) + ": loaded, never launched";
  entry.watch.begin();
  const Result<LoadedProgram> program = entry.library.program(variant.name);
  if (!program) return program.status();
  entry.loaded(program->explanation());
  std::vector<Tried> all;
  for (const TrialCase& tried : cases_of(*kernels)) {
    all.push_back({tried, {}});
    const Result<Timing> timing = try_case(all.back(), program->get(), entry);
    if (!timing) return timing.status().within(tried.name());
    if (all.size() > 1) continue;
    entry.proof.first_us = static_cast<float>(timing->first_us);
    entry.proof.steady_us = static_cast<float>(timing->steady_us);
  }
  entry.verdict = entry.watch.verdict();  // before the build from source
  return compare_with_source(all, entry);
}

}  // namespace clbake::builder::prove
