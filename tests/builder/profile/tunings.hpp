// Tunings made by hand, of made-up devices.
#pragma once

#include "build_fixture.hpp"

#include <clbake/builder/tuning_file.hpp>

namespace clbake::builder::test {

// Variants that made_up_device() runs.
inline constexpr const char* kSmallWinner = "direct-s-nn-4x16x1-4x16x1-v16";
inline constexpr const char* kLargeWinner = "register_tile-s-nn-60x128x512-6x32x1-v16";
inline constexpr const char* kLoser = "register_tile-s-nn-64x64x256-8x32x1-v16";
inline constexpr const char* kTransposedWinner = "register_tile-s-tn-64x64x256-8x32x1-v16";
inline constexpr const char* kFailing = "register_tile-s-nn-60x64x128-6x32x1-v16";

// A tuning of made_up_device(), single precision. nn has cost models of kLargeWinner and, for no shape, of
// kSmallWinner, and an exception for small shapes, which are kSmallWinner's; tn has one exception, for all shapes.
// Every field differs from its default.
profile::Tuning made_up_tuning(const Device& device = made_up_device());

// One that knows this variant only, on one shape of its kind, for all problems of that kind.
profile::Tuning tuning_of(const std::string& variant, double median_us = 100, const Device& device = made_up_device());

}  // namespace clbake::builder::test
