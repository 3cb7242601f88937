// Host time of a call, beside the bare OpenCL calls for the same kernel: `bench gemm --host`.
#pragma once

#include "bench/bench_device.hpp"
#include "cli/json.hpp"

#include <string>

namespace clbake::tool {

// Medians of single calls in microseconds: the bare calls ("bare_us"), a prepared enqueue ("prepared_us"), the same
// with Options::record ("recorded_us") and `gemm` in one call ("one_call_us"); each round has 20 calls of each. The
// problem is in single precision, without gaps, and its variant launches one kernel: no_variant otherwise. Fails with
// wrong_result when the bare calls compute another C.
Result<Json> host_times(const BenchBundle& bundle, const Problem& problem, std::size_t rounds);

void print_host_times(const Json& report);

}  // namespace clbake::tool
