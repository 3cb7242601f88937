// Numbers of 16 bits on the host: storage only, computed with as double.
#pragma once

#include <CL/cl_half.h>

#include <cmath>
#include <cstdint>
#include <cstring>

namespace clbake::builder {

// IEEE 754 half precision.
struct Half {
  cl_half bits = 0;
  Half() = default;
  explicit Half(double value) : bits(cl_half_from_double(value, CL_HALF_RTE)) {}
  operator double() const {  // cl_half_to_float takes five times as long
    const std::uint64_t exponent = bits >> 10U & 0x1FU, fraction = bits & 0x3FFU;
    const std::uint64_t word = (exponent == 31 ? 2047 : exponent + 1008) << 52U | fraction << 42U;
    double normal = 0;
    std::memcpy(&normal, &word, sizeof normal);
    const double size = exponent == 0 ? static_cast<double>(fraction) * 0x1p-24 : normal;
    return (bits & 0x8000U) != 0 ? -size : size;
  }
};

// The upper half of a float.
struct Bfloat16 {
  std::uint16_t bits = 0;
  Bfloat16() = default;
  explicit Bfloat16(double value) : bits(rounded(static_cast<float>(value))) {}
  operator double() const {
    const std::uint32_t word = static_cast<std::uint32_t>(bits) << 16U;
    float value = 0;
    std::memcpy(&value, &word, sizeof value);
    return static_cast<double>(value);
  }

 private:
  // To nearest, ties to even; a NaN stays one.
  static std::uint16_t rounded(float value) {
    std::uint32_t word = 0;
    std::memcpy(&word, &value, sizeof word);
    if (std::isnan(value)) return static_cast<std::uint16_t>(word >> 16U | 0x40U);
    return static_cast<std::uint16_t>((word + 0x7fffU + (word >> 16U & 1U)) >> 16U);
  }
};

}  // namespace clbake::builder
