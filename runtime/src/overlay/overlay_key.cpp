#include "overlay/overlay_key.hpp"

#include <clbake/cache/xxh64.hpp>

#include <utility>

namespace clbake {
namespace {

// The fields in their order, each text after its length, so that no two keys give the same text.
class Fields {
 public:
  Fields& add(std::uint64_t number) {
    text_ += std::to_string(number) + ' ';
    return *this;
  }
  Fields& add(const std::string& text) {
    add(std::uint64_t{text.size()});
    text_ += text;
    return *this;
  }

  std::string digits(std::uint64_t seed) const {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text_.data());
    return hexadecimal(cache::xxh64(bytes, text_.size(), seed));
  }

 private:
  std::string text_;
};

void add(Fields& fields, const cache::Target& target) {
  fields.add(target.platform_name).add(target.platform_version).add(target.vendor).add(target.device_name);
  fields.add(target.device_version).add(target.driver_version).add(target.architecture).add(target.address_bits);
}

void add(Fields& fields, const cache::Variant& v) {
  fields.add(v.name).add(v.family).add(static_cast<std::uint64_t>(v.precision)).add(v.contract).add(v.build_options);
  fields.add(v.trial);
  for (const bool flag : {v.trans_a, v.trans_b, v.image_a, v.image_b}) fields.add(std::uint64_t{flag});
  for (const std::uint64_t factor : {v.block_m, v.block_n, v.block_k, v.split_k}) fields.add(factor);
  for (const cache::Launch& launch : v.launches) {
    fields.add(static_cast<std::uint64_t>(launch.role)).add(launch.kernel_name);
    for (const std::uint64_t extent : launch.local) fields.add(extent);
    fields.add(launch.tile_m).add(launch.tile_n);
  }
}

}  // namespace

std::string hexadecimal(std::uint64_t number) {
  std::string digits(16, '0');
  for (std::size_t i = digits.size(); number != 0; number >>= 4U) digits[--i] = "0123456789abcdef"[number & 0xfU];
  return digits;
}

OverlayKey overlay_key(cache::Target target, cache::Source source, cache::Variant variant, const std::string& scope) {
  Fields fields;
  fields.add("clbake overlay 1");  // change the number when the content of the files changes
  add(fields, target);
  fields.add(source.name).add(source.text);
  add(fields, variant);
  if (!scope.empty()) fields.add(scope);
  std::string hash = fields.digits(0) + fields.digits(1);
  return {std::move(target), std::move(source), std::move(variant), std::move(hash)};
}

}  // namespace clbake
