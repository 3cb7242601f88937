// broken_points.txt has a point for each constraint that breaks it alone, and what `check` says of it.
#include <clbake/kernels/constraints.hpp>
#include <clbake/kernels/defaults.hpp>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

using clbake::all_precisions;
using clbake::Precision;
using namespace clbake::kernels;

namespace {

// The least that drivers offer: work-groups of 256 work-items and 32 KiB of local memory.
DeviceLimits smallest_device() { return {true, 256, {256, 256, 64}, 32768, true}; }

// "GPU" is the smallest device; "bare" has no doubles, no images and flat work-groups; "PoCL", "VNNI", "sm_80" and
// "sm_90" have work-groups of 1024.
DeviceLimits device_named(const std::string& name) {
  DeviceLimits device = smallest_device();
  if (name == "GPU") return device;
  if (name == "bare") {
    device.fp64 = device.images = false;
    device.max_work_item_sizes[1] = 8;
    return device;
  }
  device.max_work_group_size = device.max_work_item_sizes[0] = device.max_work_item_sizes[1] = 1024;
  device.local_memory_bytes = name == "PoCL" || name == "VNNI" ? 1 << 20 : 49152;
  device.byte_dots = device.bfloat16_dots = name == "VNNI";
  if (name == "sm_80") set_nvidia_limits(device, 80);
  if (name == "sm_90") set_nvidia_limits(device, 90);
  return device;
}

Params point(const std::string& name) {
  const auto read = parse(name);
  if (const std::string* refusal = std::get_if<std::string>(&read)) throw std::runtime_error(*refusal);
  return std::get<Params>(read);
}

void check_admitted(const Params& p, const DeviceLimits& device) {
  for (const Violation& violation : check(p, device)) BOOST_ERROR(name(p) << ": " << violation.reason);
  BOOST_TEST(admits(device, p), name(p));
}

}  // namespace

BOOST_AUTO_TEST_CASE(EachConstraintIsBrokenByAPoint) {
  std::ifstream points(CLBAKE_BROKEN_POINTS);
  std::set<std::string> broken;
  for (std::string device, name, says; points >> device >> name && std::getline(points >> std::ws, says);) {
    const std::vector<Violation> violations = check(point(name), device_named(device));
    BOOST_TEST(!admits(device_named(device), point(name)), name);
    BOOST_REQUIRE_MESSAGE(violations.size() == 1U, name << " breaks " << violations.size() << " on " << device);
    broken.emplace(violations[0].constraint);
    BOOST_TEST(std::string(violations[0].constraint) + ": " + violations[0].reason == says, name);
  }
  const std::string list = constraints_list();
  for (std::size_t at = 0; (at = list.find("- `", at)) != std::string::npos; at += 3) {
    const std::string name = list.substr(at + 3, list.find('`', at + 3) - at - 3);
    BOOST_TEST(broken.count(name) == 1U, "no point breaks " << name);
  }
}

BOOST_AUTO_TEST_CASE(ThePageHasTheList) {
  std::ifstream page(CLBAKE_CONSTRAINTS_PAGE);
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  BOOST_TEST((text.find(constraints_list()) != std::string::npos), "kernels/CONSTRAINTS.md should hold\n"
                                                                       << constraints_list());
}

BOOST_AUTO_TEST_CASE(ValidPointsHaveNoViolation) {
  const std::pair<const char*, const char*> valid[] = {
      {"GPU", "direct-s-nn-1x1x8-1x1x1-v1"},
      {"GPU", "register_tile-h-nn-60x128x512-6x64x1-v16-split2"},
      {"sm_80", "register_tile-s-nn-60x128x128-6x64x1-v16"},
      {"VNNI", "register_tile-iuw-nn-512x256x2048-8x32x4-v16-dots"},
      {"GPU", "local_tile-s-nn-64x64x16-4x4x1-v4-split0"},
      {"GPU", "local_tile-s-nn-64x64x16-4x4x1-v4-mapzigzag"},
      {"GPU", "stripe-s-nn-64x8x16-4x8x4-v4"},  // one work-item wide, but no barriers
      {"GPU", "stripe-s-nn-64x64x16-4x8x4-v4-bimage"},
      {"sm_80", "local_tile-s-nn-64x64x16-4x4x1-v4-clang"},
      {"sm_80", "local_tile-s-nn-64x64x16-4x4x1-v4-exchange"},
      {"sm_80", "local_tile-h-nn-64x64x16-4x4x1-v2-load2-mapmma"},
      {"PoCL", "direct-s-nn-16x64x64-4x16x1-v16"},  // 1024 work-items
      {"sm_80", "thin_tile-h-nn-16x32x16-4x4x2-v4"},
      {"sm_80", "thin_tile-h-nn-32x16x16-4x4x2-v2"},
      {"sm_80", "warp_tile-d-nn-64x64x16-4x4x8-v2-buffers2-mapmma8"},
      {"sm_90", "warp_tile-d-nn-64x64x16-4x4x8-v2-buffers3-mapmma"},
      {"sm_90", "warpgroup_tile-h-nn-128x256x64-2x64x1-v8-split0-buffers4"},
      {"sm_90", "warpgroup_tile-h-nn-320x64x64-2x16x1-v8-buffers3"},
      {"sm_90", "warpgroup_tile-h-nn-64x64x64-2x16x1-v8-buffers3-tensor"},
      {"sm_90", "warpgroup_tile-h-nn-32x32x64-2x8x1-v8-buffers3"},
      {"sm_90", "warpgroup_tile-iiw-nt-128x256x128-2x64x1-v8-buffers4-tensor"},
      {"sm_90", "warpgroup_tile-eeh-tn-128x128x128-2x32x1-v8-akmajor-bkmajor-buffers4-tensor"},
      {"sm_90", "warpgroup_tile-h-nn-64x32x128-2x8x1-v8-split0-buffers3"}};
  for (const auto& [device, name] : valid) check_admitted(point(name), device_named(device));
}

// Lines of 32 elements have room for 64, however they are stored; wgmma multiplies 64 rows at least.
BOOST_AUTO_TEST_CASE(NarrowWarpgroupTilesTakeRoomForWholeLines) {
  Params p = point("warpgroup_tile-h-nn-32x32x64-2x8x1-v8-buffers3");
  const WorkGroup group = work_group_size(p);
  BOOST_TEST(group.x * group.y == 256U);
  BOOST_TEST(local_memory_bytes(p) == 3 * (32 + 64) * 128 + 48U);
  p.trans_a = true;
  BOOST_TEST(local_memory_bytes(p) == 3 * (64 + 64) * 128 + 48U);
  p.trans_a = false;
  p.trans_b = true;
  BOOST_TEST(local_memory_bytes(p) == 3 * (32 + 32) * 128 + 48U);
  p.layout_a = p.layout_b = Layout::padded;  // as if across k, whatever the transposes
  BOOST_TEST(local_memory_bytes(p) == 3 * (64 + 64) * 128 + 48U);
  p = point("local_tile-h-nn-64x64x16-4x4x1-v2-load2");
  const std::uint64_t bytes = local_memory_bytes(p);
  p.map = Map::mma;
  BOOST_TEST(2 * local_memory_bytes(p) == bytes);  // else halves become floats
}

BOOST_AUTO_TEST_CASE(EveryFactorOutOfRangeIsListed) {
  Params p;
  p.ml = p.nl = p.kl = p.ms = p.ns = p.ks = p.vector_width = 0;
  BOOST_TEST(check(p, smallest_device()).size() == 7U);
  p = point("local_tile-s-nn-64x64x16-4x4x1-v4");
  p.padding = 4294967232U;
  BOOST_TEST(check(p, smallest_device())[0].constraint == "range");
}

BOOST_AUTO_TEST_CASE(PackAndReduceKernelsNeedTheirWorkGroup) {
  for (const auto& [name, limit] :
       {std::pair{"direct-s-nn-1x1x1-1x1x1-v1-split2", 63U}, {"local_tile-s-nn-32x32x16-4x4x1-v4-apad", 255U}}) {
    DeviceLimits device = smallest_device();
    device.max_work_group_size = limit + 1;
    check_admitted(point(name), device);
    device.max_work_group_size = limit;
    BOOST_TEST(check(point(name), device)[0].constraint == "work-group-size", name);
  }
}

BOOST_AUTO_TEST_CASE(DefaultVariantsFitTheSmallestDeviceAndSpecialistsALargeOne) {
  for (const DeviceType type : all_device_types) {
    for (const Precision precision : all_precisions) {
      for (const std::uint32_t vector_bytes : {16U, 32U, 64U}) {
        for (const Params& p : default_variants(type, precision, vector_bytes)) check_admitted(p, smallest_device());
        for (const Params& p : specialists(type, precision, vector_bytes))
          check_admitted(p, device_named(type == DeviceType::cpu ? "PoCL" : "sm_90"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(DefaultTilesOfCpusUseTheVectorRegistersThatThereAre) {
  const std::map<std::uint32_t, std::uint32_t> registers = {{16, 32}, {32, 16}, {64, 32}};  // NEON, AVX2, AVX-512
  for (const auto& [vector_bytes, count] : registers) {
    for (const Precision precision : all_precisions) {
      for (const Params& p : default_variants(DeviceType::cpu, precision, vector_bytes)) {
        if (p.family != Family::register_tile) continue;
        BOOST_TEST(p.vector_width * real_bytes(precision) == vector_bytes);
        const std::uint32_t row = p.ns / p.vector_width;
        BOOST_TEST(p.ms * row + row < count, name(p));  // accumulators, a row of op(B), and one element of op(A)
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(DefaultVariantsCoverTwoFamiliesAndEveryTranspose) {
  for (const DeviceType type : all_device_types) {
    for (const Precision precision : all_precisions) {
      std::set<std::string> names, kinds;
      for (const Params& p : default_variants(type, precision)) {
        BOOST_TEST((p.precision == precision));
        names.insert(name(p));
        kinds.insert(std::string(name(p.family)) + (p.trans_a ? "-t" : "-n") + (p.trans_b ? "t" : "n"));
      }
      BOOST_TEST(names.size() == 12U);  // direct, and two of the family made for the device type
      BOOST_TEST(kinds.size() == 8U);
    }
  }
}
