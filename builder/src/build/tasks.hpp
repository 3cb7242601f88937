// A build: one task for each variant, and each program, of each device or offline target, and its two stages. Each task
// ends as baked or failed; what is done stays in the work directory.
//
// Compiling and proving need processes: a driver that crashes takes one variant with it, and a proof needs a process
// that compiles nothing. Where their start takes long, one serves many variants after the other (Command::host). A
// program's bytes are encoded twice: by the worker that compiles, for the one that proves (.compiled), and into the
// bundle. Between them only proofs are written (.proven).
#pragma once

#include <clbake/builder/build.hpp>
#include <clbake/builder/jobs.hpp>

namespace clbake::builder::build {

struct Task {
  Job job;
  JobReport report;
  std::size_t bake_list = 0;       // the number of its device's or target's
  std::uint32_t vector_width = 0;  // 0: of a program, whose width is not known
  // The makers of an offline target's programs; empty when a device makes and proves them.
  std::vector<cache::Tool> tools;
  std::string stem;    // the path of its files in the work directory, without extension
  bool wrong = false;  // a proof found that it computes something else than the reference

  bool offline() const { return !tools.empty(); }
  bool pending() const { return report.outcome == JobReport::Outcome::pending; }
  bool failed() const { return report.outcome == JobReport::Outcome::failed; }
  std::string source_file() const { return stem + ".job"; }
  std::string compiled_file() const { return stem + ".compiled"; }
  std::string proven_file() const { return stem + ".proven"; }
  std::string log_file() const { return stem + ".log"; }

  void accept(std::vector<cache::Entry> entries, JobReport::Outcome outcome);
  void fail(const std::string& cause);

  // Takes these trials, which lack those of the kernel with a content that was cut; the report says so.
  void leave_out_cut(std::string trial, const std::string& kernel);
};

struct Plan {
  std::vector<Task> tasks;
  std::vector<JobReport> unfit;  // winners of profiles, and programs, that cannot be baked for their device
};

// `bake_lists` are those of the options: devices first, then targets. Of two devices with one target only the first is
// planned, as its programs serve both.
Plan plan_tasks(const BuildOptions& options, const std::vector<BakeList>& bake_lists,
                const std::string& work_directory);

// Counts steps and reports each.
struct Steps {
  const std::function<void(const Progress&)>& report;  // may be empty
  Progress state = {};

  void done(const std::string& last, const std::string& failure = {}) {
    ++state.steps_done;
    tell(last, failure);
  }
  void tell(const std::string& last, const std::string& failure = {}) {  // that is no step
    state.last = last;
    state.failure = failure;
    if (report) report(state);
  }
};

struct StageContext {
  const std::string& worker;
  std::chrono::seconds timeout;  // for one child
  unsigned parallel;             // children at a time; 0: one for each core
  bool fresh;                    // files of an interrupted build are of no use
  const std::string& work_directory;
  const std::atomic<bool>& cancel;
  Steps& steps;
};

// Compiles the pending tasks that have no entries, several at a time, and proves all; those of offline targets are
// baked when they are compiled. Where a compilation leaves signs, proofs run beside the other work; else each runs with
// nothing beside it: it is a measurement. Fails with cancelled or io.
Status bake_tasks(std::vector<Task>& tasks, const StageContext& context);

}  // namespace clbake::builder::build
