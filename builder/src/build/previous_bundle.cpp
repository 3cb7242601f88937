#include "build/previous_bundle.hpp"

#include <clbake/builder/merge_bundles.hpp>
#include <clbake/builder/programs.hpp>
#include "compile/entries_for_bundle.hpp"
#include "profile/default_targets.hpp"
#include "profile/kind_choice.hpp"
#include "prove/proofs.hpp"
#include "release/keep_used.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace clbake::builder::build {
using namespace prove;
namespace {

Result<cache::Contents> read_contents(const std::string& path) {
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status();
  Result<cache::Contents> contents = bundle->decode();
  return contents ? std::move(contents) : contents.status().within(path);
}

// True when the job needs no second baking. Another version of clbake, or another offline compiler, may make something
// else; a driver is part of the target.
bool is_finished(const Job& job, const Task& task) {
  const auto made_here = [](const cache::Entry& entry) {
    return !entry.proof.tools.empty() && entry.proof.tools.front() == compile::this_clbake();
  };
  if (job.entries.empty() || !std::all_of(job.entries.begin(), job.entries.end(), made_here)) return false;
  if (!same_work(job, task.job)) return false;
  if (!task.offline()) return all_proven(job) && !noise_possible(job);
  const std::vector<cache::Tool>& tools = job.entries.front().proof.tools;  // the native one's
  return std::equal(tools.begin() + 1, tools.end(), task.tools.begin(), task.tools.end());
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

}  // namespace

PreviousBundle read_previous(const std::string& path) {
  Result<cache::Contents> contents = read_contents(path);
  if (contents) return {std::move(*contents), {}};
  if (contents.status().code() == Code::not_found) return {};
  return {{}, contents.status().message()};
}

void reuse_finished(std::vector<Task>& tasks, const PreviousBundle& previous) {
  const std::vector<Job> jobs = jobs_of(previous.contents);
  for (Task& task : tasks) {
    const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const Job& job) { return is_finished(job, task); });
    if (found != jobs.end()) {
      task.accept(found->entries, JobReport::Outcome::reused);
      continue;
    }
    // Nothing proves the programs of an offline target.
    Result<Job> unfinished =
        task.offline() ? read_job(task.compiled_file()) : read_proven(task.compiled_file(), task.proven_file());
    if (unfinished && is_finished(*unfinished, task)) {
      task.accept(std::move(unfinished->entries), JobReport::Outcome::reused);
    }
  }
}

cache::Contents select_kinds(const cache::Contents& from,
                             const std::function<bool(const cache::Target&, const cache::Variant&)>& wanted,
                             bool programs) {
  cache::Contents kept{from.targets, from.sources, from.variants, {}, {}};
  for (const cache::Entry& entry : from.entries) {
    if (wanted(from.targets[entry.target], from.variants[entry.variant])) kept.entries.push_back(entry);
  }
  for (const cache::Profile& profile : from.profiles) {
    kept.profiles.push_back(profile);
    profile::keep_if(kept.profiles.back(), [&](const GemmKind&, std::uint32_t v) {
      return wanted(from.targets[profile.target], from.variants[v]);
    });
  }
  release::keep_used(kept, programs);
  return kept;
}

void carry_over(const PreviousBundle& previous, const std::vector<Task>& tasks, const BuildOptions& options,
                cache::Contents& contents, BuildReport& report) {
  if (!previous.unread.empty()) report.remarks.insert("nothing was kept of the previous file: " + previous.unread);
  if (!options.replace) {
    // The name of a variant of GEMM says what it is. An application's program is another one when its source changes: a
    // failed one is not replaced by an earlier one.
    const bool new_programs = !options.programs.empty();
    const auto is_own = [](const cache::Variant& variant) { return variant.name.rfind(program::kOwnPrefix, 0) == 0; };
    const auto wanted = [&](const Target& target, const cache::Variant& variant) {
      if (profile::is_default_target(target)) return false;
      return std::none_of(tasks.begin(), tasks.end(), [&](const Task& task) {
        if (task.job.target != target) return false;
        if (variant.is_program() && !is_own(variant)) return new_programs;
        if (variant.is_program()) return task.job.variant.name == variant.name;
        return !task.failed() && task.job.variant.kind() == variant.kind();
      });
    };
    const cache::Contents carried = select_kinds(previous.contents, wanted, !new_programs);
    const std::size_t own = contents.entries.size();
    MergedBundle merged = merge_bundles({{"the new variants", std::move(contents)}, {options.output, carried}});
    contents = std::move(merged.contents);
    report.kept = contents.entries.size() - own;
    report.remarks.insert(merged.left_out.begin(), merged.left_out.end());
  }
  report.dropped = count_missing(previous.contents, contents);
  profile::add_default_targets(contents);
}

}  // namespace clbake::builder::build
