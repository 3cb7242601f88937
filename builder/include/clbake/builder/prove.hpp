// Proof that an entry computes GEMM and leaves nothing to compile.
#pragma once

#include <clbake/builder/devices.hpp>

namespace clbake::builder {

// A first launch may take this many times the steady one, as long as that is not this much longer ...
inline constexpr double kFirstLaunchRatio = 1.5;
inline constexpr double kFirstLaunchSlackUs = 10000;
// ... plus this: waking the driver's threads and touching pages for the first time. The cheapest compilation seen on
// any driver takes 20,000 us, so slack and allowance together hide none.
inline constexpr double kFirstLaunchAllowanceUs = 1000;
// Loading may take this long, for the same reason. PoCL needs about 5,000 us, most of it to write files.
inline constexpr double kLoadLimitUs = 20000;

// Worker, in a process of its own with empty driver caches: loads the only entry of the bundle `job`, times the
// first launch against the steady one in both grid classes, checks the numbers (edge sizes, guards, NaN), and writes
// the same bundle with the proof in it to `output`. Fails with wrong_result, or the reason why it would not load.
Status prove_job(const std::string& job, const std::string& output);

}  // namespace clbake::builder
