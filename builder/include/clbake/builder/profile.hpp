// Which variant serves which problem, as long as nothing was tuned.
#pragma once

#include <clbake/builder/devices.hpp>

namespace clbake::builder {

// The profile of contents.targets[target] from the variants that have an entry there: small problems go to the
// direct family, others to the family made for the kind of device; what is missing is replaced by what is there. Of
// several variants of a family the one whose proof was fastest serves.
cache::Profile default_profile(const cache::Contents& contents, std::uint32_t target, kernels::DeviceKind kind);

// Precision and transposes agree.
bool same_kind(const cache::Rule& a, const cache::Rule& b);

// Adds the rule behind the others, unless one of them takes all of its problems already.
void add_rule(std::vector<cache::Rule>& rules, const cache::Rule& rule);

}  // namespace clbake::builder
