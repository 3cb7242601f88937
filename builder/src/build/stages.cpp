#include "build/tasks.hpp"

#include <clbake/builder/process.hpp>
#include <clbake/os/files.hpp>
#include "device/hanging_widths.hpp"
#include "program/trial.hpp"
#include "prove/proofs.hpp"

#include <optional>
#include <thread>

namespace clbake::builder::build {
using namespace process;
using namespace prove;
namespace {

// A kernel may crash on a content of which a recording kept only the beginning, as indices that are zero then. Leaves
// out such trials of the kernel that the worker tried last; true when there are some, and the work is to be done again.
bool leave_out_cut_trials(Task& task, const Exit& exit, const Command& command) {
  if (!task.job.variant.is_program() || exit.ok() || is_wrong_result(exit) || is_full_disk(exit, command)) return false;
  const std::string tried = last_tried(command.log), before = "kernel ";
  if (tried.rfind(before, 0) != 0) return false;
  const std::string kernel = tried.substr(before.size(), tried.find(',') - before.size());
  std::optional<std::string> rest = program::without_cut_trials(task.job.trial, {kernel});
  if (rest) task.leave_out_cut(std::move(*rest), kernel);
  return rest.has_value();
}

class CompileStage {
 public:
  CompileStage(std::vector<Task>& tasks, const StageContext& context) : tasks_(tasks), context_(context) {}

  Status run() {
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    const unsigned parallel = context_.parallel ? context_.parallel : cores;
    for (unsigned i = 0; i < parallel; ++i) add_next();
    const Status ran = run_all(commands_, parallel, context_.timeout, context_.cancel,
                               [&](std::size_t index, const Exit& exit) { ended(index, exit); });
    return ran ? disk_ : ran;
  }

 private:
  // Each command is made when its turn comes, so that earlier ones decide whether it is worth it.
  void add_next() {
    for (; disk_ && next_ < tasks_.size(); ++next_) {
      Task& task = tasks_[next_];
      if (!task.pending()) continue;
      const bool is_program = task.job.variant.is_program();
      const std::string skipped = is_program ? std::string() : hanging_.skips(task.bake_list, task.vector_width);
      if (!skipped.empty()) task.fail("compile: " + skipped);
      if (!skipped.empty() || is_compiled(task)) {
        count(task);
        continue;
      }
      disk_ = add_command(task);
      if (disk_) owners_.push_back(next_++);
      return;
    }
  }

  // True when an interrupted build has compiled it. An offline target's task would not be pending then.
  bool is_compiled(const Task& task) const {
    if (task.offline() || context_.fresh) return false;
    const Result<Job> compiled = read_job(task.compiled_file());
    return compiled && !compiled->entries.empty() && same_work(*compiled, task.job);
  }

  Status add_command(const Task& task) {
    const Status written = write_job(task.source_file(), task.job);
    if (!written) return written;
    Result<ScratchDirectory> scratch = ScratchDirectory::create(context_.work_directory);
    if (!scratch) return scratch.status();
    const char* verb = task.offline() ? "compile-offline" : "compile";
    commands_.push_back(
        worker_command(context_.worker, {verb, task.source_file(), task.compiled_file()}, *scratch, task.log_file()));
    if (task.offline()) commands_.back().environment.emplace_back("TMPDIR", scratch->path());
    scratch_.push_back(std::move(*scratch));
    return {};
  }

  void ended(std::size_t index, const Exit& exit) {
    Task& task = tasks_[owners_[index]];
    if (leave_out_cut_trials(task, exit, commands_[index])) {
      disk_ = add_command(task);
      if (disk_) owners_.push_back(owners_[index]);
      return;
    }
    hanging_.ended(task.bake_list, task.vector_width, exit.timed_out);
    if (!exit.ok()) {
      const std::string cause = failure_of(exit, commands_[index], context_.timeout);
      task.fail("compile: " + cause);
      if (is_full_disk(exit, commands_[index])) disk_ = Status(Code::io, cause);
    } else if (task.offline()) {
      accept(task);
    }
    count(task);
    add_next();
  }

  // The end of an offline target's task: there is no device to prove it with.
  static void accept(Task& task) {
    Result<Job> compiled = read_job(task.compiled_file());
    if (!compiled) return task.fail("compile: " + compiled.status().message());
    if (!same_work(*compiled, task.job) || compiled->entries.empty()) {
      return task.fail("compile: the worker left no program of this variant");
    }
    task.accept(std::move(compiled->entries), JobReport::Outcome::baked);
  }

  void count(const Task& task) {
    if (!task.failed()) return context_.steps.done("compiled " + task.report.shown);
    if (!task.offline()) --context_.steps.state.steps;  // nothing to prove
    context_.steps.done("failed " + task.report.shown, task.report.shown + ": " + task.report.cause);
  }

  std::vector<Task>& tasks_;
  const StageContext& context_;
  HangingWidths hanging_;
  std::vector<Command> commands_;
  std::vector<std::size_t> owners_;  // of the commands: indices of tasks
  std::vector<ScratchDirectory> scratch_;
  std::size_t next_ = 0;  // the task whose turn it is
  Status disk_;           // not ok once a file could not be written
};

// In a proof that compares times (prove/compile_watch.hpp) noise can look like a compilation. A compiler that really
// runs at load or first launch runs in every new process, while noise comes and goes. So an entry that looks not
// JIT-free is measured again, up to kAttempts times.
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
          run({"prove", task.compiled_file(), overhead->file, overhead->control, task.proven_file()}, task.log_file(),
              cause);
      if (!exit) return exit.status();
      task.wrong = is_wrong_result(*exit);
      if (!exit->ok() && leave_out_cut_trials(task, *exit, commanded_)) {
        const Status changed = change_trial(task);
        if (!changed) return changed;
        cause.clear();
        continue;
      }
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
  // The file with the compiled kernel that does nothing, or why there is none; the file of compile_on_purpose.
  struct Overhead {
    Target target;
    std::string file;
    std::string control;
    std::string cause;
  };

  Result<Overhead> overhead_for(const Target& target) {
    for (const Overhead& known : overheads_) {
      if (known.target == target) return known;
    }
    const std::string stem =
        context_.work_directory + "/" CLBAKE_VERSION "-overhead-" + std::to_string(overheads_.size());
    Overhead overhead{target, stem + ".compiled", stem + ".control", {}};
    const Job job = overhead_job(target);
    const Result<Job> present = read_job(overhead.file);
    if (context_.fresh || !present || present->entries.empty() || !same_work(*present, job)) {
      const Status written = write_job(stem + ".job", job);
      if (!written) return written;
      const Result<Exit> exit = run({"compile", stem + ".job", overhead.file}, stem + ".log", overhead.cause);
      if (!exit) return exit.status();
      if (!overhead.cause.empty()) overhead.cause.insert(0, "a kernel that does nothing: ");
      std::string ignored;  // without that file, times are judged
      const Result<Exit> control = run({"control", stem + ".job", overhead.control}, stem + ".log", ignored);
      if (!control) return control.status();
    }
    overheads_.push_back(overhead);
    return overhead;
  }

  // The compiled file gets the task's trials.
  static Status change_trial(const Task& task) {
    Result<Job> compiled = read_job(task.compiled_file());
    if (!compiled) return compiled.status();
    compiled->trial = task.job.trial;
    return write_job(task.compiled_file(), *compiled);
  }

  // Runs one worker. `cause` says what went wrong with it, if anything.
  Result<Exit> run(const std::vector<std::string>& arguments, const std::string& log, std::string& cause) {
    const Result<ScratchDirectory> cache = ScratchDirectory::create(context_.work_directory);
    if (!cache) return cache.status();
    commanded_ = worker_command(context_.worker, arguments, *cache, log);
    Result<Exit> exit = process::run(commanded_, context_.timeout, context_.cancel);
    if (!exit) return exit;
    if (!exit->ok()) cause = failure_of(*exit, commanded_, context_.timeout);
    if (is_full_disk(*exit, commanded_)) return {Code::io, cause};
    return exit;
  }

  const StageContext& context_;
  Command commanded_;  // of the last worker
  std::vector<Overhead> overheads_;
};

}  // namespace

Status compile_tasks(std::vector<Task>& tasks, const StageContext& context) {
  return CompileStage(tasks, context).run();
}

Status prove_tasks(std::vector<Task>& tasks, const StageContext& context) {
  ProveStage stage(context);
  for (Task& task : tasks) {
    if (!task.pending()) continue;
    const bool is_in_memory = !task.job.entries.empty();
    Status status = is_in_memory ? write_job(task.compiled_file(), task.job) : Status();
    if (status) status = stage.prove(task);
    if (is_in_memory) os::remove_file(task.compiled_file());
    if (!status) return status;
    const std::string& shown = task.report.shown;
    const char* const ended = task.failed() ? "failed " : task.report.proof.proven ? "proved " : "loaded ";
    context.steps.done(ended + shown, task.failed() ? shown + ": " + task.report.cause : "");
  }
  return {};
}

}  // namespace clbake::builder::build
