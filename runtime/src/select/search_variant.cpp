#include "select/search_variant.hpp"

namespace clbake {

std::optional<std::uint32_t> search_variant(const Bundle& bundle, const std::string& name) {
  std::uint32_t begin = 0, end = bundle.variant_count();
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    const Result<cache::Variant> variant = bundle.variant(middle);
    if (!variant) break;
    if (variant->name == name) return middle;
    (variant->name < name ? begin : end) = variant->name < name ? middle + 1 : middle;
  }
  return std::nullopt;
}

}  // namespace clbake
