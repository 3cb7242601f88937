#include <clbake/builder/build.hpp>
#include <clbake/builder/merge_bundles.hpp>
#include <clbake/builder/release/signing.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/cache/pack.hpp>
#include <clbake/cache/writer.hpp>
#include "build/tasks.hpp"
#include "profile/kind_choice.hpp"
#include "profile/untuned_profile.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace clbake::builder::build {
using namespace process;
namespace {

// True for a device that does not tell its architecture and may be the one meant: the driver, in a process of its own,
// and the proof decide.
bool possible(const Target& made_for, const Target& device) {
  return device.architecture.empty() && made_for.platform_name == device.platform_name &&
         made_for.vendor == device.vendor && made_for.address_bits == device.address_bits &&
         missing_feature(made_for, device).empty();
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
struct Candidate {
  Target made_for;  // in the bundle
  const Device* device;
  Job job;  // of the device's target; its task's, as soon as there is one
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

std::size_t count_unproven(const cache::Contents& contents) {
  return static_cast<std::size_t>(std::count_if(contents.entries.begin(), contents.entries.end(),
                                                [](const cache::Entry& entry) { return !entry.proof.proven; }));
}

// Leaves of a note what the compiler of the program said: which kernels are not listed.
void forget_proof(std::string& note) {
  const std::string unlisted = program::part_of(note, program::kUnlisted);
  note = unlisted.empty() ? std::string() : program::kUnlisted + unlisted;
}

std::vector<Candidate> candidates_for(const cache::Contents& contents, const ProveOptions& options) {
  const std::vector<Job> jobs = jobs_of(contents);
  std::vector<Candidate> all;
  for (const Device& device : options.devices) {
    const auto first = static_cast<std::ptrdiff_t>(all.size());
    for (const Job& job : jobs) {
      Job wanted{device.target, job.source, job.variant, {}, job.trial};
      for (const cache::Entry& entry : job.entries) {
        if (!options.again && is_proven(jobs, job.variant.name, entry.form, device.target)) continue;
        if (!loadable(entry, job.target, device.target)) continue;
        wanted.entries.push_back(entry);
        forget_proof(wanted.entries.back().proof.note);
      }
      if (!wanted.entries.empty()) all.push_back({job.target, &device, std::move(wanted)});
    }
    std::stable_sort(all.begin() + first, all.end(), [&](const Candidate& a, const Candidate& b) {
      return fits_better(a.made_for, b.made_for, device.target);
    });
  }
  return all;
}

void store(const Candidate& candidate, const Job& proven, cache::Contents& contents) {
  const auto has_name = [&](const cache::Variant& v) { return v.name == proven.variant.name; };
  const auto variant = static_cast<std::uint32_t>(
      std::find_if(contents.variants.begin(), contents.variants.end(), has_name) - contents.variants.begin());
  for (const Target& target : {candidate.made_for, candidate.device->target}) {
    const std::uint32_t t = index_in(contents.targets, target);
    for (const cache::Entry& entry : proven.entries) {
      cache::Entry& place = place_of(contents, t, variant, entry.form);
      // A program that was made for the device itself, or fits it better, stays.
      if (target != candidate.made_for && place.proof.proven && place.program != entry.program) continue;
      place.proof = entry.proof;
      place.program = entry.program;
      place.newer_driver = entry.newer_driver;
    }
  }
}

// Programs that compute something else must not be served again; the source is still there.
void remove_wrong(const Candidate& candidate, const Job& job, cache::Contents& contents) {
  const std::vector<cache::Entry>& tried = job.entries;
  const auto is_wrong = [&](const cache::Entry& entry) {
    return contents.targets[entry.target] == candidate.made_for &&
           contents.variants[entry.variant].name == job.variant.name &&
           std::any_of(tried.begin(), tried.end(), [&](const cache::Entry& t) { return t.form == entry.form; });
  };
  auto& all = contents.entries;
  all.erase(std::remove_if(all.begin(), all.end(), is_wrong), all.end());
}

// The profile in which the choice for a kind of problem was measured: the device's own profile, or the one of the
// target that was proven when the device's comes from there, by an earlier proof, or has nothing measured.
const cache::Profile& measured_profile(const cache::Profile& own, const cache::Profile& proven, const GemmKind& kind) {
  const std::set<std::uint32_t> there = profile::measured_variants(proven, kind);
  if (there.empty()) return own;
  const std::set<std::uint32_t> here = profile::measured_variants(own, kind);
  return std::includes(there.begin(), there.end(), here.begin(), here.end()) ? proven : own;
}

// The device's profile: what it has entries for, first as it was tuned. For a kind of problem that it has none for, the
// choice stays what it was before the proof: that of its own profile, or of the one of the target that was proven.
void renew_profile(cache::Contents& contents, const Candidate& candidate) {
  const auto profile_of = [&](const Target& target) {
    const std::uint32_t t = index_in(contents.targets, target);
    const auto found = std::find_if(contents.profiles.begin(), contents.profiles.end(),
                                    [&](const cache::Profile& profile) { return profile.target == t; });
    return found == contents.profiles.end() ? cache::Profile{t, 1, {}, {}, {}} : *found;
  };
  const cache::Profile own = profile_of(candidate.device->target);
  const cache::Profile proven = profile_of(candidate.made_for);
  std::set<std::uint32_t> baked;
  for (const cache::Entry& entry : contents.entries) {
    if (entry.target == own.target) baked.insert(entry.variant);
  }
  const cache::Profile untuned = profile::untuned_profile(contents, own.target, candidate.device->type);
  cache::Profile renewed{own.target, own.models.empty() ? proven.units : own.units, {}, {}, {}};
  for (const GemmKind& kind : profile::kinds_of(untuned))
    profile::add_kind(measured_profile(own, proven, kind), kind, renewed);
  profile::keep_if(renewed, [&](const GemmKind&, std::uint32_t variant) { return baked.count(variant) > 0; });
  renewed.defaults = untuned.defaults;
  for (const cache::Profile* other : {&own, &proven}) {
    const std::set<GemmKind> known = profile::kinds_of(renewed);
    for (const GemmKind& kind : profile::kinds_of(*other)) {
      if (known.count(kind) == 0) profile::add_kind(*other, kind, renewed);
    }
  }
  const auto is_own = [&](const cache::Profile& profile) { return profile.target == own.target; };
  auto& all = contents.profiles;
  all.erase(std::remove_if(all.begin(), all.end(), is_own), all.end());
  if (!profile::kinds_of(renewed).empty()) all.push_back(std::move(renewed));  // there are bundles without GEMM
}

Result<ProveReport> prove_locked(const ProveOptions& options, const std::atomic<bool>& cancel,
                                 const std::function<void(const Progress&)>& progress) {
  Result<NamedBundle> bundle = read_bundle(options.file);
  if (!bundle) return bundle.status();
  cache::Contents* const contents = &bundle->contents;
  profile::add_default_targets(*contents);  // of a bundle that no build made
  std::vector<Candidate> candidates = candidates_for(*contents, options);
  if (const std::size_t unproven = count_unproven(*contents); candidates.empty() && unproven > 0) {
    return {Code::no_entry, options.file + ": " + std::to_string(unproven) +
                                " entries are not proven, and no device of this machine can load one of them"};
  }
  const Result<ScratchDirectory> files = ScratchDirectory::create();
  if (!files) return files.status();
  std::vector<Task> tasks(candidates.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].job = std::move(candidates[i].job);
    tasks[i].report.device = candidates[i].device->target.device_name;
    tasks[i].report.variant = tasks[i].job.variant.name;
    tasks[i].report.shown = program::shown_name(tasks[i].job.variant);
    tasks[i].stem = files->path() + "/" + std::to_string(i);
  }
  Steps steps{progress, {0, tasks.size(), {}, {}}};
  steps.tell({});
  const Status status = bake_tasks(tasks, {options.worker, options.timeout, 0, true, files->path(), cancel, steps});
  ProveReport report;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].pending()) continue;
    report.jobs.push_back(tasks[i].report);
    if (tasks[i].failed()) {
      ++report.failed;
      if (!tasks[i].wrong) continue;
      ++report.taken_out;
      remove_wrong(candidates[i], tasks[i].job, *contents);
    } else {
      const cache::Proof& proof = tasks[i].report.proof;
      report.proven += proof.proven ? 1 : 0;
      report.not_jit_free += proof.proven && !proof.jit_free ? 1 : 0;
      store(candidates[i], tasks[i].job, *contents);
    }
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!tasks[i].pending() && !tasks[i].failed()) renew_profile(*contents, candidates[i]);
  }
  report.left = count_unproven(*contents);
  if (report.proven + report.taken_out > 0) {
    const Result<cache::Bytes> bytes = cache::pack(*contents, {0, nullptr, {}, release::digest_function()});
    const Status written = bytes ? cache::write_file(options.file, {bytes->data(), bytes->size()}) : bytes.status();
    if (!written) return written;
  }
  if (!status) return status;
  return report;
}

}  // namespace

// Holds what a build of the same file holds: two that write it would lose what one of them did.
Result<ProveReport> prove_bundle(const ProveOptions& options, const std::atomic<bool>& cancel,
                                 const std::function<void(const Progress&)>& progress) {
  Result<WorkDirectory> lock = WorkDirectory::open(options.file + ".work");
  if (!lock) return lock.status();
  Result<ProveReport> report = prove_locked(options, cancel, progress);
  lock->remove_if_empty();  // else an unfinished build needs it
  return report;
}

}  // namespace clbake::builder::build
