#include <clbake/builder/elements.hpp>
#include <clbake/builder/sixteen_bits.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace clbake::builder {
namespace {

// OCP's formats of 8 bits: bits of the fraction, bias of the exponent, the largest number.
struct SmallFloat {
  int fraction;
  int bias;
  double largest;
  bool has_infinity;
};
constexpr SmallFloat kE4m3{3, 7, 448, false};
constexpr SmallFloat kE5m2{2, 15, 57344, true};

double number_of(const SmallFloat& format, std::uint8_t bits) {
  const int size = bits & 0x7F;
  const int exponent = size >> format.fraction;
  const int fraction = size & ((1 << format.fraction) - 1);
  double x = exponent == 0 ? std::ldexp(fraction, 1 - format.bias - format.fraction)
                           : std::ldexp((1 << format.fraction) + fraction, exponent - format.bias - format.fraction);
  if (format.has_infinity && exponent == 0x1F) {
    x = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (!format.has_infinity && size == 0x7F) {
    x = std::numeric_limits<double>::quiet_NaN();
  }
  return (bits & 0x80) != 0 ? -x : x;
}

std::uint8_t bits_of(const SmallFloat& format, double x) {
  const std::uint8_t sign = std::signbit(x) ? 0x80 : 0;
  if (std::isnan(x)) return sign | 0x7F;
  const double size = std::min(std::fabs(x), format.largest);
  const int exponent = std::max(size > 0 ? std::ilogb(size) : INT32_MIN / 2, 1 - format.bias);
  // In units of the last place; a carry goes on into the exponent, which lies above the fraction.
  const double units = std::nearbyint(std::ldexp(size, format.fraction - exponent));
  const int leading = (exponent + format.bias - 1) << format.fraction;  // units have the leading 1
  return static_cast<std::uint8_t>(sign | (leading + static_cast<int>(units)));
}

template <typename T>
T read(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void write(std::uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <typename Integer>
void write_whole(std::uint8_t* to, double value) {
  const double least = std::numeric_limits<Integer>::min(), most = std::numeric_limits<Integer>::max();
  write(to, std::isnan(value) ? Integer(0) : static_cast<Integer>(std::clamp(std::nearbyint(value), least, most)));
}

}  // namespace

double decode(Element element, const std::uint8_t* from) {
  switch (element) {
    case Element::real_double: return read<double>(from);
    case Element::half: return read<Half>(from);
    case Element::bfloat16: return read<Bfloat16>(from);
    case Element::int8: return read<std::int8_t>(from);
    case Element::uint8: return *from;
    case Element::int32: return read<std::int32_t>(from);
    case Element::e4m3: return number_of(kE4m3, *from);
    case Element::e5m2: return number_of(kE5m2, *from);
    default: return static_cast<double>(read<float>(from));
  }
}

void encode(Element element, double value, std::uint8_t* to) {
  switch (element) {
    case Element::real_double: return write(to, value);
    case Element::half: return write(to, Half(value));
    case Element::bfloat16: return write(to, Bfloat16(value));
    case Element::int8: return write_whole<std::int8_t>(to, value);
    case Element::uint8: return write_whole<std::uint8_t>(to, value);
    case Element::int32: return write_whole<std::int32_t>(to, value);
    case Element::e4m3: return write(to, bits_of(kE4m3, value));
    case Element::e5m2: return write(to, bits_of(kE5m2, value));
    default: return write(to, static_cast<float>(value));
  }
}

}  // namespace clbake::builder
