// Proof that an entry computes GEMM and leaves nothing to compile.
#pragma once

#include <clbake/builder/devices.hpp>

namespace clbake::builder {

// A first launch may take this many times the steady one, as long as that is not this much longer ...
inline constexpr double kFirstLaunchRatio = 1.5;
inline constexpr double kFirstLaunchSlackUs = 10000;
// ... plus the driver's floor (floor.hpp), within these limits. It is that of a kernel that does nothing; one that is
// 30 KB long touches more new pages, 500 us of them on a virtual machine. The cheapest compilation seen on any driver
// takes 20,000 us, so slack and floor together hide none.
inline constexpr double kOverheadLeastUs = 2000;
inline constexpr double kOverheadLimitUs = 5000;
// Loading may take this long, for the same reason. PoCL needs about 5,000 us, most of it to write files.
inline constexpr double kLoadLimitUs = 20000;

// Worker, in a process of its own with empty driver caches: loads each entry of the bundle `job` (one variant), times
// the first launch against the steady one in both grid classes, checks the numbers (edge sizes, guards, NaN), and
// writes the same bundle with the proofs in it to `output`. `floor` is a compiled overhead_job of the same target.
// Fails with wrong_result, or the reason why an entry would not load.
Status prove_job(const std::string& job, const std::string& floor, const std::string& output);

}  // namespace clbake::builder
