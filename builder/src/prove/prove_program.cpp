#include "program/trial_run.hpp"
#include "prove/entry_proof.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <limits>
#include <optional>
#include <sstream>

namespace clbake::builder::prove {
using namespace program;
namespace {

constexpr std::size_t kProgramRuns = 7;

using Results = std::vector<cache::Bytes>;  // by argument

// One trial at one size.
struct Tried {
  TrialCase tried;
  Results results;  // of the first launch; those that are compared are empty again
};

// The error of a number, on the scale of the tolerance; infinity where one of the two is no finite number.
double error_of(double found, double expected) {
  if (found == expected || (std::isnan(found) && std::isnan(expected))) return 0;
  const double error = std::fabs(found - expected) / std::max(1.0, std::fabs(expected));
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

Status compare(const TrialArgument& argument, std::size_t number, const cache::Bytes& found,
               const cache::Bytes& expected, EntryProof& entry) {
  const NumberType& type = *argument.type;
  for (std::uint64_t i = 0; i < argument.count; ++i) {
    const std::uint8_t* const a = &found[i * type.bytes];
    const std::uint8_t* const b = &expected[i * type.bytes];
    const double error = error_of(type.load(a), type.load(b));
    // A double does not hold all of 64 bits.
    const bool exact = type.is_float() || argument.tolerance > 0 || std::memcmp(a, b, type.bytes) == 0;
    if (error > argument.tolerance || !exact) {
      std::ostringstream text;
      text << std::setprecision(9) << "wrong result: argument " << number << ", element " << i << ": " << type.load(a)
           << ", expected " << type.load(b) << " (tolerance " << argument.tolerance << ")";
      return {Code::wrong_result, text.str()};
    }
    entry.checked(error, argument.tolerance);
  }
  return {};
}

bool is_stated(const TrialArgument& argument) { return !argument.expected.empty(); }

bool is_built(const TrialArgument& argument) {
  return argument.kind == TrialArgument::Kind::buffer && !is_stated(argument);
}

// The buffers with stated numbers.
Status compare_stated(Tried& one, EntryProof& entry) {
  const std::vector<TrialArgument>& arguments = one.tried.trial.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const TrialArgument& argument = arguments[i];
    if (!is_stated(argument)) continue;
    cache::Bytes expected(argument.bytes());
    for (std::size_t n = 0; n < argument.count; ++n) {
      argument.type->store(argument.expected[n], &expected[n * argument.type->bytes]);
    }
    const Status same = compare(argument, i, one.results[i], expected, entry);
    if (!same) return same;
    one.results[i] = {};
  }
  return {};
}

// The others, with what the program built from source leaves there.
Status compare_built(Tried& one, const LoadedProgram& reference, EntryProof& entry) {
  announce(one.tried);
  Result<TrialRun> run = TrialRun::create(entry.session, entry.device, reference.get(), one.tried);
  const Status ran = run ? run->run().status() : run.status();
  const Result<Results> expected = ran ? run->results() : ran;
  if (!expected) return expected.status().within("built from source: " + one.tried.name());
  const std::vector<TrialArgument>& arguments = one.tried.trial.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_built(arguments[i])) continue;
    const Status same = compare(arguments[i], i, one.results[i], (*expected)[i], entry);
    if (!same) return same.within(one.tried.name());
    one.results[i] = {};
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

constexpr std::size_t kMostNames = 5;

// "untried: kernels a, b: loaded, never launched"; empty when all are tried.
std::string untried(const std::vector<TriedKernel>& kernels) {
  std::vector<std::string> names;
  for (const TriedKernel& kernel : kernels) {
    if (kernel.trials.empty()) names.push_back(kernel.name);
  }
  if (names.empty()) return {};
  std::string text = names.size() == 1 ? "untried: kernel " : "untried: kernels ";
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNames) text += " and " + std::to_string(names.size() - kMostNames) + " more";
  return text + ": loaded, never launched";
}

}  // namespace

Status prove_program(EntryProof& entry) {
  const cache::Variant& variant = entry.job.variant;
  const Result<std::vector<TriedKernel>> kernels = parse_trial(entry.job.trial);
  if (!kernels) return kernels.status();
  entry.remark = untried(*kernels);
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
