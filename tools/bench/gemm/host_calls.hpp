// Host time of a call, beside the bare OpenCL calls for the same kernel: `bench gemm --host`.
#pragma once

#include "bench/bench_device.hpp"
#include "cli/json.hpp"

namespace clbake::tool {

inline constexpr std::size_t host_calls_per_round = 20;

// Medians of single calls in microseconds: the bare calls ("bare_us"), a prepared enqueue ("prepared_us"), the same
// with Options::record ("recorded_us") and `gemm` in one call ("one_call_us"). The problem is in single precision,
// without gaps, and its variant launches one kernel. Throws Failure where it launches several, and when the bare calls
// compute a wrong C.
Json host_times(const BenchBundle& bundle, const Problem& problem, std::size_t rounds);

}  // namespace clbake::tool
