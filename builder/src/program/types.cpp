#include "program/types.hpp"

#include <clbake/builder/sixteen_bits.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace clbake::builder::program {
using namespace image_names;
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

// The row of that name; null when there is none.
template <typename Row, std::size_t n>
const Row* find(const Row (&rows)[n], const std::string& name) {
  const auto* const found = std::find_if(rows, rows + n, [&](const Row& row) { return name == row.name; });
  return found == rows + n ? nullptr : found;
}

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

const char* const kImageShapes = "1d, 2d, 3d, 1d_array, 2d_array or 1d_buffer";

void Image::region(std::size_t (&extents)[3]) const {
  const std::uint64_t all[] = {width, height, depth};
  for (std::uint32_t d = 0; d < 3; ++d) extents[d] = static_cast<std::size_t>(all[d]);
  if (shape->is_array) extents[shape->dimensions] = static_cast<std::size_t>(array_size);
}

const ImageShape* image_shape(const std::string& name) { return find(kShapes, name); }

const ImageShape* image_shape_of(const std::string& type) {
  return type.size() > 7 ? image_shape(type.substr(5, type.size() - 7)) : nullptr;
}

bool set_format(const std::string& order, const std::string& type, Image& image) {
  const Order* const channels = find(kOrders, order);
  const Channel* const channel = find(kChannels, type);
  if (!channels || !channel) return false;
  image.format = {channels->value, channel->value};
  image.pixel.number = number_type(channel->number);
  image.pixel.width = image.pixel.stored = channel->is_packed ? 1 : channels->channels;
  return true;
}

bool set_addressing(const std::string& name, Sampler& sampler) {
  const Mode* const mode = find(kAddressings, name);
  if (mode) sampler.addressing = mode->value;
  return mode != nullptr;
}

bool set_filter(const std::string& name, Sampler& sampler) {
  const Mode* const mode = find(kFilters, name);
  if (mode) sampler.filter = mode->value;
  return mode != nullptr;
}

}  // namespace clbake::builder::program
