#include "json.hpp"

#include <iostream>

namespace clbake::tool {

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

void print(const Json& json) {
  // Drivers may report names that are not UTF-8: shown with a replacement character.
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace clbake::tool
