#include "prove/proof_runner.hpp"

#include <clbake/builder/platforms.hpp>

#include "compile/overhead_job.hpp"
#include "process/worker.hpp"

#include <algorithm>

namespace clbake::builder {

bool all_proven(const Job& job) {
  return !job.entries.empty() && std::all_of(job.entries.begin(), job.entries.end(),
                                             [](const cache::Entry& entry) { return entry.proof.proven; });
}

bool noise_possible(const Job& job) {
  if (builder_platform_of(job.target).evidence == Evidence::files) return false;
  return std::any_of(job.entries.begin(), job.entries.end(), [](const cache::Entry& entry) {
    return !entry.proof.jit_free && entry.form == cache::Form::native;
  });
}

ProofRunner::ProofRunner(std::string worker, std::chrono::seconds timeout, const std::atomic<bool>& cancel,
                         std::string directory, bool fresh)
    : worker_(std::move(worker)), timeout_(timeout), cancel_(cancel), directory_(std::move(directory)), fresh_(fresh) {}

// Runs one worker. `cause` says what went wrong with it, if anything.
Result<Exit> ProofRunner::run(const std::vector<std::string>& arguments, const std::string& log,
                              std::string& cause) const {
  const Result<ScratchDirectory> cache = ScratchDirectory::create(directory_);
  if (!cache) return cache.status();
  std::vector<Command> commands = {worker_command(worker_, arguments, *cache, log)};
  Exit result;
  cause.clear();
  const Status ran = run_all(commands, 1, timeout_, cancel_, [&](std::size_t, const Exit& exit) {
    result = exit;
    if (!exit.ok()) cause = failure_of(exit, commands[0], timeout_);
  });
  if (!ran) return ran;
  if (is_full_disk(result, commands[0])) return {Code::io, cause};
  return result;
}

Result<ProofRunner::Overhead> ProofRunner::overhead_for(const Target& target) {
  const auto known = std::find_if(overheads_.begin(), overheads_.end(),
                                  [&](const Overhead& overhead) { return overhead.target == target; });
  if (known != overheads_.end()) return *known;
  const std::string stem = directory_ + "/" CLBAKE_VERSION "-overhead-" + std::to_string(overheads_.size());
  Overhead overhead{target, stem + ".compiled", {}};
  const Job job = overhead_job(target);
  const Result<Job> present = read_job(overhead.file);
  if (fresh_ || !present || present->entries.empty() || !same_work(*present, job)) {
    const Status written = write_job(stem + ".job", job);
    if (!written) return written;
    const Result<Exit> exit = run({"compile", stem + ".job", overhead.file}, stem + ".log", overhead.cause);
    if (!exit) return exit.status();
    if (!overhead.cause.empty()) overhead.cause.insert(0, "a kernel that does nothing: ");
  }
  overheads_.push_back(overhead);
  return overhead;
}

Result<ProofOutcome> ProofRunner::prove(const Job& job, const std::string& compiled, const std::string& proven,
                                        const std::string& log) {
  const Result<Overhead> overhead = overhead_for(job.target);
  if (!overhead) return overhead.status();
  ProofOutcome outcome{{}, overhead->cause, false};
  for (int attempt = 1; overhead->cause.empty(); ++attempt) {
    const Result<Exit> exit = run({"prove", compiled, overhead->file, proven}, log, outcome.cause);
    if (!exit) return exit.status();
    const bool near_miss = is_near_miss(*exit);
    outcome.wrong = is_wrong_result(*exit);
    if (!exit->ok() && !near_miss) break;
    outcome.cause.clear();
    Result<Job> read = read_job(proven);
    if (!read) outcome.cause = read.status().message();
    if (read && (!same_work(*read, job) || !all_proven(*read))) {
      outcome.cause = "the worker left no proof of this variant";
    }
    if (!outcome.cause.empty()) break;
    outcome.job = std::move(*read);
    if (!noise_possible(outcome.job) || attempt >= (near_miss ? kNearMissAttempts : kAttempts)) break;
  }
  return outcome;
}

}  // namespace clbake::builder
