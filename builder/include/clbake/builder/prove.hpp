// Proof that an entry computes GEMM and leaves nothing to compile.
#pragma once

#include <clbake/builder/devices.hpp>

namespace clbake::builder {

// An entry is JIT-free when loading it and its first launches, of a small and of large grids, keep these limits. The
// cheapest compilation seen on any driver is longer than all that they leave room for.
inline constexpr double kCheapestCompilationUs = 20000;
inline constexpr double kLoadLimitUs = kCheapestCompilationUs;  // PoCL needs about 5,000 us, most of it to write files
// A first launch may take kFirstLaunchRatio times the steady one, but no more than kFirstLaunchSlackUs above it ...
inline constexpr double kFirstLaunchRatio = 1.5;
inline constexpr double kFirstLaunchSlackUs = 10000;
// ... plus the first launch of a kernel that does nothing, within these limits. A kernel of 30 KB touches more new
// pages than that one, 500 us of them on a virtual machine.
inline constexpr double kOverheadLeastUs = 2000;
inline constexpr double kOverheadLimitUs = 5000;

// Worker, in a process of its own with empty driver caches: loads each entry of the bundle `job` (one variant), times
// the first launch against the steady one in both grid classes, checks the numbers (edge sizes, guards, NaN), and
// writes the same bundle with the proofs in it to `output`. `overhead` is a compiled job whose kernel does nothing, of
// the same target. True when an entry is above a limit by less than any compilation takes: the proof should be
// repeated. Fails with wrong_result, or the reason why an entry would not load.
Result<bool> prove_job(const std::string& job, const std::string& overhead, const std::string& output);

}  // namespace clbake::builder
