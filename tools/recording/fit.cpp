#include "recording/fit.hpp"

#include <clbake/builder/programs.hpp>

#include <map>

namespace clbake::tool {
namespace {

constexpr std::size_t kMostTrialBytes = std::size_t{14} << 20;  // of a program in a bundle
constexpr std::size_t kMostSizes = 1024;

Result<builder::program::Program> read(const RecordedProgram& program, const std::string& directory) {
  auto programs = builder::program::parse_programs(manifest_text({program}), "the manifest", directory);
  if (!programs) return programs.status();
  if (!programs->front().failure.empty()) return {Code::malformed, programs->front().failure};
  if (!programs->front().remark.empty()) return {Code::malformed, programs->front().remark};
  return std::move(programs->front());
}

// The program with one kernel.
RecordedProgram with(const RecordedProgram& program, RecordedKernel kernel) {
  return {program.text, program.log, {}, {std::move(kernel)}};
}

void join(RecordedProgram& program, const RecordedProgram& other) {
  for (const RecordedKernel& kernel : other.kernels) {
    RecordedKernel& known = program.kernel(kernel.name);
    for (const Json& size : kernel.sizes) add_size(known, size);
    for (const Json& trial : kernel.trials) add_trial(known, trial);
    known.untried.insert(kernel.untried.begin(), kernel.untried.end());
  }
}

class Fitting {
 public:
  Fitting(const std::string& directory, std::set<std::string>& notes) : directory_(directory), notes_(notes) {}

  // True when the reader takes it without its kernels; sets the name by which the builder tells it from others.
  bool takes(const RecordedProgram& program, std::string& name) {
    const auto bare = read(with(program, {"any", {}, {}, {}}), directory_);
    if (!bare) notes_.insert("a program is left out: " + bare.status().message());
    if (bare) name = bare->name;
    return bool(bare);
  }

  void fit(RecordedProgram& program) {
    if (program.kernels.empty() || read(program, directory_)) return;
    std::vector<RecordedKernel> kernels;
    std::size_t bytes = 0;
    for (RecordedKernel& kernel : program.kernels) {
      if (fit_sizes(program, kernel)) kernels.push_back(fit_trials(program, kernel, bytes));
    }
    program.kernels = std::move(kernels);
  }

 private:
  bool fit_sizes(const RecordedProgram& program, RecordedKernel& kernel) {
    if (kernel.sizes.size() > kMostSizes) {
      notes_.insert("kernel " + kernel.name + ": of its local sizes the first 1024 are kept");
      kernel.sizes.resize(kMostSizes);
    }
    const auto untried = read(with(program, {kernel.name, kernel.sizes, {}, {}}), directory_);
    if (!untried) notes_.insert("kernel " + kernel.name + " is left out: " + untried.status().message());
    return bool(untried);
  }

  RecordedKernel fit_trials(const RecordedProgram& program, const RecordedKernel& kernel, std::size_t& bytes) {
    RecordedKernel kept = {kernel.name, kernel.sizes, {}, kernel.untried};
    for (const Json& trial : kernel.trials) {
      const auto one = read(with(program, {kernel.name, kernel.sizes, {trial}, {}}), directory_);
      const bool fits = one && bytes + one->trial.size() <= kMostTrialBytes;
      if (fits) {
        bytes += one->trial.size();
        kept.trials.push_back(trial);
      } else {
        kept.is_refused = true;
        kept.untried.insert(one ? "the program's trials take more than 14 MiB in a bundle" : one.status().message());
      }
    }
    return kept;
  }

  const std::string& directory_;
  std::set<std::string>& notes_;
};

}  // namespace

void fit(std::vector<RecordedProgram>& programs, const std::string& directory, std::set<std::string>& notes) {
  Fitting fitting(directory, notes);
  std::vector<RecordedProgram> kept;
  std::map<std::string, std::size_t> by_name;
  for (const RecordedProgram& program : programs) {
    std::string name;
    if (program.kernels.empty() || !fitting.takes(program, name)) continue;  // nothing can be launched
    const auto [at, is_new] = by_name.emplace(name, kept.size());
    is_new ? kept.push_back(program) : join(kept[at->second], program);
  }
  for (RecordedProgram& program : kept) fitting.fit(program);
  programs = std::move(kept);
}

}  // namespace clbake::tool
