// What the tests of constraints share.
#pragma once

#include "samples.hpp"

#include <clbake/kernels/constraints.hpp>

#include <boost/test/unit_test.hpp>

namespace clbake::kernels {

// The least local memory that OpenCL 1.2 allows, and a work-group size that every driver offers.
inline DeviceLimits smallest_device() { return {true, 256, {256, 256, 64}, 32768, true}; }

inline Params local_tile() {
  Params p;
  p.family = Family::local_tile;
  p.ml = p.nl = 64;
  p.kl = 16;
  p.ms = p.ns = 4;
  p.vector_width = 4;
  return p;
}

// p has exactly one violation, and its reason contains all `texts`.
inline void check_violated(const Params& p, const DeviceLimits& device, std::string_view constraint,
                           std::initializer_list<const char*> texts) {
  const std::vector<Violation> violations = check(p, device);
  BOOST_REQUIRE_EQUAL(violations.size(), 1U);
  BOOST_TEST(violations[0].constraint == constraint);
  for (const char* text : texts) {
    BOOST_TEST(violations[0].reason.find(text) != std::string::npos, violations[0].reason << " lacks " << text);
  }
}

}  // namespace clbake::kernels
