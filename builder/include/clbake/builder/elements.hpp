// Numbers of any real element type on the host, in memory as the device has them.
#pragma once

#include <clbake/gemm_kind.hpp>

#include <cstdint>

namespace clbake::builder {

// The number at `from`, which has bytes_of(element) bytes and any alignment. Requires an element that is not complex.
double decode(Element element, const std::uint8_t* from);

// Rounds to nearest even and writes to `to`. 8 bits: what is too large becomes the largest number; an integer's NaN is
// 0.
void encode(Element element, double value, std::uint8_t* to);

}  // namespace clbake::builder
