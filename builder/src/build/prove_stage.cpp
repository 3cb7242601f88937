// In a proof that compares times (prove/compile_watch.hpp) noise can look like a compilation. A compiler that really
// runs at load or first launch runs in every new process, while noise comes and goes. So an entry that looks not
// JIT-free is measured again, up to kAttempts times.
#include "build/tasks.hpp"
#include "process/worker.hpp"
#include "prove/proofs.hpp"

#include <filesystem>

namespace clbake::builder::build {
using namespace process;
using namespace prove;
namespace {

constexpr int kAttempts = 5;

class ProveStage {
 public:
  explicit ProveStage(const StageContext& context) : context_(context) {}

  // Proves one task, or makes it fail.
  Status prove(Task& task) {
    const Result<Overhead> overhead = overhead_for(task.job.target);
    if (!overhead) return overhead.status();
    std::string cause = overhead->cause;
    for (int attempt = 1; cause.empty(); ++attempt) {
      const Result<Exit> exit =
          run({"prove", task.compiled_file(), overhead->file, task.proven_file()}, task.log_file(), cause);
      if (!exit) return exit.status();
      task.wrong = is_wrong_result(*exit);
      if (!exit->ok()) break;
      Result<Job> proven = read_proven(task.compiled_file(), task.proven_file());
      if (!proven) cause = proven.status().message();
      if (proven && !same_work(*proven, task.job)) cause = "the worker left no proof of this variant";
      if (!cause.empty() || (noise_possible(*proven) && attempt < kAttempts)) continue;
      task.accept(std::move(proven->entries), JobReport::Outcome::baked);
      return {};
    }
    task.fail("prove: " + cause);
    return {};
  }

 private:
  // The file with the compiled kernel that does nothing, or why there is none.
  struct Overhead {
    Target target;
    std::string file;
    std::string cause;
  };

  Result<Overhead> overhead_for(const Target& target) {
    for (const Overhead& known : overheads_) {
      if (known.target == target) return known;
    }
    const std::string stem =
        context_.work_directory + "/" CLBAKE_VERSION "-overhead-" + std::to_string(overheads_.size());
    Overhead overhead{target, stem + ".compiled", {}};
    const Job job = overhead_job(target);
    const Result<Job> present = read_job(overhead.file);
    if (context_.fresh || !present || present->entries.empty() || !same_work(*present, job)) {
      const Status written = write_job(stem + ".job", job);
      if (!written) return written;
      const Result<Exit> exit = run({"compile", stem + ".job", overhead.file}, stem + ".log", overhead.cause);
      if (!exit) return exit.status();
      if (!overhead.cause.empty()) overhead.cause.insert(0, "a kernel that does nothing: ");
    }
    overheads_.push_back(overhead);
    return overhead;
  }

  // Runs one worker. `cause` says what went wrong with it, if anything.
  Result<Exit> run(const std::vector<std::string>& arguments, const std::string& log, std::string& cause) const {
    const Result<ScratchDirectory> cache = ScratchDirectory::create(context_.work_directory);
    if (!cache) return cache.status();
    std::vector<Command> commands = {worker_command(context_.worker, arguments, *cache, log)};
    Exit result;
    const Status ran = run_all(commands, 1, context_.timeout, context_.cancel, [&](std::size_t, const Exit& exit) {
      result = exit;
      if (!exit.ok()) cause = failure_of(exit, commands[0], context_.timeout);
    });
    if (!ran) return ran;
    if (is_full_disk(result, commands[0])) return {Code::io, cause};
    return result;
  }

  const StageContext& context_;
  std::vector<Overhead> overheads_;
};

}  // namespace

Status prove_tasks(std::vector<Task>& tasks, const StageContext& context) {
  ProveStage stage(context);
  for (Task& task : tasks) {
    if (!task.pending()) continue;
    const bool is_in_memory = !task.job.entries.empty();
    Status status = is_in_memory ? write_job(task.compiled_file(), task.job) : Status();
    if (status) status = stage.prove(task);
    std::error_code ignored;
    if (is_in_memory) std::filesystem::remove(task.compiled_file(), ignored);
    if (!status) return status;
    const std::string& variant = task.report.variant;
    context.steps.done((task.failed() ? "failed " : "proved ") + variant,
                       task.failed() ? variant + ": " + task.report.cause : "");
  }
  return {};
}

}  // namespace clbake::builder::build
