#include <clbake/builder/release/prove_bundle.hpp>
#include <clbake/builder/release/signing.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/cache/pack.hpp>
#include <clbake/cache/writer.hpp>
#include "process/work_directory.hpp"
#include "profile/default_targets.hpp"
#include "profile/kind_choice.hpp"
#include "profile/untuned_profile.hpp"
#include "prove/proof_runner.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace clbake::builder {
namespace {

// True for a device that does not tell its architecture and may be the one meant: the driver, in a process of its own,
// and the proof decide.
bool possible(const Target& made_for, const Target& device) {
  return device.architecture.empty() && made_for.platform_name == device.platform_name &&
         made_for.vendor == device.vendor && made_for.address_bits == device.address_bits;
}

bool loadable(const cache::Entry& entry, const Target& made_for, const Target& device) {
  if (made_for == device || possible(made_for, device)) return true;
  if (entry.form != cache::Form::native) return portable_serves(made_for, device);
  const bool for_this_driver = entry.newer_driver || made_for.driver_version == device.driver_version;
  return for_this_driver && newer_driver_serves(made_for, device);
}

// The best fit comes first, so that the device gets it: programs that were made for exactly this
// device and driver, then those for its architecture, then those for later ones before those for earlier ones.
bool fits_better(const Target& a, const Target& b, const Target& device) {
  const auto key = [&](const Target& made_for) {
    const std::string& text = made_for.architecture;
    return std::make_tuple(made_for == device, text == device.architecture, text.size(), text);
  };
  return key(a) > key(b);
}

// A variant to prove on a device.
struct Task {
  Target made_for;  // in the bundle
  Device device;
  Job job;  // of the device's target
};

// True when the device has a proven program of its own.
bool is_proven(const std::vector<Job>& jobs, const std::string& variant, cache::Form form, const Target& device) {
  for (const Job& job : jobs) {
    if (job.target != device || job.variant.name != variant) continue;
    for (const cache::Entry& entry : job.entries) {
      if (entry.form == form && entry.proof.proven) return true;
    }
  }
  return false;
}

template <typename T>
std::uint32_t index_in(std::vector<T>& list, const T& item) {
  const auto found = std::find(list.begin(), list.end(), item);
  const auto index = static_cast<std::uint32_t>(found - list.begin());
  if (found == list.end()) list.push_back(item);
  return index;
}

// The entry's place in the contents: made when it is not there.
cache::Entry& place_of(cache::Contents& contents, std::uint32_t target, std::uint32_t variant, cache::Form form) {
  for (cache::Entry& entry : contents.entries) {
    if (entry.target == target && entry.variant == variant && entry.form == form) return entry;
  }
  contents.entries.emplace_back();
  cache::Entry& entry = contents.entries.back();
  entry.target = target;
  entry.variant = variant;
  entry.form = form;
  return entry;
}

class Proving {
 public:
  Proving(const ProveOptions& options, const std::atomic<bool>& cancel,
          const std::function<void(const Progress&)>& progress)
      : options_(options), cancel_(cancel), progress_(progress) {}

  // Holds what a build of the same file holds: two that write it would lose what one of them did.
  Result<ProveReport> run();

 private:
  Result<ProveReport> run_alone();
  Status open();
  Status prove(ProofRunner& runner, const Task& task);
  void store(const Task& task, const Job& proven);
  void remove_wrong(const Task& task);
  static void renew_profile(cache::Contents& contents, const Task& task);
  Status write() const;
  std::size_t count_unproven() const {
    return static_cast<std::size_t>(std::count_if(contents_.entries.begin(), contents_.entries.end(),
                                                  [](const cache::Entry& e) { return !e.proof.proven; }));
  }

  const ProveOptions& options_;
  const std::atomic<bool>& cancel_;
  const std::function<void(const Progress&)>& progress_;
  cache::Contents contents_;
  std::vector<Task> tasks_;
  std::vector<const Task*> proven_;
  ProveReport report_;
  std::optional<ScratchDirectory> files_;
  std::string path(const std::string& name) const { return files_->path() + "/" + name; }
};

Status Proving::open() {
  const Result<Bundle> bundle = Bundle::open(options_.file);
  if (!bundle) return bundle.status();
  const Status intact = bundle->verify();
  if (!intact) return intact.within(options_.file);
  Result<cache::Contents> contents = bundle->decode();
  if (!contents) return contents.status().within(options_.file);
  contents_ = std::move(*contents);
  add_default_targets(contents_);  // of a bundle that no build made
  const std::vector<Job> jobs = jobs_of(contents_);
  for (const Device& device : options_.devices) {
    const auto first = static_cast<std::ptrdiff_t>(tasks_.size());
    for (const Job& job : jobs) {
      Task task{job.target, device, {device.target, job.source, job.variant, {}}};
      for (const cache::Entry& entry : job.entries) {
        const bool wanted = options_.again || !is_proven(jobs, job.variant.name, entry.form, device.target);
        if (!wanted || !loadable(entry, job.target, device.target)) continue;
        task.job.entries.push_back(entry);
        task.job.entries.back().proof.note.clear();  // of the last proof
      }
      if (!task.job.entries.empty()) tasks_.push_back(std::move(task));
    }
    std::stable_sort(tasks_.begin() + first, tasks_.end(),
                     [&](const Task& a, const Task& b) { return fits_better(a.made_for, b.made_for, device.target); });
  }
  const std::size_t unproven = count_unproven();
  if (!tasks_.empty() || unproven == 0) return {};
  return {Code::no_entry, options_.file + ": " + std::to_string(unproven) +
                              " entries are not proven, and no device of this machine can load one of them"};
}

Status Proving::prove(ProofRunner& runner, const Task& task) {
  const Status written = write_job(path("compiled"), task.job);
  if (!written) return written;
  Result<ProofOutcome> outcome = runner.prove(task.job, path("compiled"), path("proven"), path("prove.log"));
  if (!outcome) return outcome.status();
  JobReport job;
  job.device = task.device.target.device_name;
  job.variant = task.job.variant.name;
  job.cause = outcome->cause;
  if (outcome->cause.empty()) {
    job.outcome = JobReport::Outcome::baked;
    job.proof = outcome->job.entries.front().proof;
    store(task, outcome->job);
    ++report_.proven;
    report_.not_jit_free += job.proof.jit_free ? 0 : 1;
  } else {
    job.outcome = JobReport::Outcome::failed;
    ++report_.failed;
    if (outcome->wrong) remove_wrong(task);
  }
  report_.jobs.push_back(std::move(job));
  return {};
}

void Proving::store(const Task& task, const Job& proven) {
  const auto variant =
      static_cast<std::uint32_t>(std::find_if(contents_.variants.begin(), contents_.variants.end(),
                                              [&](const cache::Variant& v) { return v.name == proven.variant.name; }) -
                                 contents_.variants.begin());
  proven_.push_back(&task);
  for (const Target& target : {task.made_for, task.device.target}) {
    const std::uint32_t t = index_in(contents_.targets, target);
    for (const cache::Entry& entry : proven.entries) {
      cache::Entry& place = place_of(contents_, t, variant, entry.form);
      // A program that was made for the device itself, or fits it better, stays.
      if (target != task.made_for && place.proof.proven && place.program != entry.program) continue;
      place.proof = entry.proof;
      place.program = entry.program;
      place.newer_driver = entry.newer_driver;
    }
  }
}

// Programs that compute something else must not be served again; the source is still there.
void Proving::remove_wrong(const Task& task) {
  const auto is_wrong = [&](const cache::Entry& entry) {
    const bool form = std::any_of(task.job.entries.begin(), task.job.entries.end(),
                                  [&](const cache::Entry& tried) { return tried.form == entry.form; });
    return form && contents_.targets[entry.target] == task.made_for &&
           contents_.variants[entry.variant].name == task.job.variant.name;
  };
  auto& all = contents_.entries;
  all.erase(std::remove_if(all.begin(), all.end(), is_wrong), all.end());
  ++report_.taken_out;
}

// The profile in which the choice for a kind of problem was measured: the device's own profile, or the one of the
// target that was proven when the device's comes from there, by an earlier proof, or has nothing measured.
const cache::Profile& measured_profile(const cache::Profile& own, const cache::Profile& proven, const GemmKind& kind) {
  const std::set<std::uint32_t> there = measured_variants(proven, kind);
  if (there.empty()) return own;
  const std::set<std::uint32_t> here = measured_variants(own, kind);
  return std::includes(there.begin(), there.end(), here.begin(), here.end()) ? proven : own;
}

// The device's profile: what it has entries for, first as it was tuned. For a kind of problem that it has none for, the
// choice stays what it was before the proof: that of its own profile, or of the one of the target that was proven.
void Proving::renew_profile(cache::Contents& contents, const Task& task) {
  const auto profile_of = [&](const Target& target) {
    const std::uint32_t t = index_in(contents.targets, target);
    const auto found = std::find_if(contents.profiles.begin(), contents.profiles.end(),
                                    [&](const cache::Profile& profile) { return profile.target == t; });
    return found == contents.profiles.end() ? cache::Profile{t, 1, {}, {}, {}} : *found;
  };
  const cache::Profile own = profile_of(task.device.target);
  const cache::Profile proven = profile_of(task.made_for);
  std::set<std::uint32_t> baked;
  for (const cache::Entry& entry : contents.entries) {
    if (entry.target == own.target) baked.insert(entry.variant);
  }
  const cache::Profile untuned = untuned_profile(contents, own.target, task.device.type);
  cache::Profile renewed{own.target, own.models.empty() ? proven.units : own.units, {}, {}, {}};
  for (const GemmKind& kind : kinds_of(untuned)) add_kind(measured_profile(own, proven, kind), kind, renewed);
  keep_if(renewed, [&](const GemmKind&, std::uint32_t variant) { return baked.count(variant) > 0; });
  renewed.defaults = untuned.defaults;
  for (const cache::Profile* other : {&own, &proven}) {
    const std::set<GemmKind> known = kinds_of(renewed);
    for (const GemmKind& kind : kinds_of(*other)) {
      if (known.count(kind) == 0) add_kind(*other, kind, renewed);
    }
  }
  const auto is_own = [&](const cache::Profile& profile) { return profile.target == own.target; };
  auto& all = contents.profiles;
  all.erase(std::remove_if(all.begin(), all.end(), is_own), all.end());
  if (!kinds_of(renewed).empty()) all.push_back(std::move(renewed));  // there are bundles without GEMM
}

Status Proving::write() const {
  cache::Contents contents = contents_;
  for (const Task* task : proven_) renew_profile(contents, *task);
  const Result<cache::Bytes> bytes = cache::pack(contents, {0, nullptr, {}, release::digest_function()});
  if (!bytes) return bytes.status();
  return cache::write_file(options_.file, {bytes->data(), bytes->size()});
}

Result<ProveReport> Proving::run() {
  const Result<WorkDirectory> lock = WorkDirectory::open(options_.file + ".work");
  if (!lock) return lock.status();
  Result<ProveReport> report = run_alone();
  lock->remove_if_empty();  // else an unfinished build needs it
  return report;
}

Result<ProveReport> Proving::run_alone() {
  Status status = open();
  if (!status) return status;
  Result<ScratchDirectory> files = ScratchDirectory::create();
  if (!files) return files.status();
  files_.emplace(std::move(*files));
  ProofRunner runner(options_.worker, options_.timeout, cancel_, files_->path(), true);
  Progress state;
  state.steps = tasks_.size();
  if (progress_) progress_(state);
  for (const Task& task : tasks_) {
    status = prove(runner, task);
    if (!status) break;
    const JobReport& last = report_.jobs.back();
    const bool failed = last.outcome == JobReport::Outcome::failed;
    ++state.steps_done;
    state.last = (failed ? "failed " : "proved ") + last.variant;
    state.failure = failed ? last.variant + ": " + last.cause : std::string();
    if (progress_) progress_(state);
  }
  const Status written = report_.proven + report_.taken_out > 0 ? write() : Status();
  if (!written || !status) return written ? status : written;
  report_.left = count_unproven();
  return std::move(report_);
}

}  // namespace

Result<ProveReport> prove_bundle(const ProveOptions& options, const std::atomic<bool>& cancel,
                                 const std::function<void(const Progress&)>& progress) {
  return Proving(options, cancel, progress).run();
}

}  // namespace clbake::builder
