#include "process/target_json.hpp"

namespace clbake::builder::process {

Json target_json(const cache::Target& target) {
  Json json = Json::object();
  for (const auto& [name, text] : cache::kTargetTexts) json[name] = target.*text;
  json["address_bits"] = target.address_bits;
  return json;
}

bool read_target(JsonReader& in, const JsonValue& at, cache::Target& target) {
  static_assert(std::size(cache::kTargetTexts) == 8, "each text is read below");
  const auto text = [&](std::size_t i) {
    return in.field(cache::kTargetTexts[i].name, target.*cache::kTargetTexts[i].value);
  };
  return in.object(at, text(0), text(1), text(2), text(3), text(4), text(5), text(6), optional(text(7)),
                   in.field("address_bits", target.address_bits));
}

}  // namespace clbake::builder::process
