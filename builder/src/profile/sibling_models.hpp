// Cost models for a kind of problems that was hardly timed, from those of another kind of the same precision.
//
// The transposes change how a variant reads A and B, not how many work-groups there are and how much each computes:
// what is fast for one pair of transposes is mostly fast for another.
#pragma once

#include <clbake/builder/tuning.hpp>
#include <clbake/kernels/constraints.hpp>

#include <set>
#include <string>
#include <vector>

namespace clbake::builder {

// The models of `from` for the same variants with the transposes of `kind`; `tuning.variants` gets those of them that
// it lacks, if the device admits them (`limits`; null: it is not known, and none is added). Variants of `failed` are
// left out. Without a model of a default variant, that variant could not stay where it is the fastest: if one of
// `defaults` (indices) would be left out, there are no models, and `tuning` stays as it is.
std::vector<cache::CostModel> sibling_models(const std::vector<cache::CostModel>& from, const GemmKind& kind,
                                             const std::vector<std::uint32_t>& defaults,
                                             const std::set<std::string>& failed, const kernels::DeviceLimits* limits,
                                             Tuning& tuning);

}  // namespace clbake::builder
