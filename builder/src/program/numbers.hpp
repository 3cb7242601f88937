// The number types of OpenCL C.
#pragma once

#include <cstdint>
#include <string>

namespace clbake::builder::program {

// Holds whole numbers of 64 bits exactly where its significand has as many bits, as on x86 and 64-bit ARM with Linux.
using Number = long double;

struct NumberType {
  const char* name;
  std::uint32_t bytes;
  double tolerance;                            // of a result, if the trial states none; 0: a whole number
  void (*store)(Number value, std::uint8_t*);  // rounded to the type
  double (*load)(const std::uint8_t*);
  bool is_float() const { return tolerance > 0; }
  bool holds(Number value) const;
};

// Null for any other name.
const NumberType* number_type(const std::string& name);

// For messages: "char, uchar, ... or double".
extern const char* const kNumberTypes;

// A number or a vector, as elements of buffers and values of scalars are.
struct ElementType {
  const NumberType* number = nullptr;  // null: no such type
  std::uint32_t width = 1;             // components
  std::uint32_t stored = 1;            // components that it takes in memory: 4 for a vector of 3

  std::uint32_t bytes() const { return stored * number->bytes; }
};

// Reads "float", "float4" and the like.
ElementType element_type(const std::string& name);

}  // namespace clbake::builder::program
