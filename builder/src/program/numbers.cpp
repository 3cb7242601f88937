#include "program/numbers.hpp"

#include <clbake/builder/sixteen_bits.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace clbake::builder::program {
namespace {

template <typename T>
void store(Number value, std::uint8_t* to) {
  const T number(static_cast<T>(value));
  std::memcpy(to, &number, sizeof number);
}

template <>
void store<Half>(Number value, std::uint8_t* to) {
  const Half number(static_cast<double>(value));
  std::memcpy(to, &number, sizeof number);
}

template <typename T>
double load(const std::uint8_t* from) {
  T number;
  std::memcpy(&number, from, sizeof number);
  return static_cast<double>(number);
}

template <typename T>
constexpr NumberType type_of(const char* name, double tolerance = 0) {
  return {name, sizeof(T), tolerance, store<T>, load<T>};
}

constexpr NumberType kTypes[] = {
    type_of<std::int8_t>("char"),     type_of<std::uint8_t>("uchar"),  type_of<std::int16_t>("short"),
    type_of<std::uint16_t>("ushort"), type_of<std::int32_t>("int"),    type_of<std::uint32_t>("uint"),
    type_of<std::int64_t>("long"),    type_of<std::uint64_t>("ulong"), type_of<Half>("half", 1e-2),
    type_of<float>("float", 1e-5),    type_of<double>("double", 1e-12)};

constexpr int kExactBits = std::numeric_limits<Number>::digits;  // of whole numbers that each can be told

}  // namespace

const char* const kNumberTypes = "char, uchar, short, ushort, int, uint, long, ulong, half, float or double";

bool NumberType::holds(Number value) const {
  if (is_float()) return true;
  if (value != std::floor(value)) return false;
  const bool is_signed = name[0] != 'u';
  const Number limit = std::ldexp(Number{1}, std::min(static_cast<int>(8 * bytes) - (is_signed ? 1 : 0), kExactBits));
  return value < limit && value >= (is_signed ? -limit : 0);
}

const NumberType* number_type(const std::string& name) {
  const auto* const found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const NumberType& type) { return name == type.name; });
  return found == std::end(kTypes) ? nullptr : found;
}

ElementType element_type(const std::string& name) {
  const std::size_t digits = std::min(name.find_first_of("0123456789"), name.size());
  const std::string width = name.substr(digits);
  const bool known = width.empty() || std::string(" 2 3 4 8 16 ").find(" " + width + " ") != std::string::npos;
  ElementType type;
  if (known) type.number = number_type(name.substr(0, digits));
  if (known && !width.empty()) type.width = static_cast<std::uint32_t>(std::stoul(width));
  type.stored = type.width == 3 ? 4 : type.width;
  return type;
}

}  // namespace clbake::builder::program
