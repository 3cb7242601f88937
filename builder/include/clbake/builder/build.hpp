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
#include <vector>

namespace clbake::builder::build {

struct BakeList;

struct BuildOptions {
  std::vector<Device> devices;
  std::vector<compile::OfflineTarget> targets;  // devices that are not here; none of them may have an obstacle
  std::vector<Precision> precisions;            // of what is baked; empty with profiles: those that were tuned
  std::vector<kernels::Params> variants;        // exactly these, instead of a profile's
  std::vector<profile::NamedTuning> profiles;  // instead of the shipped ones, each for the devices that it was made for
  bool foreign_profiles = false;               // for other devices, too
  bool untuned = false;                        // the default variants instead of a shipped profile
  std::vector<program::Program> programs;      // the application's own, for every device and target
  bool gemm = true;                            // false: no variants of GEMM, `programs` alone
  std::string output;
  // Executable whose `worker compile JOB OUT`, `worker prove JOB OVERHEAD OUT` and, for targets,
  // `worker compile-offline JOB OUT` do the compiler's and the driver's part.
  std::string worker;
  std::chrono::seconds timeout{180};  // for one child
  unsigned parallel = 0;              // compilations at a time; 0 = one for each core
  bool fresh = false;                 // do not take entries over from an earlier or interrupted build
  bool replace = false;               // keep nothing of an earlier bundle at `output` that is not asked for
  bool reproducible = false;          // no measured times and notes in the proofs, so that two builds can be equal
};

// How one variant, or one program of the application's, on one device ended.
struct JobReport {
  std::string device;  // or the offline target
  std::string variant;
  enum class Outcome { pending, baked, reused, failed } outcome = Outcome::pending;
  std::string cause;   // of a failure
  cache::Proof proof;  // of the native entry, if there is one
};

// Called after every step, on the calling thread.
struct Progress {
  std::size_t steps_done = 0;  // a compilation or a proof is a step
  std::size_t steps = 0;
  std::string last;     // what was just done
  std::string failure;  // a variant that failed just now and why; empty otherwise
};

// Which profile a device got: a sentence for a person, as of BakeList::profile.
struct ProfileReport {
  std::string device;  // or the offline target
  std::string profile;
};

struct BuildReport {
  std::vector<JobReport> jobs;
  std::vector<ProfileReport> profiles;  // none for named variants
  std::size_t baked = 0;
  std::size_t reused = 0;
  std::size_t failed = 0;
  std::size_t not_jit_free = 0;   // variants that were proven
  std::size_t not_proven = 0;     // variants of offline targets that no device has proven
  std::size_t kept = 0;           // entries of the earlier bundle for other targets, precisions or transposes
  std::size_t dropped = 0;        // entries of the earlier bundle that are not in the new one
  std::size_t bytes = 0;          // of the bundle
  std::set<std::string> remarks;  // what users have to know of a platform
};

// Steps: what an earlier bundle at `output` or an interrupted build's directory `output`.work already proves is taken
// over (same target, source, options, tool version); the rest is compiled in parallel, then proven one at a time.
// The bundle is written when all jobs are done, if at least one succeeded: `output` is replaced in one step. For each
// device and each precision and pair of transposes of which a variant was baked it then holds what was asked for; what
// an earlier bundle there holds for others stays, unless options.replace, and is lost only with a bundle that cannot be
// read, which a remark says. A worker whose disk is full ends the build, which the next one continues.
// On cancellation everything done so far stays in `output`.work, which the next build takes up and removes at the end.
// A winner of `profiles` that breaks a constraint of its device is a variant that failed; so is a program with a
// work-group size beyond the device, or with files that could not be read. Programs are one more kind of entries: where
// one was baked, an earlier bundle's for that device that are not asked for go.
// Fails with invalid_argument (nothing to build; like bake_lists_for; the output is a file that is no bundle), io
// (output not writable), cancelled, build_failed (every job failed).
Result<BuildReport> build(const BuildOptions& options, const std::atomic<bool>& cancel,
                          const std::function<void(const Progress&)>& progress);

// The same with the result of bake_lists_for(options).
Result<BuildReport> build(const BuildOptions& options, const std::vector<BakeList>& bake_lists,
                          const std::atomic<bool>& cancel, const std::function<void(const Progress&)>& progress);

// Checks that a bundle may be written there: a file that exists must be a bundle, so that a typo replaces no other
// file. Fails with invalid_argument.
Status check_output(const std::string& path);

}  // namespace clbake::builder::build
