// Bakes a bundle: the tuned, the default or the wanted variants of every device, compiled, finalized, proven and
// packed.
#pragma once

#include <clbake/builder/offline_targets.hpp>
#include <clbake/builder/programs.hpp>
#include <clbake/builder/tuning_file.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace clbake::builder::build {

struct BuildOptions {
  std::vector<Device> devices;
  std::vector<compile::OfflineTarget> targets;  // devices that are not here; none of them may have an obstacle
  std::vector<Precision> precisions;            // of what is baked; empty with profiles: those that were tuned
  std::vector<kernels::Params> variants;        // exactly these, instead of a profile's
  std::vector<profile::NamedTuning> profiles;  // instead of the shipped ones, each for the devices that it was made for
  bool foreign_profiles = false;               // for other devices, too
  bool group = false;                          // variants for groups, too, of all that is baked
  bool untuned = false;                        // the default variants instead of a shipped profile
  std::vector<program::Program> programs;      // the application's own, for every device and target
  bool gemm = true;                            // false: no variants of GEMM, `programs` alone
  std::string output;
  std::string store;  // a directory of slices that is read and written as well; empty: none
  // Executable whose `worker compile JOB OUT`, `worker prove JOB OVERHEAD CONTROL OUT`, `worker control JOB OUT` and,
  // for targets, `worker compile-offline JOB OUT` do the compiler's and the driver's part; `worker serve` takes such
  // commands (process.hpp).
  std::string worker;
  std::chrono::seconds timeout{180};  // for one child
  unsigned parallel = 0;              // children at a time; 0 = one for each core
  bool fresh = false;                 // do not take entries over from an earlier or interrupted build
  bool reproducible = false;          // no measured times and notes in the proofs, so that two builds can be equal
};

// The variants that are baked for a device, and which problem uses which: the winners of a profile and what backs them
// up, or the default variants.
struct BakeList {
  std::string device;  // its name, or the offline target's
  kernels::DeviceType type = kernels::DeviceType::cpu;
  std::vector<kernels::Params> variants;
  // The requested profile's winners that the device cannot run, by name, each with the constraint that it breaks.
  std::vector<std::pair<std::string, std::string>> unfit;
  // The profile's rules and models. Variants are indices into `named`; there are no defaults and no target.
  cache::Profile choice;
  std::vector<std::string> named;
  // For a person: "a.json (tuned on ...)", "shipped nvidia (tuned on ...)", "shipped amd (not tuned: ...)"; empty when
  // variants were named.
  std::string profile;
  std::vector<std::string> remarks;  // on kinds of problems that the profile lacks
};

// True when a profile's target is the device, whatever its driver: platform, vendor and device name agree; or, for a
// device without a name (an offline target), platform, vendor and architecture.
bool made_for(const Target& tuned, const Target& device);

// Those of options.devices, then those of options.targets.
//
// Without options.gemm the lists are empty. Named variants are taken as they are. Otherwise for each precision and pair
// of transposes that a profile has: the variants that its exceptions and cost models name, and the default ones; for
// those it has not, but that options.precisions want: the default variants. Without options.profiles the shipped
// profile of the device's class counts, and winners that the device cannot run are left out without a word.
//
// Fails with invalid_argument: a named variant that breaks a constraint of a device; a profile that was made for none
// of the devices or a device that none was made for, unless options.foreign_profiles; two profiles of one device;
// a profile without a winner of the wanted precisions.
Result<std::vector<BakeList>> bake_lists_for(
    const BuildOptions& options, const std::vector<profile::NamedTuning>& shipped = profile::shipped_profiles());

// How one variant, or one program of the application's, on one device ended.
struct JobReport {
  std::string device;  // or the offline target
  std::string variant;
  std::string shown;  // its name as messages show it
  enum class Outcome { pending, baked, reused, failed } outcome = Outcome::pending;
  std::string cause;   // of a failure
  cache::Proof proof;  // of the native entry, if there is one
  std::string remark;  // for the user; empty: none
};

// Called after every step, on the calling thread.
struct Progress {
  std::size_t steps_done = 0;  // a compilation or a proof is a step
  std::size_t steps = 0;
  std::string last;     // what was just done
  std::string failure;  // a variant that failed just now and why; empty otherwise
};

struct BuildReport {
  std::vector<JobReport> jobs;
  std::size_t baked = 0;
  std::size_t reused = 0;
  std::size_t failed = 0;
  std::size_t not_jit_free = 0;   // variants that were proven
  std::size_t not_proven = 0;     // variants of offline targets, which no device has proven
  std::size_t not_tried = 0;      // programs that were loaded on their device, but never launched
  std::size_t dropped = 0;        // entries of the earlier bundle that are not in the new one
  std::size_t bytes = 0;          // of the bundle
  std::set<std::string> remarks;  // what users have to know of a platform
};

// `bake_lists` is what bake_lists_for(options) says. Steps: what an earlier bundle at `output` or an interrupted
// build's directory `output`.work, or the store, already proves is taken over (same target, source, options, tool
// version); the rest is compiled and proven (bake_tasks in src/build/tasks.hpp). The bundle is written when all jobs
// are done, if at least one succeeded: `output` is replaced in one step and then holds what was asked for, alone. A
// worker whose disk is full ends the build, which the next one continues. On cancellation everything done so far stays
// in `output`.work, which the next build takes up and removes at the end. A winner of `profiles` that breaks a
// constraint of its device is a variant that failed; so is a program with a work-group size beyond the device, or with
// files that could not be read. Fails with invalid_argument (nothing to build; like bake_lists_for; the output is a
// file that is no bundle), io (output not writable), cancelled, build_failed (every job failed).
Result<BuildReport> build(const BuildOptions& options, const std::vector<BakeList>& bake_lists,
                          const std::atomic<bool>& cancel, const std::function<void(const Progress&)>& progress);

// ---- Proofs of a bundle that was baked where its devices were not

struct ProveOptions {
  std::string file;
  std::vector<Device> devices;  // the entries that one of these can load are proven on it
  std::string worker;           // as in BuildOptions
  std::chrono::seconds timeout{180};
  bool again = false;  // prove what is proven for the device already, too
};

struct ProveReport {
  std::vector<JobReport> jobs;  // one for each variant and device
  std::size_t proven = 0;
  std::size_t failed = 0;
  std::size_t taken_out = 0;     // of those failed: they computed something else and are no longer in the bundle
  std::size_t not_jit_free = 0;  // of those proven
  std::size_t left = 0;          // entries of the bundle that are still not proven
};

// Proves the variants as `build` does and writes the results into the file, which is replaced in one
// step. A program that was made for any device of an architecture is then an entry of exactly the device and driver
// that it was proven on as well, so that a runtime serves it without being told to. What computes something wrong is
// taken out, so that it is not served; what fails otherwise stays in the bundle, unproven. On cancellation what was
// proven so far is written. Fails like Bundle::open, or with no_entry when there is nothing to prove for the devices,
// io or cancelled.
Result<ProveReport> prove_bundle(const ProveOptions& options, const std::atomic<bool>& cancel,
                                 const std::function<void(const Progress&)>& progress);

// Checks that a bundle may be written there: a file that exists must be a bundle, so that a typo replaces no other
// file. Fails with invalid_argument.
Status check_output(const std::string& path);

}  // namespace clbake::builder::build
