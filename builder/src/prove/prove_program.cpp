#include "prove/prove_program.hpp"

#include <clbake/builder/gemm_run.hpp>
#include "program/proof_note.hpp"
#include "program/source_build.hpp"
#include "program/trial_run.hpp"
#include "prove/conclude.hpp"

#include <cmath>
#include <cstring>
#include <iomanip>
#include <limits>
#include <optional>
#include <sstream>

namespace clbake::builder {
namespace {

constexpr std::size_t kSteadyRuns = 7;

using Results = std::vector<std::vector<std::uint8_t>>;  // by argument; empty where none are needed

// The result of one trial at one size.
struct Tried {
  TrialCase tried;
  Timing timing;
  Results results;  // of the first launch, of buffers without stated numbers
};

// The error of a number, on the scale of the tolerance; infinity where one of the two is no finite number.
double error_of(double found, double expected) {
  if (found == expected || (std::isnan(found) && std::isnan(expected))) return 0;
  const double error = std::fabs(found - expected) / std::max(1.0, std::fabs(expected));
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

// Compares numbers of a buffer with what is expected; the worst error goes into the proof.
class Comparison {
 public:
  Comparison(const TrialArgument& argument, std::size_t number, cache::Proof& proof)
      : argument_(argument), number_(number), proof_(proof) {}

  Status add(std::uint64_t index, double value, double expected) {
    const double error = error_of(value, expected);
    if (error > argument_.tolerance) {
      std::ostringstream text;
      text << std::setprecision(9) << "wrong result: argument " << number_ << ", element " << index << ": " << value
           << ", expected " << expected << " (tolerance " << argument_.tolerance << ")";
      return {Code::wrong_result, text.str()};
    }
    // The figures of the number that came closest to its tolerance; whole numbers have none.
    if (argument_.tolerance == 0) return {};
    const double closeness = error / argument_.tolerance;
    if (proof_.tolerance > 0 &&
        closeness <= static_cast<double>(proof_.max_error) / static_cast<double>(proof_.tolerance)) {
      return {};
    }
    proof_.max_error = static_cast<float>(error);
    proof_.tolerance = static_cast<float>(argument_.tolerance);
    return {};
  }

 private:
  const TrialArgument& argument_;
  std::size_t number_;
  cache::Proof& proof_;
};

bool is_compared(const TrialArgument& argument) { return argument.kind == TrialArgument::Kind::buffer; }
bool is_stated(const TrialArgument& argument) { return !argument.expected.empty(); }

// The buffers with stated numbers.
Status compare_stated(const TrialRun& run, const Trial& trial, cache::Proof& proof) {
  for (std::size_t i = 0; i < trial.arguments.size(); ++i) {
    const TrialArgument& argument = trial.arguments[i];
    if (!is_compared(argument) || !is_stated(argument)) continue;
    Comparison comparison(argument, i, proof);
    const Status same = run.read(i, [&](std::uint64_t first, std::uint64_t count, const std::uint8_t* bytes) {
      Status status;
      for (std::uint64_t n = 0; status && n < count; ++n) {
        status = comparison.add(first + n, load_number(*argument.type, bytes + n * argument.type->bytes),
                                argument.expected[first + n]);
      }
      return status;
    });
    if (!same) return same;
  }
  return {};
}

// A buffer, `kept` of the proven program, with what a build from source left there.
Status compare_built(const TrialRun& run, const TrialArgument& argument, std::size_t number,
                     const std::vector<std::uint8_t>& kept, cache::Proof& proof) {
  const NumberType& type = *argument.type;
  Comparison comparison(argument, number, proof);
  return run.read(number, [&](std::uint64_t first, std::uint64_t count, const std::uint8_t* bytes) {
    const std::uint8_t* const found = &kept[first * type.bytes];
    for (std::uint64_t n = 0; n < count; ++n) {
      const Status same = comparison.add(first + n, load_number(type, found + n * type.bytes),
                                         load_number(type, bytes + n * type.bytes));
      if (!same) return same;
    }
    // A double does not hold all of 64 bits.
    const bool exact = !type.is_float && argument.tolerance == 0;
    if (!exact || std::memcmp(found, bytes, count * type.bytes) == 0) return Status();
    return Status(Code::wrong_result, "wrong result: argument " + std::to_string(number) +
                                          " is another one than after a build from source");
  });
}

// The contents that are compared with those after a build from source, which is made later.
Result<Results> keep(const TrialRun& run, const Trial& trial) {
  Results results(trial.arguments.size());
  for (std::size_t i = 0; i < trial.arguments.size(); ++i) {
    const TrialArgument& argument = trial.arguments[i];
    if (!is_compared(argument) || is_stated(argument)) continue;
    results[i].resize(argument.bytes());
    const Status read = run.read(i, [&](std::uint64_t first, std::uint64_t count, const std::uint8_t* bytes) {
      std::memcpy(&results[i][first * argument.type->bytes], bytes, count * argument.type->bytes);
      return Status();
    });
    if (!read) return read;
  }
  return results;
}

// First launch, its results, later launches.
Result<Tried> try_case(const TrialCase& tried, const Device& device, const Session& session, cl_program program,
                       CompileWatch& watch, cache::Proof& proof) {
  announce(tried);
  Result<TrialRun> run = TrialRun::create(session, device, program, tried);
  if (!run) return run.status();
  watch.begin_launch();
  const Result<double> first = run->run();
  if (!first) return first.status();
  const double judged_first = watch.took_us(*first);
  Status right = run->check_guards();
  if (right) right = compare_stated(*run, tried.trial, proof);
  if (!right) return right;
  Result<Results> results = keep(*run, tried.trial);
  if (!results) return results.status();
  std::vector<double> times, judged;
  for (std::size_t i = 0; i < kSteadyRuns; ++i) {
    watch.begin_launch();
    const Result<double> us = run->run();
    if (!us) return us.status();
    times.push_back(*us);
    judged.push_back(watch.took_us(*us));
  }
  watch.launched("the first launch of " + tried.name() +
                     (tried.is_listed() ? "" : ", a size that is missing from \"work_group_sizes\","),
                 {judged_first, median(judged)});
  return Tried{tried, {*first, median(times)}, std::move(*results)};
}

bool needs_source(const Trial& trial) {
  return std::any_of(trial.arguments.begin(), trial.arguments.end(),
                     [](const TrialArgument& argument) { return is_compared(argument) && !is_stated(argument); });
}

// Nothing where the driver does not tell.
std::vector<std::string> kernels_in(cl_program program) {
  std::size_t bytes = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string text(bytes, '\0');
  if (clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, bytes, text.data(), nullptr) != CL_SUCCESS) return {};
  std::istringstream names(text.c_str());
  std::vector<std::string> kernels;
  for (std::string name; std::getline(names, name, ';');) kernels.push_back(name);
  return kernels;
}

class ProgramProof {
 public:
  ProgramProof(const Job& job, const Device& device, const Session& session, const LaunchOverhead& overhead)
      : job_(job), device_(device), session_(session), overhead_(overhead) {}

  Result<bool> run(const Library& library, cache::Entry& entry) {
    const Result<std::vector<TriedKernel>> kernels = parse_trial(job_.variant.trial);
    if (!kernels) return kernels.status();
    CompileWatch watch(device_.target, overhead_);
    watch.begin();
    const Result<LoadedProgram> program = library.program(job_.variant.name);
    if (!program) return program.status();
    cache::Proof proof = new_proof(entry, device_);
    set_load_times(program->explanation(), proof);
    watch.loaded(proof.load_us(), proof.specialisations.size());
    kernels_ = kernels_in(program->get());
    for (const TrialCase& tried : cases_of(*kernels)) {
      Result<Tried> result = try_case(tried, device_, session_, program->get(), watch, proof);
      if (!result) return result.status().within(tried.name());
      all_.push_back(std::move(*result));
    }
    CompileWatch::Verdict verdict = watch.verdict();  // before the build from source
    const Status right = compare_with_source(proof);
    if (!right) return right;
    const std::string missing = missing_sizes(proof);
    if (!missing.empty()) verdict = {true, false, missing};
    proof.first_us = static_cast<float>(all_.front().timing.first_us);
    proof.steady_us = static_cast<float>(all_.front().timing.steady_us);
    std::vector<std::string> remarks;
    const std::string unlisted = not_listed(kernels_, job_.variant);
    if (!unlisted.empty()) remarks.push_back(unlisted);
    return conclude(verdict, overhead_, remarks, std::move(proof), entry);
  }

 private:
  // After the timings: a proof's process has compiled nothing before. Forgets the results.
  Status compare_with_source(cache::Proof& proof) {
    std::optional<LoadedProgram> reference;
    for (Tried& one : all_) {
      if (!needs_source(one.tried.trial)) continue;
      if (!reference) {
        const Result<LoadedProgram> built = build_from_source(job_, device_, session_);
        if (!built) return built.status();
        reference = *built;
      }
      const Status same = compare_with(*reference, one, proof);
      if (!same) return same;
      one.results.clear();
    }
    return {};
  }

  Status compare_with(const LoadedProgram& reference, const Tried& one, cache::Proof& proof) {
    announce(one.tried);
    Result<TrialRun> run = TrialRun::create(session_, device_, reference.get(), one.tried);
    Status ran = run ? run->run().status() : run.status();
    if (ran) ran = run->check_guards();
    if (!ran) return ran.within("built from source: " + one.tried.name());
    const std::vector<TrialArgument>& arguments = one.tried.trial.arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (one.results[i].empty()) continue;
      const Status same = compare_built(*run, arguments[i], i, one.results[i], proof);
      if (!same) return same.within(one.tried.name());
    }
    return {};
  }

  // True when the program holds machine code for the launch, as far as the driver tells.
  static bool has_code(const cache::Proof& proof, const TrialCase& tried) {
    const Extents3& size = tried.size;
    const std::string shape = tried.kernel.name + " " + std::to_string(size[0]) + "-" + std::to_string(size[1]) + "-" +
                              std::to_string(size[2]);
    const auto begins = [&](const std::string& text) { return text == shape || text.rfind(shape + "-", 0) == 0; };
    const std::vector<std::string>& shapes = proof.specialisations;
    return shapes.empty() || size == Extents3{1, 1, 1} || std::any_of(shapes.begin(), shapes.end(), begins);
  }

  // The launches that the program holds no machine code for; empty when there are none.
  std::string missing_sizes(const cache::Proof& proof) const {
    std::vector<std::string> missing;
    for (const Tried& one : all_) {
      const bool known = std::find(missing.begin(), missing.end(), one.tried.name()) != missing.end();
      if (!known && !has_code(proof, one.tried)) missing.push_back(one.tried.name());
    }
    std::string names;
    for (const std::string& name : missing) names += (names.empty() ? "" : ", nor for ") + name;
    if (names.empty()) return names;
    const char* const where = missing.size() == 1
                                  ? ", which a trial launches: it is missing from \"work_group_sizes\""
                                  : ": trials launch them, and they are missing from \"work_group_sizes\"";
    return "there is no machine code for " + names + where;
  }

  const Job& job_;
  const Device& device_;
  const Session& session_;
  const LaunchOverhead& overhead_;
  std::vector<std::string> kernels_;  // of the program
  std::vector<Tried> all_;
};

}  // namespace

Result<bool> prove_program(const Job& job, const Device& device, const Session& session, const LaunchOverhead& overhead,
                           const Library& library, cache::Entry& entry) {
  return ProgramProof(job, device, session, overhead).run(library, entry);
}

}  // namespace clbake::builder
