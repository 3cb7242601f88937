// The targets of a bundle, as users name them.
#pragma once

#include <clbake/clbake.hpp>

#include <string>
#include <vector>

namespace clbake::builder::release {

// The indices of the targets that SPEC names, ascending: an index; else those with a field, or a target_name(), that
// equals SPEC; else those with one that contains it. Case is ignored. The targets for every device of a type go by
// their whole names only. Empty when the bundle has none. Fails with what is wrong with a record.
Result<std::vector<std::uint32_t>> targets_named(const Bundle& bundle, const std::string& spec);

// Those that have at least one entry, ascending. Fails with what is wrong with a record.
Result<std::vector<std::uint32_t>> targets_with_entries(const Bundle& bundle);

}  // namespace clbake::builder::release
