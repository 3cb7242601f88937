#include "build/tasks.hpp"

#include <clbake/builder/platforms.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/paths.hpp>
#include "device/hanging_widths.hpp"
#include "process/need.hpp"
#include "program/trial.hpp"
#include "prove/proofs.hpp"
#include "prove/signs.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

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

// In a proof that compares times (prove/compile_watch.hpp) noise can look like a compilation. A compiler that really
// runs at load or first launch runs in every new process, while noise comes and goes. So an entry that looks not
// JIT-free is measured again, up to kAttempts times.
constexpr int kAttempts = 5;

// Proofs that run at the same time, a part of all children: they share the device and its memory.
constexpr unsigned kProofsPart = 4;

class Stages {
 public:
  Stages(std::vector<Task>& tasks, const StageContext& context)
      : tasks_(tasks),
        context_(context),
        parallel_(context.parallel ? context.parallel : std::max(1U, std::thread::hardware_concurrency())) {}

  Status run() try {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (tasks_[i].pending()) (tasks_[i].job.entries.empty() ? to_compile_ : compiled_).push_back(i);
    }
    prepare_overheads();
    start_more();
    need(run_all(commands_, parallel_, context_.timeout, context_.cancel,
                 [&](std::size_t index, const Exit& exit) { ended(index, exit); }));
    for (Task& task : tasks_) {
      if (disk_ && task.pending()) prove_alone(task);
    }
    return disk_;
  } catch (const Failure& failure) {
    return failure.status;
  }

 private:
  struct Order {
    bool is_proof;
    std::size_t number;  // of the task
    ScratchDirectory cache;
  };
  // A target's compiled kernel that does nothing, and the file of compile_on_purpose.
  struct Overhead {
    Target target;
    std::string stem;
    bool has_signs = false;  // a compilation leaves them; without, times are judged
    std::string cause = {};  // why there is no kernel
    std::string compiled() const { return stem + ".compiled"; }
    std::string control() const { return stem + ".control"; }
  };

  void prepare_overheads() {
    std::vector<Command> commands;
    std::vector<ScratchDirectory> caches;
    std::vector<std::size_t> owners;  // of the commands
    for (const Task& task : tasks_) {
      const auto known = [&](const Overhead& overhead) { return overhead.target == task.job.target; };
      if (!task.pending() || task.offline() || std::any_of(overheads_.begin(), overheads_.end(), known)) continue;
      const std::string stem =
          context_.work_directory + "/" CLBAKE_VERSION "-overhead-" + std::to_string(overheads_.size());
      overheads_.push_back({task.job.target, stem});
      const Overhead& overhead = overheads_.back();
      const Job job = overhead_job(task.job.target);
      const Result<Job> present = read_job(overhead.compiled());
      const bool is_there = !context_.fresh && present && !present->entries.empty() && same_work(*present, job) &&
                            std::filesystem::exists(os::native(overhead.control()));
      if (is_there) continue;
      need(write_job(stem + ".job", job));
      for (const auto& [verb, output] : {std::pair("compile", overhead.compiled()), {"control", overhead.control()}}) {
        ScratchDirectory cache = need(ScratchDirectory::create(context_.work_directory));
        const std::string log = stem + "." + verb + ".log";
        commands.push_back(worker_command(context_.worker, {verb, stem + ".job", output}, cache, log));
        caches.push_back(std::move(cache));
        owners.push_back(overheads_.size() - 1);
      }
    }
    const auto ended = [&](std::size_t index, const Exit& exit) {
      if (exit.ok()) return;
      const std::string cause = failure_of(exit, commands[index], context_.timeout);
      const bool is_kernel = index % 2 == 0;
      if (is_kernel) overheads_[owners[index]].cause = "a kernel that does nothing: " + cause;
      if (is_full_disk(exit, commands[index])) disk_ = Status(Code::io, cause);
    };
    need(run_all(commands, parallel_, context_.timeout, context_.cancel, ended));
    for (Overhead& overhead : overheads_) overhead.has_signs = read_control(overhead.control()).has_signs();
    need(disk_);
  }

  const Overhead& overhead_of(const Task& task) const {
    return *std::find_if(overheads_.begin(), overheads_.end(),
                         [&](const Overhead& overhead) { return overhead.target == task.job.target; });
  }

  // Each command is made when its turn comes, so that earlier ones decide whether it is worth it.
  void start_more() {
    while (disk_ && running_ < parallel_ && start_one()) ++running_;
  }

  bool start_one() {
    while (disk_) {
      if (proving_ < std::max(1U, parallel_ / kProofsPart) && start_proof()) return true;
      if (to_compile_.empty()) return false;
      const std::size_t number = to_compile_.front();
      to_compile_.pop_front();
      if (start_compilation(number)) return true;
    }
    return false;
  }

  // The first error stays.
  void check_disk(const Status& written) {
    if (disk_ && !written) disk_ = written;
  }

  bool start_proof() {
    const auto next = std::find_if(compiled_.begin(), compiled_.end(), [&](std::size_t number) {
      return tasks_[number].pending() && provable_beside_others(tasks_[number]);
    });
    if (next == compiled_.end()) return false;
    const std::size_t number = *next;
    compiled_.erase(next);
    check_disk(write_in_memory(tasks_[number]));
    const bool added = add(true, number, proof_of(tasks_[number]));
    proving_ += added ? 1U : 0U;
    return added;
  }

  // If a compilation leaves signs, no proof is a measurement that others disturb.
  bool provable_beside_others(const Task& task) const {
    return serves_many(task) && overhead_of(task).cause.empty() && overhead_of(task).has_signs;
  }

  // Programs may need a process that starts anew, and name what they try in its log.
  static bool serves_many(const Task& task) {
    return builder_platform_of(task.job.target).serves_many && !task.job.variant.is_program() && !task.offline();
  }

  bool start_compilation(std::size_t number) {
    Task& task = tasks_[number];
    const bool is_program = task.job.variant.is_program();
    const std::string skipped = is_program ? std::string() : hanging_.skips(task.bake_list, task.vector_width);
    if (!skipped.empty()) task.fail("compile: " + skipped);
    if (!skipped.empty() || is_compiled(task)) {
      count_compiled(number);
      return false;
    }
    return compile(number);
  }

  bool compile(std::size_t number) {
    const Task& task = tasks_[number];
    check_disk(write_job(task.source_file(), task.job));
    const char* verb = task.offline() ? "compile-offline" : "compile";
    const bool added = add(false, number, {verb, task.source_file(), task.compiled_file()});
    if (added && task.offline()) {
      commands_.back().environment.emplace_back("TMPDIR", orders_.back().cache.path());
    }
    return added;
  }

  // False when a file could not be written.
  bool add(bool is_proof, std::size_t number, const std::vector<std::string>& arguments) {
    Result<ScratchDirectory> cache = ScratchDirectory::create(context_.work_directory);
    check_disk(cache.status());
    if (!disk_) return false;
    const Task& task = tasks_[number];
    commands_.push_back(worker_command(context_.worker, arguments, *cache, task.log_file()));
    const bool fits_a_line = task.stem.find_first_of("\t\n") == std::string::npos;
    if (serves_many(task) && fits_a_line) commands_.back().host = arguments[0] + " " + identity(task.job.target);
    orders_.push_back({is_proof, number, std::move(*cache)});
    return true;
  }

  // True when an interrupted build has compiled it. An offline target's task would not be pending then.
  bool is_compiled(const Task& task) const {
    if (task.offline() || context_.fresh) return false;
    const Result<Job> compiled = read_job(task.compiled_file());
    return compiled && !compiled->entries.empty() && same_work(*compiled, task.job);
  }

  void ended(std::size_t index, const Exit& exit) {
    const std::size_t number = orders_[index].number;
    --running_;
    if (orders_[index].is_proof) {
      --proving_;
      // Others may have disturbed it: it waits for its turn alone.
      const bool disturbed =
          !exit.ok() && !exit.timed_out && !is_wrong_result(exit) && !is_full_disk(exit, commands_[index]);
      if (!disturbed) take_proof(tasks_[number], exit, commands_[index], 1);
    } else {
      compilation_ended(number, exit, commands_[index]);
    }
    start_more();
  }

  void compilation_ended(std::size_t number, const Exit& exit, const Command& command) {
    Task& task = tasks_[number];
    if (leave_out_cut_trials(task, exit, command)) {
      running_ += compile(number) ? 1U : 0U;
      return;
    }
    hanging_.ended(task.bake_list, task.vector_width, exit.timed_out);
    if (!exit.ok()) {
      const std::string cause = failure_of(exit, command, context_.timeout);
      task.fail("compile: " + cause);
      if (is_full_disk(exit, command)) disk_ = Status(Code::io, cause);
    } else if (task.offline()) {
      accept(task);
    }
    count_compiled(number);
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

  void count_compiled(std::size_t number) {
    const Task& task = tasks_[number];
    if (task.pending()) compiled_.push_back(number);
    if (!task.failed()) return context_.steps.done("compiled " + task.report.shown);
    if (!task.offline()) --context_.steps.state.steps;  // nothing to prove
    context_.steps.done("failed " + task.report.shown, task.report.shown + ": " + task.report.cause);
  }

  std::vector<std::string> proof_of(const Task& task) const {
    const Overhead& overhead = overhead_of(task);
    return {"prove", task.compiled_file(), overhead.compiled(), overhead.control(), task.proven_file()};
  }

  // A proof's input, of a task that was not compiled here.
  static Status write_in_memory(const Task& task) {
    return task.job.entries.empty() ? Status() : write_job(task.compiled_file(), task.job);
  }

  // Ends the task, unless the proof has to be repeated.
  void take_proof(Task& task, const Exit& exit, const Command& command, int attempt) {
    std::string cause = exit.ok() ? std::string() : failure_of(exit, command, context_.timeout);
    if (is_full_disk(exit, command)) disk_ = Status(Code::io, cause);
    if (!disk_) return;
    task.wrong = is_wrong_result(exit);
    const bool is_in_memory = !task.job.entries.empty();
    if (exit.ok()) {
      Result<Job> proven = read_proven(task.compiled_file(), task.proven_file());
      if (!proven) cause = proven.status().message();
      if (proven && !same_work(*proven, task.job)) cause = "the worker left no proof of this variant";
      if (cause.empty() && noise_possible(*proven) && attempt < kAttempts) return;
      if (cause.empty()) task.accept(std::move(proven->entries), JobReport::Outcome::baked);
    }
    if (is_in_memory) os::remove_file(task.compiled_file());
    end_proof(task, cause);
  }

  void end_proof(Task& task, const std::string& cause) {
    if (task.pending()) task.fail("prove: " + cause);
    const std::string& shown = task.report.shown;
    const char* const verb = task.failed() ? "failed " : task.report.proof.proven ? "proved " : "loaded ";
    context_.steps.done(verb + shown, task.failed() ? shown + ": " + task.report.cause : "");
  }

  // With nothing beside it, in a process of its own.
  void prove_alone(Task& task) {
    const std::string& cause = overhead_of(task).cause;
    if (!cause.empty()) end_proof(task, cause);
    for (int attempt = 1; disk_ && task.pending(); ++attempt) {
      need(write_in_memory(task));
      const ScratchDirectory cache = need(ScratchDirectory::create(context_.work_directory));
      const Command command = worker_command(context_.worker, proof_of(task), cache, task.log_file());
      const Exit exit = need(process::run(command, context_.timeout, context_.cancel));
      if (leave_out_cut_trials(task, exit, command)) {
        change_trial(task);
      } else {
        take_proof(task, exit, command, attempt);
      }
    }
  }

  // The compiled file gets the task's trials.
  static void change_trial(const Task& task) {
    Job compiled = need(read_job(task.compiled_file()));
    compiled.trial = task.job.trial;
    need(write_job(task.compiled_file(), compiled));
  }

  std::vector<Task>& tasks_;
  const StageContext& context_;
  unsigned parallel_;
  HangingWidths hanging_;
  std::vector<Overhead> overheads_;
  std::deque<std::size_t> to_compile_, compiled_;  // tasks whose turn has not come
  std::vector<Command> commands_;
  std::vector<Order> orders_;  // of the commands
  unsigned running_ = 0, proving_ = 0;
  Status disk_;  // not ok once a file could not be written
};

}  // namespace

Status bake_tasks(std::vector<Task>& tasks, const StageContext& context) { return Stages(tasks, context).run(); }

}  // namespace clbake::builder::build
