// Proofs that entries compute what they should and leave nothing to compile, of a bundle that was baked where their
// devices were not.
#pragma once

#include <clbake/builder/build.hpp>

namespace clbake::builder::build {

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

// Proves variant after variant in processes of their own and writes the results into the file, which is replaced in one
// step. A program that was made for any device of an architecture is then an entry of exactly the device and driver
// that it was proven on as well, so that a runtime serves it without being told to. What computes something wrong is
// taken out, so that it is not served; what fails otherwise stays in the bundle, unproven. On cancellation what was
// proven so far is written. Fails like Bundle::open, or with no_entry when there is nothing to prove for the devices,
// io or cancelled.
Result<ProveReport> prove_bundle(const ProveOptions& options, const std::atomic<bool>& cancel,
                                 const std::function<void(const Progress&)>& progress);

}  // namespace clbake::builder::build
