// The plan of a build: one task for each variant, and each program, of each device or offline target.
#pragma once

#include <clbake/builder/bake_list.hpp>
#include <clbake/builder/jobs.hpp>

namespace clbake::builder {

struct Task {
  Job job;
  JobReport report;
  std::size_t bake_list = 0;       // the number of its device's or target's
  std::uint32_t vector_width = 0;  // 0: of a program, whose width is not known
  std::vector<cache::Tool>
      tools;         // what makes the programs of an offline target; empty when a device makes and proves them
  std::string stem;  // the path of its files in the work directory, without extension

  bool offline() const { return !tools.empty(); }
  bool pending() const { return report.outcome == JobReport::Outcome::pending; }
  bool failed() const { return report.outcome == JobReport::Outcome::failed; }
  std::string source_file() const { return stem + ".job"; }
  std::string compiled_file() const { return stem + ".compiled"; }
  std::string proven_file() const { return stem + ".proven"; }
  std::string log_file() const { return stem + ".log"; }
  // The file that a later build takes over: nothing proves the programs of an offline target.
  std::string finished_file() const { return offline() ? compiled_file() : proven_file(); }

  void accept(std::vector<cache::Entry> entries, JobReport::Outcome outcome);
  void fail(const std::string& cause);
};

struct Plan {
  std::vector<Task> tasks;
  std::vector<ProfileReport> profiles;
  std::vector<JobReport> unfit;  // winners of profiles, and programs, that cannot be baked for their device
};

// `bake_lists` are those of the options: devices first, then targets. Of two devices with one target only the first is
// planned, as its programs serve both.
Plan plan_tasks(const BuildOptions& options, const std::vector<BakeList>& bake_lists,
                const std::string& work_directory);

}  // namespace clbake::builder
