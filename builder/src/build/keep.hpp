// What stays of the bundle that a build writes over.
#pragma once

#include <clbake/cache/model.hpp>

#include <functional>

namespace clbake::builder {

// The entries and rules of the targets and kinds that `wanted` accepts, the profiles that still have rules, and the
// targets, variants and sources that these name.
cache::Contents select_kinds(const cache::Contents& from,
                             const std::function<bool(const cache::Target&, const GemmKind&)>& wanted);

// How many entries of `before` have no entry of the same target, variant name and form in `after`.
std::size_t count_missing(const cache::Contents& before, const cache::Contents& after);

}  // namespace clbake::builder
