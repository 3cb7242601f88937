#include "cli/json.hpp"

#include <iostream>

namespace clbake::tool {
namespace {

const char* name(builder::build::JobReport::Outcome outcome) {
  switch (outcome) {
    case builder::build::JobReport::Outcome::pending: return "pending";
    case builder::build::JobReport::Outcome::baked: return "baked";
    case builder::build::JobReport::Outcome::reused: return "reused";
    case builder::build::JobReport::Outcome::failed: return "failed";
  }
  return "unknown";
}

}  // namespace

Json to_json(const Target& target) {
  return {{"platform_name", target.platform_name},
          {"platform_version", target.platform_version},
          {"vendor", target.vendor},
          {"device_name", target.device_name},
          {"device_version", target.device_version},
          {"driver_version", target.driver_version},
          {"architecture", target.architecture},
          {"address_bits", target.address_bits}};
}

Json to_json(const cache::Proof& proof) {
  Json tools = Json::array();
  for (const cache::Tool& tool : proof.tools) tools.push_back({{"name", tool.name}, {"version", tool.version}});
  const auto figure = [&](float value) { return proof.proven ? Json(value) : Json(); };
  return {{"proven", proof.proven},
          {"jit_free", proof.jit_free},
          {"load_us", figure(proof.load_us())},
          {"create_us", figure(proof.create_us)},
          {"build_us", figure(proof.build_us)},
          {"kernel_us", figure(proof.kernel_us)},
          {"first_us", figure(proof.first_us)},
          {"steady_us", figure(proof.steady_us)},
          {"max_error", figure(proof.max_error)},
          {"tolerance", figure(proof.tolerance)},
          {"specialisations", proof.specialisations},
          {"tools", tools},
          {"device", proof.proven ? Json(proof.device) : Json()},
          {"driver", proof.proven ? Json(proof.driver) : Json()},
          {"note", proof.note}};
}

Json to_json(const builder::build::JobReport& job) {
  const bool failed = job.outcome == builder::build::JobReport::Outcome::failed;
  return {{"variant", job.variant},
          {"device", job.device},
          {"outcome", name(job.outcome)},
          {"cause", failed ? Json(job.cause) : Json()},
          {"proof", job.proof.proven ? to_json(job.proof) : Json()}};
}

void print(const Json& json) {
  // Drivers may report names that are not UTF-8: shown with a replacement character.
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace clbake::tool
