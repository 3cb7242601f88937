#include "build/tasks.hpp"

#include "device/hanging_widths.hpp"
#include "process/worker.hpp"

#include <thread>

namespace clbake::builder::build {
using namespace process;
namespace {

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
    if (!task.failed()) return context_.steps.done("compiled " + task.report.variant);
    if (!task.offline()) context_.steps.skip_one();  // nothing to prove
    context_.steps.done("failed " + task.report.variant, task.report.variant + ": " + task.report.cause);
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

}  // namespace

Status compile_tasks(std::vector<Task>& tasks, const StageContext& context) {
  return CompileStage(tasks, context).run();
}

}  // namespace clbake::builder::build
