#include <clbake/cache/model.hpp>

#include <algorithm>
#include <tuple>

namespace clbake::cache {
namespace {

bool same_launch(const Launch& a, const Launch& b) {
  return a.role == b.role && a.kernel_name == b.kernel_name && std::equal(a.local, a.local + 3, b.local) &&
         a.tile_m == b.tile_m && a.tile_n == b.tile_n;
}

}  // namespace

bool Target::operator==(const Target& other) const {
  const auto fields = [](const Target& t) {
    return std::tie(t.address_bits, t.platform_name, t.platform_version, t.vendor, t.device_name, t.device_version,
                    t.driver_version, t.architecture);
  };
  return fields(*this) == fields(other);
}

Target any_device(bool is_cpu) {
  Target target;
  target.device_name = is_cpu ? "any CPU" : "any GPU";
  return target;
}

bool same_but_source(const Variant& a, const Variant& b) {
  const auto fields = [](const Variant& v) {
    return std::tie(v.name, v.family, v.precision, v.trans_a, v.trans_b, v.image_a, v.image_b, v.contract, v.block_m,
                    v.block_n, v.block_k, v.split_k, v.build_options, v.trial);
  };
  return fields(a) == fields(b) &&
         std::equal(a.launches.begin(), a.launches.end(), b.launches.begin(), b.launches.end(), same_launch);
}

}  // namespace clbake::cache
