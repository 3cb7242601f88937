#include "build/tasks.hpp"

#include <clbake/builder/programs.hpp>

#include <algorithm>

namespace clbake::builder::build {
using namespace compile;
using namespace program;
namespace {

void add_task(Plan& plan, Task task, Job job, const std::string& work_directory) {
  task.job = std::move(job);
  // Variants that differ only in the front end are one where the front end cannot be chosen.
  const auto same = [&](const Task& other) { return same_work(other.job, task.job); };
  if (std::any_of(plan.tasks.begin(), plan.tasks.end(), same)) return;
  // With the version: an interrupted build of another one may have finalized otherwise.
  task.stem = work_directory + "/" CLBAKE_VERSION "-" + std::to_string(task.bake_list) + "-" + task.job.variant.name;
  task.report.variant = task.job.variant.name;
  task.report.shown = shown_name(task.job.variant);
  plan.tasks.push_back(std::move(task));
}

}  // namespace

void Task::accept(std::vector<cache::Entry> entries, JobReport::Outcome outcome) {
  job.entries = std::move(entries);
  report.outcome = outcome;
  report.proof = job.entries.front().proof;
}

void Task::fail(const std::string& cause) {
  report.outcome = JobReport::Outcome::failed;
  report.cause = cause;
}

void Task::leave_out_cut(std::string trial, const std::string& kernel) {
  job.trial = std::move(trial);
  report.remark += (report.remark.empty() ? "" : "; ") + ("untried: kernel " + kernel) +
                   ": its recorded content was cut, and it fails with that";
}

Plan plan_tasks(const BuildOptions& options, const std::vector<BakeList>& bake_lists,
                const std::string& work_directory) {
  Plan plan;
  const auto add = [&](const Device& device, const OfflineTarget* offline, std::size_t number) {
    const auto is_twin = [&](const Task& task) { return task.job.target == device.target; };
    if (std::any_of(plan.tasks.begin(), plan.tasks.end(), is_twin)) return;
    const BakeList& bake_list = bake_lists[number];
    const std::string& name = bake_list.device;
    Task like;
    like.bake_list = number;
    like.report.device = name;
    if (offline) like.tools = tools_of(*offline);
    for (const kernels::Params& params : bake_list.variants) {
      Task task = like;
      task.vector_width = params.vector_width;
      add_task(plan, std::move(task), make_job(device.target, kernels::generate(params), params), work_directory);
    }
    std::vector<Program> programs = complex_programs(device.type, options.precisions);
    if (!device.limits.fp64) {
      const auto of_doubles = [](const Program& program) { return program.options.find("=64") != std::string::npos; };
      programs.erase(std::remove_if(programs.begin(), programs.end(), of_doubles), programs.end());
    }
    programs.insert(programs.end(), options.programs.begin(), options.programs.end());
    for (const Program& program : programs) {
      const std::string cause = program.failure.empty() ? violation(program, device.limits) : program.failure;
      if (cause.empty()) add_task(plan, like, make_job(device.target, program), work_directory);
      if (!cause.empty())
        plan.unfit.push_back({name, program.name, shown_name(program.name), JobReport::Outcome::failed, cause, {}, {}});
    }
    for (const auto& [variant, constraint] : bake_list.unfit) {
      plan.unfit.push_back({name, variant, variant, JobReport::Outcome::failed, constraint, {}, {}});
    }
  };
  std::size_t number = 0;
  for (const Device& device : options.devices) add(device, nullptr, number++);
  for (const OfflineTarget& target : options.targets) add(target.device, &target, number++);
  return plan;
}

}  // namespace clbake::builder::build
