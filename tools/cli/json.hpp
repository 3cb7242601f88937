// clbake's values as JSON.
#pragma once

#include <clbake/builder/build.hpp>

#include <nlohmann/json.hpp>

namespace clbake::tool {

using Json = nlohmann::ordered_json;

Json to_json(const Target& target);
Json to_json(const cache::Proof& proof);
Json to_json(const builder::build::JobReport& job);

// Two spaces of indentation and a newline, on stdout.
void print(const Json& json);

}  // namespace clbake::tool
