#include "program/images.hpp"

#include <algorithm>

namespace clbake::builder::program {
using namespace image_names;
namespace {

// The row of that name; null when there is none.
template <typename Row, std::size_t n>
const Row* find(const Row (&rows)[n], const std::string& name) {
  const auto* const found = std::find_if(rows, rows + n, [&](const Row& row) { return name == row.name; });
  return found == rows + n ? nullptr : found;
}

}  // namespace

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
