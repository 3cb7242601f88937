#include <clbake/cache/model.hpp>

#include <tuple>

namespace clbake::cache {

bool Target::operator==(const Target& other) const {
  const auto fields = [](const Target& t) {
    return std::tie(t.address_bits, t.platform_name, t.platform_version, t.vendor, t.device_name, t.device_version,
                    t.driver_version, t.architecture);
  };
  return fields(*this) == fields(other);
}

}  // namespace clbake::cache
