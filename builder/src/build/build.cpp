#include <clbake/builder/build.hpp>
#include <clbake/builder/merge_bundles.hpp>

#include <clbake/builder/compile.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/release/signing.hpp>
#include <clbake/builder/release/split.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/cache/pack.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/paths.hpp>

#include "build/tasks.hpp"
#include "profile/kind_choice.hpp"
#include "profile/untuned_profile.hpp"
#include "program/trial.hpp"
#include "prove/proofs.hpp"
#include "release/store_files.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace clbake::builder::build {
using namespace process;
using namespace prove;
namespace {

// ---- The store: slices as a build's cache, for each target, with its driver, an index of its own. So builds for
// different drivers share a store, and a new driver finds nothing of another one's. builder/STORE.md.

struct StoredJobs {
  std::vector<Job> jobs;
  std::vector<std::string> unread;  // a line for each slice, or target, that is of no use, and why
};

std::string index_name(const Target& target) { return "target-" + identity(target) + release::kIndexExtension; }

// Nothing when the store has nothing of the target. `unread`: why some of its slices are left out.
Result<std::optional<cache::Contents>> read_target(const std::string& store, const Target& target,
                                                   std::vector<std::string>& unread) {
  std::error_code ignored;
  const std::string index = store + "/" + index_name(target);
  if (!std::filesystem::exists(os::native(index), ignored)) return std::optional<cache::Contents>();
  const Result<std::vector<release::StoredSlice>> slices = release::read_slices(index, &unread);
  if (!slices) return slices.status();
  std::vector<NamedBundle> bundles;
  for (const release::StoredSlice& slice : *slices) {
    Result<NamedBundle> bundle = read_bundle(slice.bundle, slice.path);
    if (bundle) bundles.push_back(std::move(*bundle));
    if (!bundle) unread.push_back(bundle.status().message());
  }
  if (bundles.empty() && !unread.empty()) return std::optional<cache::Contents>();
  const cache::Contents all = merge_bundles(std::move(bundles)).contents;
  const auto found = std::find(all.targets.begin(), all.targets.end(), target);
  if (found == all.targets.end()) return {Code::no_target, index + ": is that of another driver with the same key"};
  return std::optional(release::part_of_target(all, static_cast<std::uint32_t>(found - all.targets.begin())));
}

// Takes out variants that `other` has, under their names.
cache::Contents without(cache::Contents contents, const cache::Contents& other) {
  std::set<std::string> names;
  for (const cache::Variant& variant : other.variants) names.insert(variant.name);
  const auto is_there = [&](std::uint32_t v) { return names.count(contents.variants[v].name) > 0; };
  std::vector<cache::Entry>& entries = contents.entries;
  entries.erase(std::remove_if(entries.begin(), entries.end(), [&](const auto& e) { return is_there(e.variant); }),
                entries.end());
  for (cache::Profile& profile : contents.profiles) {
    profile::keep_if(profile, [&](const GemmKind&, std::uint32_t v) { return !is_there(v); });
  }
  return release::part_of_target(contents, 0);
}

Status write_target(const std::string& store, cache::Contents made, const cache::PackOptions& pack) {
  const Target target = made.targets[0];
  // No other build for the driver writes its index between the reading and the writing. Where the file system has no
  // locks, or the file is another user's, as before.
  std::error_code ignored;
  std::filesystem::create_directories(os::native(store), ignored);
  const auto lock = release::take_turn(store + "/target-" + identity(target) + ".lock", pack.cancel);
  if (!lock) return lock.status();
  std::vector<std::string> unread;
  Result<std::optional<cache::Contents>> known = read_target(store, target, unread);
  if (known && *known) {  // another build may have baked other variants
    cache::Contents others = without(std::move(**known), made);
    std::vector<NamedBundle> parts;
    parts.push_back({"", std::move(made)});
    parts.push_back({"", std::move(others)});
    const cache::Contents both = merge_bundles(std::move(parts)).contents;
    const auto at = std::find(both.targets.begin(), both.targets.end(), target) - both.targets.begin();
    made = release::part_of_target(both, static_cast<std::uint32_t>(at));
  }
  release::SplitOptions options;
  options.index = index_name(target);
  options.pack = pack;
  return release::split(made, store, options).status();
}

// The programs that the store has for these targets.
StoredJobs read_store(const std::string& store, const std::vector<Target>& targets) {
  StoredJobs stored;
  for (const Target& target : targets) {
    const Result<std::optional<cache::Contents>> known = read_target(store, target, stored.unread);
    if (!known) stored.unread.push_back(known.status().message());
    if (!known || !*known) continue;
    for (Job& job : jobs_of(**known)) stored.jobs.push_back(std::move(job));
  }
  return stored;
}

// Puts the programs of all targets into the store, in the place of those of the same target and variant. Fails like
// release::split.
Status write_store(const std::string& store, const cache::Contents& contents, const cache::PackOptions& pack) {
  for (std::uint32_t t = 0; t < contents.targets.size(); ++t) {
    cache::Contents of_target = release::part_of_target(contents, t);
    if (of_target.entries.empty()) continue;  // the defaults for other devices
    const Status written = write_target(store, std::move(of_target), pack);
    if (!written) return written;
  }
  return {};
}

// ---- The build

struct PreviousBundle {
  cache::Contents contents;  // empty when there is no file, or none that can be read
  std::string unread;        // why an existing file could not be read
};

PreviousBundle read_previous(const std::string& path) {
  Result<NamedBundle> bundle = read_bundle(path);
  if (bundle) return {std::move(bundle->contents), {}};
  if (bundle.status().code() == Code::not_found) return {};
  return {{}, bundle.status().message()};
}

// True when the job needs no second baking. Another version of clbake, or another offline compiler, may make something
// else; a driver is part of the target.
bool is_finished(const Job& job, const Task& task) {
  const auto made_here = [](const cache::Entry& entry) {
    return !entry.proof.tools.empty() && entry.proof.tools.front() == compile::this_clbake();
  };
  if (job.entries.empty() || !std::all_of(job.entries.begin(), job.entries.end(), made_here)) return false;
  if (!same_work(job, task.job)) return false;
  if (!task.offline()) return all_judged(job) && !noise_possible(job);
  const std::vector<cache::Tool>& tools = job.entries.front().proof.tools;  // the native one's
  return std::equal(tools.begin() + 1, tools.end(), task.tools.begin(), task.tools.end());
}

// The task without the trials that the job lacks, if they are those that an earlier build left out as their contents
// were cut: they would fail again. Nothing if the job's trials are others.
std::optional<Task> without_cut_trials(const Task& task, const Job& job) {
  if (job.target != task.job.target || job.variant.name != task.job.variant.name) return std::nullopt;
  const std::set<std::string> kernels = program::kernels_with_fewer_trials(job.trial, task.job.trial);
  const std::optional<std::string> rest = program::without_cut_trials(task.job.trial, kernels);
  if (!rest || *rest != job.trial) return std::nullopt;
  Task cut = task;
  for (const std::string& kernel : kernels) cut.leave_out_cut(*rest, kernel);
  return cut;
}

// Ends the task if the job needs no second baking.
bool reuse(const Job& job, Task& task) {
  const bool differs = task.job.variant.is_program() && job.trial != task.job.trial;
  std::optional<Task> cut = differs ? without_cut_trials(task, job) : std::nullopt;
  if (!is_finished(job, cut ? *cut : task)) return false;
  if (cut) task = std::move(*cut);
  task.accept(job.entries, JobReport::Outcome::reused);
  return true;
}

// Ends the tasks whose work is done, by one of the jobs, of the previous bundle or a store, or by an interrupted build:
// same target, variant and source, by this version of clbake and, for an offline target, by the same compilers.
void reuse_finished(std::vector<Task>& tasks, const std::vector<Job>& jobs) {
  for (Task& task : tasks) {
    if (std::any_of(jobs.begin(), jobs.end(), [&](const Job& job) { return reuse(job, task); })) continue;
    // Nothing proves the programs of an offline target.
    Result<Job> unfinished =
        task.offline() ? read_job(task.compiled_file()) : read_proven(task.compiled_file(), task.proven_file());
    if (unfinished) reuse(*unfinished, task);
  }
}

// How many entries of `before` have no entry of the same target, variant name and form in `after`.
std::size_t count_missing(const cache::Contents& before, const cache::Contents& after) {
  const auto key = [](const cache::Contents& contents, const cache::Entry& entry) {
    return std::make_tuple(identity(contents.targets[entry.target]), contents.variants[entry.variant].name, entry.form);
  };
  std::set<std::tuple<std::string, std::string, cache::Form>> present;
  for (const cache::Entry& entry : after.entries) present.insert(key(after, entry));
  return static_cast<std::size_t>(std::count_if(before.entries.begin(), before.entries.end(), [&](const auto& entry) {
    return present.count(key(before, entry)) == 0;
  }));
}

// Things that the author of a program can mend; faults are in the proof's note.
void add_remark(const Task& task, BuildReport& report) {
  const std::string name = "program " + task.report.shown + " on " + task.report.device + ": ";
  const Result<std::vector<std::string>> untried = program::untried_kernels(task.job.variant, task.job.trial);
  if (untried && !untried->empty()) report.remarks.insert(name + "untried: " + program::kernels_text(*untried));
  if (!task.report.remark.empty()) report.remarks.insert(name + task.report.remark);
  const std::string unlisted = program::part_of(task.report.proof.note, program::kUnlisted);
  const std::string uncompared = program::part_of(task.report.proof.note, program::kUncompared);
  if (!uncompared.empty()) report.remarks.insert(name + "untried: " + uncompared + ": the results vary too much");
  if (!unlisted.empty()) report.remarks.insert(name + "not listed, and so not tried: " + unlisted);
  const cache::Proof& proof = task.report.proof;
  if (!proof.proven || proof.jit_free || task.job.entries.front().form != cache::Form::native) return;
  report.remarks.insert(name + proof.note);
}

BuildReport report_on(const Plan& plan) {
  BuildReport report;
  for (const Task& task : plan.tasks) {
    report.jobs.push_back(task.report);
    report.failed += task.failed() ? 1 : 0;
    if (task.failed()) continue;
    const cache::Proof& proof = task.report.proof;
    report.baked += task.report.outcome == JobReport::Outcome::baked ? 1 : 0;
    report.reused += task.report.outcome == JobReport::Outcome::reused ? 1 : 0;
    if (!proof.proven) ++(task.offline() ? report.not_proven : report.not_tried);
    report.not_jit_free += proof.proven && !proof.jit_free ? 1 : 0;
    if (task.job.variant.is_program()) add_remark(task, report);
  }
  report.jobs.insert(report.jobs.end(), plan.unfit.begin(), plan.unfit.end());
  report.failed += plan.unfit.size();
  return report;
}

// Leaves only what another build of the same makes, too: not the times, and of the notes, which tell of them, only
// which kernels are not listed, and what was not tried.
void remove_measurements(cache::Contents& contents) {
  for (cache::Entry& entry : contents.entries) {
    cache::Proof& proof = entry.proof;
    proof.create_us = proof.build_us = proof.kernel_us = proof.first_us = proof.steady_us = 0;
    std::string kept;
    for (const char* const begin : {program::kUnlisted, program::kUncompared, program::kOnlyLoaded}) {
      const std::string rest = program::part_of(proof.note, begin);
      if (!rest.empty()) kept += (kept.empty() ? "" : "; ") + (begin + rest);
    }
    proof.note = kept;
  }
}

// The profile of contents.targets[target]: the bake_list's choice among the variants that were baked, and the defaults.
cache::Profile baked_profile(const cache::Contents& contents, std::uint32_t target, const BakeList& bake_list) {
  std::map<std::string, std::uint32_t> baked;
  for (const cache::Entry& entry : contents.entries) {
    if (entry.target == target) baked.emplace(contents.variants[entry.variant].name, entry.variant);
  }
  cache::Profile profile = bake_list.choice;
  profile.target = target;
  profile::keep_if(profile, [&](const GemmKind&, std::uint32_t v) { return baked.count(bake_list.named[v]) > 0; });
  profile::for_each_variant(profile, [&](std::uint32_t& v) { v = baked[bake_list.named[v]]; });
  profile.defaults = profile::untuned_profile(contents, target, bake_list.type).defaults;
  return profile;
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
  {
    const Result<os::Mapping> present = os::map_file(path);
    if (present && cache::Bytes(present->data, present->data + present->size) == bytes) return {};
    // The same bundle, signed, stays signed.
    const Result<cache::Bytes> without =
        present ? cache::with_signatures({present->data, present->size}, {}) : present.status();
    if (without && *without == bytes) return {};
  }
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

// The bytes of the earlier file where it holds the same; else 0. Its programs need not be compressed again then.
std::size_t bytes_of_same(const std::string& path, const cache::Contents& previous, const cache::Contents& contents) {
  if (previous.entries.size() != contents.entries.size()) return 0;
  const Result<cache::Bytes> before = cache::encode(previous, cache::Packing::plain);
  const Result<cache::Bytes> now = cache::encode(contents, cache::Packing::plain);
  const Result<os::Mapping> file = os::map_file(path);
  if (!before || !now || !file || *before != *now) return 0;
  const bool has_digests = cache::with_signatures({file->data, file->size}, {}).ok();
  return has_digests || !release::digest_function() ? file->size : 0;
}

// The new bundle and the report on it.
Result<BuildReport> pack(const Plan& plan, const BuildOptions& options, const StageContext& context,
                         const std::vector<BakeList>& bake_lists, const PreviousBundle& previous) {
  BuildReport report = report_on(plan);
  cache::Contents contents = contents_of(plan.tasks, bake_lists);
  if (contents.entries.empty()) {
    return {Code::build_failed, "every variant failed; the first: " + report.jobs[0].cause};
  }
  if (!previous.unread.empty()) report.remarks.insert("the earlier file was of no use: " + previous.unread);
  report.dropped = count_missing(previous.contents, contents);
  profile::add_default_targets(contents);
  if (options.reproducible) remove_measurements(contents);
  report.bytes = bytes_of_same(options.output, previous.contents, contents);
  Status written;
  if (report.bytes == 0) {
    const Result<cache::Bytes> bytes = cache::pack(contents, pack_options(context));
    if (!bytes) return bytes.status();
    report.bytes = bytes->size();
    written = write_if_changed(options.output, *bytes);
  }
  if (written && !options.store.empty()) written = write_store(options.store, contents, pack_options(context));
  if (!written) return written;
  return report;
}

// Each once.
std::vector<Target> targets_of(const Plan& plan) {
  std::vector<Target> targets;
  for (const Task& task : plan.tasks) index_in(targets, task.job.target);
  return targets;
}

Result<BuildReport> build_in(const std::string& work_directory, const BuildOptions& options,
                             const std::vector<BakeList>& bake_lists, const std::atomic<bool>& cancel,
                             const std::function<void(const Progress&)>& progress) {
  Plan plan = plan_tasks(options, bake_lists, work_directory);
  if (plan.tasks.empty() && plan.unfit.empty())
    return {Code::invalid_argument, "no variant of the wanted precisions fits any of the devices"};
  const PreviousBundle previous = read_previous(options.output);
  std::vector<Job> finished = jobs_of(previous.contents);
  StoredJobs stored;
  if (!options.store.empty() && !options.fresh) stored = read_store(options.store, targets_of(plan));
  std::move(stored.jobs.begin(), stored.jobs.end(), std::back_inserter(finished));
  if (!options.fresh) reuse_finished(plan.tasks, finished);
  std::size_t count = 0;
  for (const Task& task : plan.tasks) count += !task.pending() ? 0U : task.offline() ? 1U : 2U;
  Steps steps{progress, {0, count, {}, {}}};
  steps.tell({});
  for (const JobReport& job : plan.unfit) steps.tell({}, job.shown + " on " + job.device + ": " + job.cause);
  const StageContext context{options.worker, options.timeout, options.parallel, options.fresh, work_directory, cancel,
                             steps};
  const Status status = bake_tasks(plan.tasks, context);
  if (!status) return status;
  Result<BuildReport> report = pack(plan, options, context, bake_lists, previous);
  for (const std::string& line : stored.unread) {
    if (report) report->remarks.insert("the store was of no use: " + line);
  }
  return report;
}

}  // namespace

Status check_output(const std::string& path) {
  if (path.empty()) return {Code::invalid_argument, "the output has no name"};
  const Status replaceable = os::check_replaceable(path);
  if (!replaceable) return {Code::invalid_argument, replaceable.message()};
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
  Result<WorkDirectory> work = WorkDirectory::open(options.output + ".work");
  if (!work) return work.status();
  Result<BuildReport> report = build_in(work->path(), options, bake_lists, cancel, progress);
  // Kept for the next run when interrupted or when the disk was full; of no use after anything else.
  const Code code = report.status().code();
  if (report || code == Code::build_failed || code == Code::invalid_argument) work->remove();
  return report;
}

}  // namespace clbake::builder::build
