// A variant by its name.
#pragma once

#include <clbake/clbake.hpp>

#include <optional>
#include <string>

namespace clbake {

// The index of the variant of this name by a search in the variants, which are in the order of their names: reading one
// copies its texts, and under a guard computes its digest. Nothing where it is not found, or a record is damaged.
std::optional<std::uint32_t> search_variant(const Bundle& bundle, const std::string& name);

}  // namespace clbake
