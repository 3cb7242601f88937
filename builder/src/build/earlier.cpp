#include "build/earlier.hpp"

#include <clbake/builder/merge_bundles.hpp>
#include "build/keep.hpp"
#include "compile/finalize.hpp"
#include "profile/default_targets.hpp"
#include "prove/proof_runner.hpp"

#include <algorithm>

namespace clbake::builder {
namespace {

Result<cache::Contents> read_contents(const std::string& path) {
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status();
  Result<cache::Contents> contents = bundle->decode();
  return contents ? std::move(contents) : contents.status().within(path);
}

// Whether the job needs no second baking. Another version of clbake, or another offline compiler, may make something
// else; a driver is part of the target.
bool is_finished(const Job& job, const Task& task) {
  if (!same_work(job, task.job) || job.entries.empty()) return false;
  const std::vector<cache::Tool>& made_with = job.entries.front().proof.tools;  // the native one's
  if (made_with.empty() || !(made_with.front() == this_clbake())) return false;
  if (task.offline()) return std::equal(made_with.begin() + 1, made_with.end(), task.tools.begin(), task.tools.end());
  return all_proven(job) && !noise_possible(job);
}

}  // namespace

EarlierBundle read_earlier(const std::string& path) {
  Result<cache::Contents> contents = read_contents(path);
  if (contents) return {std::move(*contents), {}};
  if (contents.status().code() == Code::not_found) return {};
  return {{}, contents.status().message()};
}

void take_over(std::vector<Task>& tasks, const EarlierBundle& earlier) {
  const std::vector<Job> jobs = jobs_of(earlier.contents);
  for (Task& task : tasks) {
    const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const Job& job) { return is_finished(job, task); });
    if (found != jobs.end()) {
      task.accept(found->entries, JobReport::Outcome::reused);
      continue;
    }
    Result<Job> unfinished = read_job(task.finished_file());
    if (unfinished && is_finished(*unfinished, task)) {
      task.accept(std::move(unfinished->entries), JobReport::Outcome::reused);
    }
  }
}

void keep_others(const EarlierBundle& earlier, const std::vector<Task>& tasks, const std::string& path, bool replace,
                 cache::Contents& contents, BuildReport& report) {
  if (!earlier.unread.empty()) report.remarks.insert("nothing was kept of the earlier file: " + earlier.unread);
  if (!replace) {
    const cache::Contents others = select_kinds(earlier.contents, [&](const Target& target, const GemmKind& kind) {
      return !is_default_target(target) && std::none_of(tasks.begin(), tasks.end(), [&](const Task& task) {
        return !task.failed() && task.job.target == target && task.job.variant.kind() == kind;
      });
    });
    const std::size_t own = contents.entries.size();
    MergedBundle merged = merge_bundles({{"the new variants", std::move(contents)}, {path, others}});
    contents = std::move(merged.contents);
    report.kept = contents.entries.size() - own;
    report.remarks.insert(merged.left_out.begin(), merged.left_out.end());
  }
  report.dropped = count_missing(earlier.contents, contents);
  add_default_targets(contents);
}

}  // namespace clbake::builder
