// Host time of a call, beside the bare OpenCL calls for the same kernel: `bench gemm --host`.
#pragma once

#include "bench/bench.hpp"
#include "cli/json.hpp"

namespace clbake::tool {

inline constexpr std::size_t host_calls_per_round = 20;

// Medians of single calls in microseconds: the bare calls ("bare_us"), a prepared enqueue ("prepared_us"), the same
// with Options::record ("recorded_us"), `gemm` in one call ("one_call_us"), and preparing what is loaded already, with
// its choice of a variant ("prepare_us"); and of a product in a stream of 100, enqueued ("stream_us") and recorded in a
// command buffer ("commands_us", if there are any), both also until all have ended ("stream_end_us",
// "commands_end_us"). The problem is in single precision, without gaps, and its variant launches one kernel. Throws
// Failure where it launches several, and when the bare calls compute a wrong C.
Json host_times(const BenchDevice& on, const Bundle& bundle, const Problem& problem, std::size_t rounds);

}  // namespace clbake::tool
