#include <clbake/builder/build.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/profile.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/cache/writer.hpp>

#include "work_directory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

namespace clbake::builder {
namespace {

namespace fs = std::filesystem;

// A compiler that runs at the first launch runs in every new process; noise comes and goes. So an entry that looks not
// JIT-free is timed again.
constexpr int kProofAttempts = 3;

// The first words of a proof's note.
std::string note_prefix() { return std::string("clbake ") + CLBAKE_VERSION + "; "; }

// Too slow a first launch of machine code may have been noise, which a new proof can clear.
bool noise_possible(const cache::Entry& entry) { return !entry.proof.jit_free && entry.form == cache::Form::native; }

// Whether an earlier entry needs no second baking. Another version of clbake may have finalized otherwise.
bool finished(const Job& job) {
  const cache::Entry& entry = job.entry.front();
  return entry.proof.proven && entry.proof.note.rfind(note_prefix(), 0) == 0 && !noise_possible(entry);
}

// A job under way, and its files in the work directory.
struct Task {
  Job job;
  kernels::DeviceKind kind = kernels::DeviceKind::cpu;
  std::string stem;  // path of its files, without extension
  JobReport report;
  int attempts = 0;
  std::string source_file() const { return stem + ".job"; }
  std::string compiled_file() const { return stem + ".compiled"; }
  std::string proven_file() const { return stem + ".proven"; }
};

class Build {
 public:
  Build(const BuildOptions& options, const std::atomic<bool>& cancel,
        const std::function<void(const Progress&)>& progress, const WorkDirectory& work)
      : options_(options), cancel_(cancel), progress_(progress), work_(work) {}

  Result<BuildReport> run();

 private:
  void plan();
  void take_over();
  Status compile_all();
  Status prove_all();
  Command worker_command(const std::string& verb, const Task& task, const std::string& input,
                         const std::string& output);
  bool proof_ended(std::size_t index, const Command& command, const Exit& exit);
  void fail(Task& task, const std::string& cause);
  void fail_worker(Task& task, const char* verb, const Command& command, const Exit& exit);
  void step(const std::string& last, const std::string& failure = {});
  void accept(Task& task, Job job, JobReport::Outcome outcome);
  Result<BuildReport> pack();

  const BuildOptions& options_;
  const std::atomic<bool>& cancel_;
  const std::function<void(const Progress&)>& progress_;
  const WorkDirectory& work_;
  std::vector<Task> tasks_;
  Progress state_;
  Status disk_;              // not ok once a worker could not write
  std::size_t dropped_ = 0;  // entries of the earlier bundle that are not asked for
  std::vector<ScratchDirectory> scratch_;
};

// What the build is asked to bake for a device.
std::vector<kernels::Params> variants_for(const Device& device, const BuildOptions& options) {
  if (!options.variants.empty()) return options.variants;
  std::vector<kernels::Params> fitting;
  for (const Precision precision : options.precisions) {
    for (const kernels::Params& params :
         kernels::default_variants(device.kind, kernels_precision(precision), device.vector_bytes)) {
      if (kernels::admits(device.limits, params)) fitting.push_back(params);
    }
  }
  return fitting;
}

void Build::plan() {
  for (std::size_t d = 0; d < options_.devices.size(); ++d) {
    const Device& device = options_.devices[d];
    const auto same_target = [&](const Task& task) { return task.job.target == device.target; };
    if (std::any_of(tasks_.begin(), tasks_.end(), same_target)) continue;  // a twin: its binaries serve both
    for (const kernels::Params& params : variants_for(device, options_)) {
      Task task;
      task.job = make_job(device.target, kernels::generate(params), params);
      task.kind = device.kind;
      // With the version: an interrupted build of another one may have finalized otherwise.
      task.stem = work_.path() + "/" CLBAKE_VERSION "-" + std::to_string(d) + "-" + task.job.variant.name;
      task.report.device = device.target.device_name;
      task.report.variant = task.job.variant.name;
      tasks_.push_back(std::move(task));
    }
  }
}

void Build::accept(Task& task, Job job, JobReport::Outcome outcome) {
  task.job.entry = std::move(job.entry);
  task.report.outcome = outcome;
  task.report.proof = task.job.entry.front().proof;
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
    if (unfinished && !unfinished->entry.empty()) earlier.push_back(std::move(*unfinished));
    const auto usable = [&](const Job& job) { return same_work(job, task.job) && finished(job); };
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

Command Build::worker_command(const std::string& verb, const Task& task, const std::string& input,
                              const std::string& output) {
  std::error_code ignored;
  fs::remove(output, ignored);  // an earlier run's must not pass for this one's
  Command command;
  command.arguments = {options_.worker, "worker", verb, input, output};
  command.environment = driver_cache_environment(scratch_.back().path());
  for (auto& variable : steady_environment()) command.environment.push_back(std::move(variable));
  command.log = task.stem + ".log";
  return command;
}

Status Build::compile_all() {
  std::vector<Command> commands;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    Task& task = tasks_[i];
    if (task.report.outcome != JobReport::Outcome::pending) continue;
    const Result<Job> compiled = read_job(task.compiled_file());
    if (!options_.fresh && compiled && !compiled->entry.empty() && same_work(*compiled, task.job)) {
      step("compiled " + task.report.variant);
      continue;
    }
    const Status written = write_job(task.source_file(), task.job);
    if (!written) return written;
    Result<ScratchDirectory> scratch = ScratchDirectory::create(work_.path());
    if (!scratch) return scratch.status();
    scratch_.push_back(std::move(*scratch));
    commands.push_back(worker_command("compile", task, task.source_file(), task.compiled_file()));
    owners.push_back(i);
  }
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const auto done = [&](std::size_t index, const Exit& exit) {
    Task& task = tasks_[owners[index]];
    if (exit.ok()) return step("compiled " + task.report.variant);
    fail_worker(task, "compile", commands[index], exit);
    --state_.steps;  // nothing to prove
    step("failed " + task.report.variant, task.report.variant + ": " + task.report.cause);
  };
  const Status status =
      run_all(commands, options_.parallel ? options_.parallel : cores, options_.timeout, cancel_, done);
  scratch_.clear();
  return status ? disk_ : status;
}

// Takes the proof over, or fails the task. False when the proof should be tried again.
bool Build::proof_ended(std::size_t index, const Command& command, const Exit& exit) {
  Task& task = tasks_[index];
  if (!exit.ok()) {
    fail_worker(task, "prove", command, exit);
    return true;
  }
  Result<Job> proven = read_job(task.proven_file());
  if (!proven || proven->entry.empty() || !same_work(*proven, task.job) || !proven->entry.front().proof.proven) {
    fail(task,
         "prove: " + (proven ? std::string("the worker left no proof of this variant") : proven.status().message()));
    return true;
  }
  const cache::Entry& entry = proven->entry.front();
  if (noise_possible(entry) && ++task.attempts < kProofAttempts) return false;
  proven->entry.front().proof.note.insert(0, note_prefix());
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
      std::vector<Command> commands = {worker_command("prove", task, task.compiled_file(), task.proven_file())};
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

bool holds(const std::string& path, const cache::Bytes& bytes) {
  std::ifstream file(path, std::ios::binary);
  const cache::Bytes present{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return file.is_open() && present == bytes;
}

// Adds one finished task; equal targets and sources are shared.
void add_to(cache::Contents& contents, const Job& job) {
  const auto index_of = [](auto& list, const auto& item, const auto& same) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& other) { return same(other, item); });
    if (found != list.end()) return static_cast<std::uint32_t>(found - list.begin());
    list.push_back(item);
    return static_cast<std::uint32_t>(list.size() - 1);
  };
  cache::Entry entry = job.entry.front();
  entry.target = index_of(contents.targets, job.target, [](const Target& a, const Target& b) { return a == b; });
  cache::Variant variant = job.variant;
  variant.source = index_of(contents.sources, job.source, [](const cache::Source& a, const cache::Source& b) {
    return a.name == b.name && a.text == b.text;
  });
  entry.variant = index_of(contents.variants, variant,
                           [](const cache::Variant& a, const cache::Variant& b) { return a.name == b.name; });
  contents.entries.push_back(std::move(entry));
}

Result<BuildReport> Build::pack() {
  cache::Contents contents;
  BuildReport report;
  for (const Task& task : tasks_) {
    report.jobs.push_back(task.report);
    const bool failed = task.report.outcome == JobReport::Outcome::failed;
    report.failed += failed ? 1 : 0;
    if (failed) continue;
    report.baked += task.report.outcome == JobReport::Outcome::baked ? 1 : 0;
    report.reused += task.report.outcome == JobReport::Outcome::reused ? 1 : 0;
    report.not_jit_free += task.report.proof.jit_free ? 0 : 1;
    add_to(contents, task.job);
  }
  if (contents.entries.empty()) return {Code::build_failed, "every variant failed; the first: " + report.jobs[0].cause};
  for (std::uint32_t t = 0; t < contents.targets.size(); ++t) {
    const auto of_target = [&](const Task& task) { return task.job.target == contents.targets[t]; };
    const auto task = std::find_if(tasks_.begin(), tasks_.end(), of_target);
    contents.profiles.push_back(default_profile(contents, t, task->kind));
  }
  const Result<cache::Bytes> bytes = cache::encode(contents);
  if (!bytes) return bytes.status();
  report.bytes = bytes->size();
  report.dropped = dropped_;
  if (holds(options_.output, *bytes)) return report;  // its time of change goes on saying when it changed
  const Status written = cache::write_file(options_.output, {bytes->data(), bytes->size()});
  if (!written) return written;
  return report;
}

Result<BuildReport> Build::run() {
  plan();
  if (tasks_.empty()) return {Code::invalid_argument, "no variant of the wanted precisions fits any of the devices"};
  take_over();
  for (const Task& task : tasks_) state_.steps += task.report.outcome == JobReport::Outcome::pending ? 2 : 0;
  if (progress_) progress_(state_);
  Status status = compile_all();
  if (status) status = prove_all();
  if (!status) return status;
  return pack();
}

// An output that exists must be one of ours: a slip of the hand must not cost somebody's file.
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

Status check_variants(const BuildOptions& options) {
  for (const Device& device : options.devices) {
    for (const kernels::Params& params : options.variants) {
      const std::vector<kernels::Violation> violations = kernels::check(params, device.limits);
      if (violations.empty()) continue;
      return {Code::invalid_argument, kernels::name(params) + " on " + device.target.device_name + ": " +
                                          std::string(violations[0].constraint) + ": " + violations[0].reason};
    }
  }
  return {};
}

}  // namespace

Result<BuildReport> build(const BuildOptions& options, const std::atomic<bool>& cancel,
                          const std::function<void(const Progress&)>& progress) {
  if (options.devices.empty() || (options.precisions.empty() && options.variants.empty())) {
    return {Code::invalid_argument, "no device, or neither a precision nor a variant to build for"};
  }
  const Status possible = check_variants(options);
  if (!possible) return possible;
  const Status output = check_output(options.output);
  if (!output) return output;
  const Result<WorkDirectory> work = WorkDirectory::open(options.output + ".work");
  if (!work) return work.status();
  Result<BuildReport> report = Build(options, cancel, progress, *work).run();
  // Kept for the next run when interrupted or when the disk was full; of no use after anything else.
  const Code code = report.status().code();
  if (report || code == Code::build_failed || code == Code::invalid_argument) work->remove();
  return report;
}

}  // namespace clbake::builder
