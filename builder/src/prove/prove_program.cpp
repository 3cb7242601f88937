#include "prove/prove_program.hpp"

#include <clbake/builder/gemm_run.hpp>
#include "program/proof_note.hpp"
#include "program/source_build.hpp"
#include "program/trial_run.hpp"
#include "prove/limits.hpp"

#include <cmath>
#include <iomanip>
#include <limits>
#include <optional>
#include <sstream>

namespace clbake::builder {
namespace {

constexpr std::size_t kSteadyRuns = 7;

using Results = std::vector<std::vector<std::uint8_t>>;  // by argument

// What one trial at one size gave.
struct Tried {
  TrialCase tried;
  Timing timing;
  Results results;  // of the first launch
};

// First launch, results, later launches.
Result<Tried> try_case(const TrialCase& tried, const Device& device, const Session& session, cl_program program,
                       std::size_t runs) {
  announce(tried);
  Result<TrialRun> run = TrialRun::create(session, device, program, tried);
  if (!run) return run.status();
  const Result<double> first = run->run();
  if (!first) return first.status();
  Result<Results> results = run->results();
  if (!results) return results.status();
  std::vector<double> times;
  for (std::size_t i = 0; i < runs; ++i) {
    const Result<double> us = run->run();
    if (!us) return us.status();
    times.push_back(*us);
  }
  return Tried{tried, {*first, times.empty() ? *first : median(times)}, std::move(*results)};
}

// The error of a number, on the scale of the tolerance; infinity where one of the two is no finite number.
double error_of(double found, double expected) {
  if (found == expected || (std::isnan(found) && std::isnan(expected))) return 0;
  const double error = std::fabs(found - expected) / std::max(1.0, std::fabs(expected));
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

// Compares a buffer with the expected numbers; the worst error goes into the proof.
Status compare(const TrialArgument& argument, std::size_t number, const std::vector<std::uint8_t>& found,
               const std::vector<double>& expected, cache::Proof& proof) {
  const NumberType& type = *argument.type;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double value = load_number(type, &found[i * type.bytes]);
    const double error = error_of(value, expected[i]);
    if (error > argument.tolerance) {
      std::ostringstream text;
      text << std::setprecision(9) << "wrong result: argument " << number << ", element " << i << ": " << value
           << ", expected " << expected[i] << " (tolerance " << argument.tolerance << ")";
      return {Code::wrong_result, text.str()};
    }
    // The figures of the number that came closest to its tolerance; whole numbers have none.
    if (argument.tolerance == 0) continue;
    const double closeness = error / argument.tolerance;
    if (proof.tolerance > 0 &&
        closeness <= static_cast<double>(proof.max_error) / static_cast<double>(proof.tolerance)) {
      continue;
    }
    proof.max_error = static_cast<float>(error);
    proof.tolerance = static_cast<float>(argument.tolerance);
  }
  return {};
}

std::vector<double> numbers_of(const TrialArgument& argument, const std::vector<std::uint8_t>& bytes) {
  std::vector<double> numbers;
  for (std::uint64_t i = 0; i < argument.count; ++i) {
    numbers.push_back(load_number(*argument.type, &bytes[i * argument.type->bytes]));
  }
  return numbers;
}

bool needs_source(const Trial& trial) {
  return std::any_of(trial.arguments.begin(), trial.arguments.end(), [](const TrialArgument& argument) {
    return argument.kind == TrialArgument::Kind::buffer && argument.expected.empty();
  });
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
    const Result<LoadedProgram> program = library.program(job_.variant.name);
    if (!program) return program.status();
    kernels_ = kernels_in(program->get());
    for (const TrialCase& tried : cases_of(*kernels)) {
      Result<Tried> result = try_case(tried, device_, session_, program->get(), kSteadyRuns);
      if (!result) return result.status().within(tried.name());
      all_.push_back(std::move(*result));
    }
    cache::Proof proof;
    proof.tools = entry.proof.tools;
    proof.specialisations = entry.proof.specialisations;
    proof.device = device_.target.device_name;
    proof.driver = device_.target.driver_version;
    const Status right = check_results(proof);
    if (!right) return right;
    return conclude(program->explanation(), std::move(proof), entry);
  }

 private:
  Status check_results(cache::Proof& proof) {
    std::optional<LoadedProgram> reference;
    for (const Tried& one : all_) {
      const Trial& trial = one.tried.trial;
      Results expected;
      if (needs_source(trial)) {
        if (!reference) {
          // After the timings: a proof's process has compiled nothing before.
          const Result<LoadedProgram> built = build_from_source(job_, device_, session_);
          if (!built) return built.status();
          reference = *built;
        }
        Result<Tried> other = try_case(one.tried, device_, session_, reference->get(), 0);
        if (!other) return other.status().within("built from source: " + one.tried.name());
        expected = std::move(other->results);
      }
      for (std::size_t i = 0; i < trial.arguments.size(); ++i) {
        const TrialArgument& argument = trial.arguments[i];
        if (argument.kind != TrialArgument::Kind::buffer) continue;
        const bool stated = !argument.expected.empty();
        const Status same =
            compare(argument, i, one.results[i], stated ? argument.expected : numbers_of(argument, expected[i]), proof);
        if (!same) return same.within(one.tried.name());
        // A double does not hold all of 64 bits.
        if (!stated && !argument.type->is_float && argument.tolerance == 0 && one.results[i] != expected[i]) {
          return Status(Code::wrong_result, "wrong result: argument " + std::to_string(i) +
                                                " is another one than after a build from source")
              .within(one.tried.name());
        }
      }
    }
    return {};
  }

  // Whether the program holds machine code for the launch, as far as the driver tells.
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

  bool conclude(const Explanation& loaded, cache::Proof proof, cache::Entry& entry) const {
    proof.create_us = static_cast<float>(loaded.create_us);
    proof.build_us = static_cast<float>(loaded.build_us);
    proof.kernel_us = static_cast<float>(loaded.kernel_us);
    const Timing& first = all_.front().timing;
    proof.first_us = static_cast<float>(first.first_us);
    proof.steady_us = static_cast<float>(first.steady_us);
    proof.proven = true;
    std::string what = "loading";
    Limited worst{"", proof.load_us(), kLoadLimitUs};
    for (const Tried& one : all_) {
      const Limited launch{"", one.timing.first_us, one.timing.limit_us(overhead_)};
      if (launch.overrun_us() <= worst.overrun_us()) continue;
      worst = launch;
      what = "the first launch of " + one.tried.name() +
             (one.tried.is_listed() ? "" : ", a size that is missing from \"work_group_sizes\",");
    }
    const bool native = entry.form == cache::Form::native;
    const std::string missing = missing_sizes(proof);
    proof.jit_free = native && worst.overrun_us() <= 0 && missing.empty();
    std::ostringstream note;
    if (!entry.proof.note.empty()) note << entry.proof.note << "; ";
    note << std::fixed << std::setprecision(0) << "a kernel that does nothing: load " << overhead_.load_us
         << " us, first launch " << overhead_.first_us << " us";
    if (!native) {
      note << "; the driver keeps an intermediate language, which it compiles at every load";
    } else if (!missing.empty()) {
      note << "; " << kNotJitFree << missing;
    } else if (worst.overrun_us() > 0) {
      note << "; " << kNotJitFree << what << " took " << worst.us << " us, and " << worst.limit_us
           << " us is the limit";
    }
    const std::string unlisted = not_listed(kernels_, job_.variant);
    if (!unlisted.empty()) note << "; " << unlisted;
    proof.note = note.str();
    entry.proof = std::move(proof);
    return native && missing.empty() && worst.overrun_us() > 0 && worst.overrun_us() < kCheapestCompilationUs;
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
