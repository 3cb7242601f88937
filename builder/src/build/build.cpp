#include <clbake/builder/bake_list.hpp>
#include <clbake/builder/build.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/cache/writer.hpp>
#include "compile/finalize.hpp"
#include "prove/launch_overhead.hpp"

#include "build/pack.hpp"
#include "device/worker_calls.hpp"
#include "process/work_directory.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <thread>

namespace clbake::builder {
namespace {

namespace fs = std::filesystem;

// Whether an earlier entry needs no second baking. Another version of clbake may have finalized otherwise.
bool finished(const Job& job) {
  const auto by_this_version = [](const cache::Entry& entry) { return entry.proof.tools.rfind(kTool, 0) == 0; };
  return all_proven(job) && std::all_of(job.entries.begin(), job.entries.end(), by_this_version) &&
         !noise_possible(job);
}

// The same of an entry of an offline target: its compilers have to be the same ones.
bool made_by(const Job& job, const std::string& tools) {
  return !job.entries.empty() && std::all_of(job.entries.begin(), job.entries.end(),
                                             [&](const cache::Entry& entry) { return makers(entry.proof) == tools; });
}

// A job under way, and its files in the work directory.
struct Task {
  Job job;
  const BakeList* bake_list = nullptr;
  std::string stem;   // path of its files, without extension
  std::string floor;  // the device's compiled floor job
  std::string tools;  // what makes the programs of an offline target; empty when a device makes and proves them
  std::uint32_t vector_width = 1;
  bool offline() const { return !tools.empty(); }
  JobReport report;
  int attempts = 0;
  std::string source_file() const { return stem + ".job"; }
  std::string compiled_file() const { return stem + ".compiled"; }
  std::string proven_file() const { return stem + ".proven"; }
};

// A driver that hangs on one variant tends to hang on every variant of that vector width, as LLVM 14 in PoCL 3.0 does
// at width 16. After kTimeouts in a row, none of the same device and width is compiled any more: each would cost a
// whole timeout.
class HangingWidths {
 public:
  void ended(const Task& task, const Exit& exit) {
    if (exit.timed_out) {
      ++in_a_row_[key(task)];
    } else {
      in_a_row_.erase(key(task));
    }
  }

  // Why the task is not compiled; empty when it is.
  std::string skips(const Task& task) const {
    const auto found = in_a_row_.find(key(task));
    if (found == in_a_row_.end() || found->second < kTimeouts) return {};
    return "skipped: " + std::to_string(found->second) + " variants of vector width " +
           std::to_string(task.vector_width) + " in a row did not compile in time";
  }

 private:
  static constexpr unsigned kTimeouts = 3;
  using Key = std::pair<const BakeList*, std::uint32_t>;  // the bake_list is the device's
  static Key key(const Task& task) { return {task.bake_list, task.vector_width}; }
  std::map<Key, unsigned> in_a_row_;
};

class Build {
 public:
  Build(const BuildOptions& options, const std::vector<BakeList>& bake_lists, const std::atomic<bool>& cancel,
        const std::function<void(const Progress&)>& progress, const WorkDirectory& work)
      : options_(options), bake_lists_(bake_lists), cancel_(cancel), progress_(progress), work_(work) {}

  Result<BuildReport> run();

 private:
  void plan();
  void plan_site(const Device& device, const OfflineTarget* offline, std::size_t number);
  void add_task(Task task, const kernels::Params& params, const Device& device, std::size_t number);
  void take_over();
  Status compile_overhead_jobs();
  bool is_compiled(const Task& task) const;
  Result<Command> compile_call(const Task& task);
  void compile_ended(Task& task);
  Status compile_all();
  Status prove_all();
  Command call(const std::string& stem, const std::vector<std::string>& arguments) const {
    return worker_command(options_.worker, arguments, scratch_.back(), stem + ".log");
  }
  void accept_unproven(Task& task);
  bool proof_ended(std::size_t index, const Command& command, const Exit& exit);
  void fail(Task& task, const std::string& cause);
  void fail_worker(Task& task, const char* verb, const Command& command, const Exit& exit);
  void step(const std::string& last, const std::string& failure = {});
  void accept(Task& task, Job job, JobReport::Outcome outcome);
  Result<BuildReport> pack();
  unsigned parallel() const {
    return options_.parallel ? options_.parallel : std::max(1u, std::thread::hardware_concurrency());
  }

  const BuildOptions& options_;
  const std::vector<BakeList>& bake_lists_;
  const std::atomic<bool>& cancel_;
  const std::function<void(const Progress&)>& progress_;
  const WorkDirectory& work_;
  std::vector<Task> tasks_;
  std::vector<ProfileReport> profiles_;
  std::vector<JobReport> unfit_;
  Progress state_;
  Status disk_;              // not ok once a worker could not write
  std::size_t dropped_ = 0;  // entries of the earlier bundle that are not asked for
  std::vector<ScratchDirectory> scratch_;
};

void Build::add_task(Task task, const kernels::Params& params, const Device& device, std::size_t number) {
  task.job = make_job(device.target, kernels::generate(params), params);
  // Two wanted variants that differ in the front end are one where there is no choice of it.
  const auto same = [&](const Task& other) { return same_work(other.job, task.job); };
  if (std::any_of(tasks_.begin(), tasks_.end(), same)) return;
  // With the version: an interrupted build of another one may have finalized otherwise.
  const std::string stem = work_.path() + "/" CLBAKE_VERSION "-" + std::to_string(number) + "-";
  task.stem = stem + task.job.variant.name;
  task.floor = stem + "floor.compiled";
  task.report.variant = task.job.variant.name;
  task.vector_width = params.vector_width;
  tasks_.push_back(std::move(task));
}

// A device or an offline target; `number` is that of its bake_list.
void Build::plan_site(const Device& device, const OfflineTarget* offline, std::size_t number) {
  const auto is_twin = [&](const Task& task) { return task.job.target == device.target; };  // its binaries serve both
  if (std::any_of(tasks_.begin(), tasks_.end(), is_twin)) return;
  const BakeList& bake_list = bake_lists_[number];
  const std::string name = offline ? offline->name : device.target.device_name;
  if (!bake_list.profile.empty()) profiles_.push_back({name, bake_list.profile});
  for (const kernels::Params& params : bake_list.variants) {
    Task task;
    task.bake_list = &bake_list;
    task.report.device = name;
    if (offline) task.tools = kTool + (", " + tools_of(*offline));
    add_task(std::move(task), params, device, number);
  }
  for (const auto& [variant, constraint] : bake_list.unfit) {
    unfit_.push_back({name, variant, JobReport::Outcome::failed, constraint, {}});
  }
}

void Build::plan() {
  std::size_t number = 0;
  for (const Device& device : options_.devices) plan_site(device, nullptr, number++);
  for (const OfflineTarget& target : options_.targets) plan_site(target.device, &target, number++);
}

void Build::accept(Task& task, Job job, JobReport::Outcome outcome) {
  task.job.entries = std::move(job.entries);
  task.report.outcome = outcome;
  task.report.proof = task.job.entries.front().proof;
}

// Whatever an earlier build left that is proven for the same work needs no second time.
void Build::take_over() {
  std::vector<Job> earlier;
  const Result<Bundle> bundle = Bundle::open(options_.output);
  if (bundle) {
    Result<std::vector<Job>> jobs = jobs_of(*bundle);
    if (jobs) earlier = std::move(*jobs);
  }
  for (const Job& job : earlier) {
    const auto replaces = [&](const Task& task) {
      return task.job.target == job.target && task.job.variant.name == job.variant.name;
    };
    if (std::none_of(tasks_.begin(), tasks_.end(), replaces)) ++dropped_;
  }
  if (options_.fresh) return;
  for (Task& task : tasks_) {
    Result<Job> unfinished = read_job(task.proven_file());
    if (unfinished) earlier.push_back(std::move(*unfinished));
    const auto usable = [&](const Job& job) {
      return same_work(job, task.job) && (task.offline() ? made_by(job, task.tools) : finished(job));
    };
    const auto found = std::find_if(earlier.begin(), earlier.end(), usable);
    if (found != earlier.end()) accept(task, *found, JobReport::Outcome::reused);
  }
}

void Build::step(const std::string& last, const std::string& failure) {
  ++state_.steps_done;
  state_.last = last;
  state_.failure = failure;
  if (progress_) progress_(state_);
}

void Build::fail(Task& task, const std::string& cause) {
  task.report.outcome = JobReport::Outcome::failed;
  task.report.cause = cause;
}

// What a worker cannot write is no fault of its variant: the build ends.
void Build::fail_worker(Task& task, const char* verb, const Command& command, const Exit& exit) {
  const std::string cause = describe(exit, command, options_.timeout);
  fail(task, std::string(verb) + ": " + cause);
  if (exit.signal == 0 && !exit.timed_out && exit.code == kWorkerIoExit) disk_ = Status(Code::io, cause);
}

// One for each device that has something to prove.
Status Build::compile_overhead_jobs() {
  std::vector<Command> commands;
  std::vector<std::string> floors;
  std::set<std::string> planned;
  for (const Task& task : tasks_) {
    if (task.offline() || task.report.outcome != JobReport::Outcome::pending) continue;
    if (!planned.insert(task.floor).second) continue;
    const Job job = overhead_job(task.job.target);
    const Result<Job> compiled = read_job(task.floor);
    if (!options_.fresh && compiled && !compiled->entries.empty() && same_work(*compiled, job)) continue;
    const Status written = write_job(task.floor + ".job", job);
    if (!written) return written;
    Result<ScratchDirectory> scratch = ScratchDirectory::create(work_.path());
    if (!scratch) return scratch.status();
    scratch_.push_back(std::move(*scratch));
    commands.push_back(call(task.floor, {"compile", task.floor + ".job", task.floor}));
    floors.push_back(task.floor);
  }
  const auto done = [&](std::size_t index, const Exit& exit) {
    for (Task& task : tasks_) {
      const bool lost = !exit.ok() && task.floor == floors[index] && task.report.outcome == JobReport::Outcome::pending;
      if (lost) fail_worker(task, "a kernel that does nothing", commands[index], exit);
    }
  };
  const Status status = run_all(commands, parallel(), options_.timeout, cancel_, done);
  scratch_.clear();
  return status;
}

// Whether an interrupted build has compiled it. An offline target's task is done then, and take_over has looked.
bool Build::is_compiled(const Task& task) const {
  if (task.offline() || options_.fresh) return false;
  const Result<Job> compiled = read_job(task.compiled_file());
  return compiled && !compiled->entries.empty() && same_work(*compiled, task.job);
}

Result<Command> Build::compile_call(const Task& task) {
  const Status written = write_job(task.source_file(), task.job);
  if (!written) return written;
  Result<ScratchDirectory> scratch = ScratchDirectory::create(work_.path());
  if (!scratch) return scratch.status();
  scratch_.push_back(std::move(*scratch));
  Command command =
      call(task.stem, {task.offline() ? "compile-offline" : "compile", task.source_file(), task.compiled_file()});
  if (task.offline()) command.environment.emplace_back("TMPDIR", scratch_.back().path());
  return command;
}

void Build::compile_ended(Task& task) {
  if (task.report.outcome != JobReport::Outcome::failed) return step("compiled " + task.report.variant);
  if (!task.offline()) --state_.steps;  // nothing to prove
  step("failed " + task.report.variant, task.report.variant + ": " + task.report.cause);
}

// Each call is made when its turn comes, so that earlier ones decide whether it is worth it.
Status Build::compile_all() {
  HangingWidths hanging;
  std::vector<Command> commands;
  std::vector<std::size_t> owners;  // of the commands
  std::size_t next = 0;
  const auto add_next = [&] {
    for (; disk_ && next < tasks_.size(); ++next) {
      Task& task = tasks_[next];
      if (task.report.outcome != JobReport::Outcome::pending) continue;
      const std::string skipped = hanging.skips(task);
      if (!skipped.empty()) fail(task, "compile: " + skipped);
      if (!skipped.empty() || is_compiled(task)) {
        compile_ended(task);
        continue;
      }
      Result<Command> command = compile_call(task);
      if (!command) {
        disk_ = command.status();
        return;
      }
      commands.push_back(std::move(*command));
      owners.push_back(next++);
      return;
    }
  };
  const auto done = [&](std::size_t index, const Exit& exit) {
    Task& task = tasks_[owners[index]];
    hanging.ended(task, exit);
    if (exit.ok() && task.offline()) accept_unproven(task);
    if (!exit.ok()) fail_worker(task, "compile", commands[index], exit);
    compile_ended(task);
    add_next();
  };
  for (unsigned i = 0; i < parallel(); ++i) add_next();
  const Status status = run_all(commands, parallel(), options_.timeout, cancel_, done);
  scratch_.clear();
  return status ? disk_ : status;
}

// The end of an offline target's task: there is no device to prove it with.
void Build::accept_unproven(Task& task) {
  Result<Job> compiled = read_job(task.compiled_file());
  if (!compiled || !same_work(*compiled, task.job) || compiled->entries.empty()) {
    return fail(task, "compile: " + (compiled ? std::string("the worker left no program of this variant")
                                              : compiled.status().message()));
  }
  for (cache::Entry& entry : compiled->entries) {
    entry.proof = {};
    entry.proof.tools = task.tools;
    entry.proof.note = "not proven: compiled for " + task.report.device + ", which was not here";
  }
  const Status kept = write_job(task.proven_file(), *compiled);
  if (!kept) return fail(task, kept.message());
  accept(task, std::move(*compiled), JobReport::Outcome::baked);
}

// Takes the proof over, or fails the task. False when the proof should be tried again.
bool Build::proof_ended(std::size_t index, const Command& command, const Exit& exit) {
  Task& task = tasks_[index];
  if (!exit.ok()) {
    fail_worker(task, "prove", command, exit);
    return true;
  }
  Result<Job> proven = read_job(task.proven_file());
  if (!proven || !same_work(*proven, task.job) || !all_proven(*proven)) {
    fail(task,
         "prove: " + (proven ? std::string("the worker left no proof of this variant") : proven.status().message()));
    return true;
  }
  if (noise_possible(*proven) && ++task.attempts < kProofAttempts) return false;
  sign(*proven);
  const Status kept = write_job(task.proven_file(), *proven);
  if (kept) {
    accept(task, std::move(*proven), JobReport::Outcome::baked);
  } else {
    fail(task, kept.message());
  }
  return true;
}

// One at a time, with nothing compiling beside it: it is a measurement.
Status Build::prove_all() {
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    Task& task = tasks_[i];
    bool ended = task.report.outcome != JobReport::Outcome::pending;
    const bool waits = !ended;
    while (!ended) {
      Result<ScratchDirectory> scratch = ScratchDirectory::create(work_.path());
      if (!scratch) return scratch.status();
      scratch_.push_back(std::move(*scratch));
      std::vector<Command> commands = {
          call(task.stem, {"prove", task.compiled_file(), task.floor, task.proven_file()})};
      const Status ran = run_all(commands, 1, options_.timeout, cancel_,
                                 [&](std::size_t, const Exit& exit) { ended = proof_ended(i, commands[0], exit); });
      scratch_.clear();
      if (!ran) return ran;
      if (!disk_) return disk_;
    }
    if (!waits) continue;
    const bool failed = task.report.outcome == JobReport::Outcome::failed;
    step((failed ? "failed " : "proved ") + task.report.variant,
         failed ? task.report.variant + ": " + task.report.cause : std::string());
  }
  return {};
}

Result<BuildReport> Build::pack() {
  cache::Contents contents;
  BuildReport report;
  report.profiles = profiles_;
  for (const Task& task : tasks_) {
    report.jobs.push_back(task.report);
    const bool failed = task.report.outcome == JobReport::Outcome::failed;
    report.failed += failed ? 1 : 0;
    if (failed) continue;
    report.baked += task.report.outcome == JobReport::Outcome::baked ? 1 : 0;
    report.reused += task.report.outcome == JobReport::Outcome::reused ? 1 : 0;
    report.not_proven += task.report.proof.proven ? 0 : 1;
    report.not_jit_free += task.report.proof.proven && !task.report.proof.jit_free ? 1 : 0;
    if (const char* remark = remark_on(task.job.target)) report.remarks.insert(remark);
    add_job(contents, task.job);
  }
  report.jobs.insert(report.jobs.end(), unfit_.begin(), unfit_.end());
  report.failed += unfit_.size();
  if (options_.strict && report.failed > 0) {
    return {Code::build_failed, std::to_string(report.failed) + " variants failed; nothing was written"};
  }
  if (contents.entries.empty()) {
    const char* remark = remark_on(tasks_[0].job.target);
    return {Code::build_failed, "every variant failed; the first: " + report.jobs[0].cause +
                                    (remark ? "; " + std::string(remark) : std::string())};
  }
  for (std::uint32_t t = 0; t < contents.targets.size(); ++t) {
    const auto of_target = [&](const Task& task) { return task.job.target == contents.targets[t]; };
    const auto task = std::find_if(tasks_.begin(), tasks_.end(), of_target);
    contents.profiles.push_back(baked_profile(contents, t, *task->bake_list));
  }
  const Result<cache::Bytes> bytes = cache::encode(contents);
  if (!bytes) return bytes.status();
  report.bytes = bytes->size();
  report.dropped = dropped_;
  const Status written = write_if_changed(options_.output, *bytes);
  if (!written) return written;
  return report;
}

Result<BuildReport> Build::run() {
  plan();
  if (tasks_.empty()) return {Code::invalid_argument, "no variant of the wanted precisions fits any of the devices"};
  take_over();
  for (const Task& task : tasks_) {
    if (task.report.outcome == JobReport::Outcome::pending) state_.steps += task.offline() ? 1 : 2;
  }
  if (progress_) progress_(state_);
  for (const JobReport& job : unfit_) {
    state_.failure = job.variant + " on " + job.device + ": " + job.cause;
    if (progress_) progress_(state_);
  }
  Status status = compile_overhead_jobs();
  if (status) status = compile_all();
  if (status) status = prove_all();
  if (!status) return status;
  return pack();
}

}  // namespace

Status check_output(const std::string& path) {
  if (path.empty()) return {Code::invalid_argument, "the output has no name"};
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return {};
  if (!fs::is_regular_file(status)) return {Code::invalid_argument, path + ": exists and is not a regular file"};
  const Result<Bundle> bundle = Bundle::open(path);
  if (bundle || bundle.status().code() != Code::not_a_bundle) return {};  // damaged or newer: rebuilt
  return {Code::invalid_argument, path + ": exists and is not a bundle; it stays as it is"};
}

Result<BuildReport> build(const BuildOptions& options, const std::atomic<bool>& cancel,
                          const std::function<void(const Progress&)>& progress) {
  if ((options.devices.empty() && options.targets.empty()) ||
      (options.precisions.empty() && options.variants.empty() && options.profiles.empty())) {
    return {Code::invalid_argument, "no device, or neither a precision, a variant nor a profile to build for"};
  }
  const Result<std::vector<BakeList>> bake_lists = bake_lists_for(options);
  if (!bake_lists) return bake_lists.status();
  const Status output = check_output(options.output);
  if (!output) return output;
  const Result<WorkDirectory> work = WorkDirectory::open(options.output + ".work");
  if (!work) return work.status();
  Result<BuildReport> report = Build(options, *bake_lists, cancel, progress, *work).run();
  // Kept for the next run when interrupted or when the disk was full; of no use after anything else.
  const Code code = report.status().code();
  const bool of_no_use = code == Code::build_failed && !options.strict;
  if (report || of_no_use || code == Code::invalid_argument) work->remove();
  return report;
}

}  // namespace clbake::builder
