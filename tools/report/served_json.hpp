// The answers of `check`, `diff` and `report` as JSON.
#pragma once

#include <clbake/builder/release/check.hpp>

#include <nlohmann/json.hpp>
#include <vector>

namespace clbake::tool {

// {"problem", "weight"}, or {"program"}.
nlohmann::ordered_json to_json(const builder::release::Subject& subject);

// {"missing", "code", "why", "variant", "origin", "chosen_by", "expected_us", "proven", "jit_free"}; null where there
// is no such thing. `lack`: what "missing" and "why" are about.
nlohmann::ordered_json to_json(const builder::release::Served& served, builder::release::Lack lack);

// [{"missing", "code", "count", "kinds", "targets", "subjects", "examples", "why"}]: of group_missing(); "subjects"
// counts them, of which "examples" are the heaviest.
nlohmann::ordered_json groups_json(const std::vector<builder::release::CheckedDevice>& devices,
                                   const std::vector<builder::release::Subject>& subjects,
                                   const builder::release::Requirements& requirements);

}  // namespace clbake::tool
