// Points of the space, compiled from source on the first device and checked at edge sizes.
#pragma once

#include "driver_main.hpp"
#include "gemm_checks.hpp"

#include <clbake/kernels/constraints.hpp>

#include <stdexcept>
#include <utility>
#include <variant>

namespace clbake::tests {

inline kernels::Params point(const std::string& name) {
  const auto parsed = kernels::parse(name);
  if (const std::string* refusal = std::get_if<std::string>(&parsed)) throw std::runtime_error(*refusal);
  return std::get<kernels::Params>(parsed);
}

inline FromSource compiled(const kernels::Params& p) {
  Result<FromSource> made = from_source(devices()->front(), p);
  BOOST_REQUIRE_MESSAGE(made.ok(), made.status().message());
  return std::move(*made);
}

// Nothing where the device does not admit the point.
inline void check_at_edges(const kernels::Params& p) {
  if (!kernels::admits(devices()->front().limits, p)) return;
  const FromSource made = compiled(p);
  const std::string failures = failures_at_edges(made.where, made.variant);
  BOOST_TEST(failures.empty(), failures);
}

}  // namespace clbake::tests
