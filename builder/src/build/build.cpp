#include <clbake/builder/build.hpp>
#include <clbake/builder/platforms.hpp>

#include <clbake/builder/release/signing.hpp>
#include <clbake/cache/pack.hpp>
#include <clbake/cache/writer.hpp>
#include "build/previous_bundle.hpp"
#include "compile/entries_for_bundle.hpp"
#include "process/work_directory.hpp"
#include "profile/kind_choice.hpp"
#include "program/trial.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace clbake::builder::build {
using namespace process;
namespace {

namespace fs = std::filesystem;

// Faults that the author of a program can mend are in the proof's note.
void add_remark(const Task& task, BuildReport& report) {
  const cache::Proof& proof = task.report.proof;
  const bool compiles = proof.proven && !proof.jit_free && task.job.entries.front().form == cache::Form::native;
  if (!compiles && proof.note.find(program::kNotListed) == std::string::npos) return;
  report.remarks.insert("program " + task.report.variant + " on " + task.report.device + ": " +
                        (proof.note.empty() ? "not JIT-free" : proof.note));
}

BuildReport report_on(const Plan& plan) {
  BuildReport report;
  report.profiles = plan.profiles;
  for (const Task& task : plan.tasks) {
    report.jobs.push_back(task.report);
    report.failed += task.failed() ? 1 : 0;
    if (task.failed()) continue;
    const cache::Proof& proof = task.report.proof;
    report.baked += task.report.outcome == JobReport::Outcome::baked ? 1 : 0;
    report.reused += task.report.outcome == JobReport::Outcome::reused ? 1 : 0;
    report.not_proven += proof.proven ? 0 : 1;
    report.not_jit_free += proof.proven && !proof.jit_free ? 1 : 0;
    if (task.job.variant.is_program()) add_remark(task, report);
    if (const char* remark = builder_platform_of(task.job.target).remark) report.remarks.insert(remark);
  }
  report.jobs.insert(report.jobs.end(), plan.unfit.begin(), plan.unfit.end());
  report.failed += plan.unfit.size();
  return report;
}

// Leaves only what another build of the same makes, too: not the times, and not the notes, which tell of them.
void remove_measurements(cache::Contents& contents) {
  for (cache::Entry& entry : contents.entries) {
    cache::Proof& proof = entry.proof;
    proof.create_us = proof.build_us = proof.kernel_us = proof.first_us = proof.steady_us = 0;
    proof.note.clear();
  }
}

// The entries and profiles of the tasks that did not fail.
cache::Contents contents_of(const std::vector<Task>& tasks, const std::vector<BakeList>& bake_lists) {
  cache::Contents contents;
  for (const Task& task : tasks) {
    if (!task.failed()) add_job(contents, task.job);
  }
  for (std::uint32_t t = 0; t < contents.targets.size(); ++t) {
    const auto of_target = [&](const Task& task) { return task.job.target == contents.targets[t]; };
    const auto task = std::find_if(tasks.begin(), tasks.end(), of_target);
    cache::Profile profile = baked_profile(contents, t, bake_lists[task->bake_list]);
    if (!profile::kinds_of(profile).empty()) contents.profiles.push_back(std::move(profile));
  }
  return contents;
}

// Replaces the file in one step, unless it already holds these bytes: its modification time then stays true.
Status write_if_changed(const std::string& path, const cache::Bytes& bytes) {
  std::ifstream file(path, std::ios::binary);
  const cache::Bytes present{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.is_open() && present == bytes) return {};
  // The same bundle, signed, stays signed.
  const Result<cache::Bytes> without = cache::with_signatures({present.data(), present.size()}, {});
  if (without && *without == bytes) return {};
  return cache::write_file(path, {bytes.data(), bytes.size()});
}

cache::PackOptions pack_options(const StageContext& context) {
  constexpr std::size_t kBetweenReports = 1000;  // programs: some seconds
  const auto report = [&steps = context.steps, reported = std::size_t{0}](std::size_t done, std::size_t all) mutable {
    if (done < reported + kBetweenReports) return;
    reported = done;
    steps.tell("compressed " + std::to_string(done) + " of " + std::to_string(all) + " programs");
  };
  return {context.parallel, &context.cancel, report, release::digest_function()};
}

// The new bundle and the report on it.
Result<BuildReport> pack(const Plan& plan, const BuildOptions& options, const StageContext& context,
                         const std::vector<BakeList>& bake_lists, const PreviousBundle& previous) {
  BuildReport report = report_on(plan);
  const char* remark = plan.tasks.empty() ? nullptr : builder_platform_of(plan.tasks[0].job.target).remark;
  cache::Contents contents = contents_of(plan.tasks, bake_lists);
  if (contents.entries.empty()) {
    return {Code::build_failed, "every variant failed; the first: " + report.jobs[0].cause +
                                    (remark ? "; " + std::string(remark) : std::string())};
  }
  carry_over(previous, plan.tasks, options, contents, report);
  if (options.reproducible) remove_measurements(contents);
  const Result<cache::Bytes> bytes = cache::pack(contents, pack_options(context));
  if (!bytes) return bytes.status();
  report.bytes = bytes->size();
  const Status written = write_if_changed(options.output, *bytes);
  if (!written) return written;
  return report;
}

Result<BuildReport> build_in(const std::string& work_directory, const BuildOptions& options,
                             const std::vector<BakeList>& bake_lists, const std::atomic<bool>& cancel,
                             const std::function<void(const Progress&)>& progress) {
  Plan plan = plan_tasks(options, bake_lists, work_directory);
  if (plan.tasks.empty() && plan.unfit.empty())
    return {Code::invalid_argument, "no variant of the wanted precisions fits any of the devices"};
  const PreviousBundle previous = read_previous(options.output);
  if (!options.fresh) reuse_finished(plan.tasks, previous);
  std::size_t count = 0;
  for (const Task& task : plan.tasks) count += !task.pending() ? 0U : task.offline() ? 1U : 2U;
  Steps steps(count, progress);
  for (const JobReport& job : plan.unfit) steps.tell({}, job.variant + " on " + job.device + ": " + job.cause);
  const StageContext context{options.worker, options.timeout, options.parallel, options.fresh, work_directory, cancel,
                             steps};
  Status status = compile_tasks(plan.tasks, context);
  if (status) status = prove_tasks(plan.tasks, context);
  if (!status) return status;
  return pack(plan, options, context, bake_lists, previous);
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

Result<BuildReport> build(const BuildOptions& options, const std::vector<BakeList>& bake_lists,
                          const std::atomic<bool>& cancel, const std::function<void(const Progress&)>& progress) {
  const bool products =
      options.gemm && !(options.precisions.empty() && options.variants.empty() && options.profiles.empty());
  if ((options.devices.empty() && options.targets.empty()) || (!products && options.programs.empty())) {
    return {Code::invalid_argument,
            "no device, or neither a precision, a variant, a profile nor a program to build for"};
  }
  const Status output = check_output(options.output);
  if (!output) return output;
  const Result<WorkDirectory> work = WorkDirectory::open(options.output + ".work");
  if (!work) return work.status();
  Result<BuildReport> report = build_in(work->path(), options, bake_lists, cancel, progress);
  // Kept for the next run when interrupted or when the disk was full; of no use after anything else.
  const Code code = report.status().code();
  if (report || code == Code::build_failed || code == Code::invalid_argument) work->remove();
  return report;
}

Result<BuildReport> build(const BuildOptions& options, const std::atomic<bool>& cancel,
                          const std::function<void(const Progress&)>& progress) {
  const Result<std::vector<BakeList>> bake_lists = bake_lists_for(options);
  if (!bake_lists) return bake_lists.status();
  return build(options, *bake_lists, cancel, progress);
}

}  // namespace clbake::builder::build
