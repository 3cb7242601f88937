// A target as JSON: its fields by their names in FORMAT.md.
#pragma once

#include "process/json_reader.hpp"

#include <clbake/cache/model.hpp>

namespace clbake::builder::process {

Json target_json(const cache::Target& target);

// cpu_features may be missing. False at the first wrong value.
bool read_target(JsonReader& in, const JsonValue& at, cache::Target& target);

}  // namespace clbake::builder::process
