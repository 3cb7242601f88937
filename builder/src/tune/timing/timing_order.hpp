// The lines that the tuner and its worker processes exchange.
//
//   worker: "ready"             the variant is compiled and right on an edge shape
//   tuner:  an order (to_line)  prepare a shape, or time the variant on it
//   worker: "us T1 T2 ..."      microseconds of the calls, enqueue to finish; no times: the order asked for no calls,
//                               or the device has no memory for this shape
//   tuner:  "next JOB"          another variant, in the same process and context; the worker answers "ready"
//
// A worker that fails says why on stderr and exits.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <optional>
#include <string>
#include <vector>

namespace clbake::builder::tune {

inline constexpr const char* kReadyLine = "ready";
inline constexpr const char* kNextJobPrefix = "next ";

// A worker's task for one shape.
struct TimingOrder {
  Shape shape;
  std::uint32_t runs = 3;  // at least so many calls; 0: only allocate, and compare a first call with the reference
  double turn_us = 2000;   // and at least for so long
  double limit_us = 0;     // a call that takes longer is the last; 0 = no limit
};

// "single nn 64x64x64|3|2000|0" and back; nothing for other text.
std::string to_line(const TimingOrder& order);
std::optional<TimingOrder> parse_order(const std::string& line);

// "us 1.5 1.6" and back; nothing for other text, and for times that are not positive.
std::string to_line(const std::vector<double>& times_us);
std::optional<std::vector<double>> parse_times(const std::string& line);

}  // namespace clbake::builder::tune
