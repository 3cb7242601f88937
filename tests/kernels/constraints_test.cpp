// The constraints: CONSTRAINTS.md has a row for each, with a point that breaks it and what `check` says of it. The page
// is the list of cases, and so in step with the code.

#include <clbake/kernels/constraints.hpp>
#include <clbake/kernels/defaults.hpp>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <set>
#include <string>

using clbake::all_precisions;
using clbake::Precision;
using namespace clbake::kernels;

namespace {

// The least local memory that OpenCL 1.2 allows, and a work-group size that every driver offers.
DeviceLimits smallest_device() { return {true, 256, {256, 256, 64}, 32768, true}; }

// The devices of the page by name.
DeviceLimits device_named(const std::string& name) {
  DeviceLimits device = smallest_device();
  if (name == "GPU") return device;
  if (name == "bare") {  // no doubles, no images, flat work-groups
    device.fp64 = device.images = false;
    device.max_work_item_sizes[1] = 8;
    return device;
  }
  device.max_work_group_size = device.max_work_item_sizes[0] = device.max_work_item_sizes[1] = 1024;
  device.local_memory_bytes = name == "PoCL" ? 1 << 20 : 49152;
  if (name == "sm_80") set_nvidia_limits(device, 80);
  if (name == "sm_90") set_nvidia_limits(device, 90);
  return device;
}

Params point(const std::string& name) {
  const auto read = parse(name);
  if (const std::string* refusal = std::get_if<std::string>(&read)) throw std::runtime_error(*refusal);
  return std::get<Params>(read);
}

Params local_tile() { return point("local_tile-s-nn-64x64x16-4x4x1-v4"); }
Params stripe() { return point("stripe-s-nn-64x64x16-4x8x4-v4"); }

// p has exactly one violation, and its reason contains all `texts`.
void check_violated(const Params& p, const DeviceLimits& device, std::string_view constraint,
                    std::initializer_list<const char*> texts) {
  const std::vector<Violation> violations = check(p, device);
  BOOST_REQUIRE_EQUAL(violations.size(), 1U);
  BOOST_TEST(violations[0].constraint == constraint);
  for (const char* text : texts) {
    BOOST_TEST(violations[0].reason.find(text) != std::string::npos, violations[0].reason << " lacks " << text);
  }
}

// The cells of a row of a Markdown table, without spaces and backquotes around them.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t at = 1; at < line.size();) {
    const std::size_t end = line.find('|', at);
    const std::string cell = line.substr(at, end - at);
    const std::size_t first = cell.find_first_not_of(" `");
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(" `") + 1 - first));
    at = end == std::string::npos ? line.size() : end + 1;
  }
  return cells;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ThePageSaysWhatCheckSays) {
  std::ifstream page(CLBAKE_CONSTRAINTS_PAGE);
  BOOST_REQUIRE(page.good());
  std::set<std::string> named;
  for (std::string line; std::getline(page, line);) {
    const std::vector<std::string> cells = cells_of(line);
    if (line.rfind("| `", 0) != 0 || cells.size() < 4) continue;
    named.insert(cells[0]);
    const DeviceLimits device = device_named(cells[2]);
    const Params p = point(cells[1]);
    const std::vector<Violation> violations = check(p, device);
    BOOST_TEST(!admits(device, p), cells[1]);
    BOOST_REQUIRE_MESSAGE(!violations.empty(), cells[1] << " breaks nothing on " << cells[2]);
    BOOST_TEST(violations.size() == 1U, cells[1]);
    BOOST_TEST((violations[0].constraint == cells[0] && violations[0].reason == cells[3]),
               "the page's row should be\n| `" << violations[0].constraint << "` | `" << cells[1] << "` | " << cells[2]
                                               << " | " << violations[0].reason << " |");
  }
  const std::set<std::string> all = {
      "range",          "family",    "precision", "vector-width", "divisibility",    "rounding",         "registers",
      "private-memory", "unrolling", "map",       "exchange",     "work-group-size", "work-group-width", "local-memory",
      "image",          "front-end", "thin",      "warp",         "warpgroup",       "work-item-sizes"};
  BOOST_TEST((named == all));
}

BOOST_AUTO_TEST_CASE(ValidPointsHaveNoViolation) {
  const std::pair<const char*, const char*> valid[] = {
      {"GPU", "direct-s-nn-1x1x8-1x1x1-v1"},
      {"GPU", "register_tile-s-nn-60x128x512-6x64x1-v16"},
      {"GPU", "register_tile-h-nn-60x128x512-6x64x1-v16-split2"},
      {"sm_80", "register_tile-s-nn-60x128x128-6x64x1-v16"},
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
      {"sm_90", "warpgroup_tile-h-nn-128x256x64-2x64x1-v8-buffers4"},
      {"sm_90", "warpgroup_tile-h-nn-128x256x64-2x64x1-v8-split0-buffers4"},
      {"sm_90", "warpgroup_tile-h-nn-320x64x64-2x16x1-v8-buffers3"},
      {"sm_90", "warpgroup_tile-h-nn-64x64x64-2x16x1-v8-buffers3-tensor"},
      {"sm_90", "warpgroup_tile-h-nn-64x64x128-2x16x1-v8-buffers3"},
      {"sm_90", "warpgroup_tile-h-nn-32x32x64-2x8x1-v8-buffers3"},
      {"sm_90", "warpgroup_tile-h-nn-64x32x128-2x8x1-v8-split0-buffers3"}};
  for (const auto& [device, name] : valid) {
    for (const Violation& violation : check(point(name), device_named(device))) {
      BOOST_ERROR(name << ": " << violation.reason);
    }
    BOOST_TEST(admits(device_named(device), point(name)), name);
  }
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

BOOST_AUTO_TEST_CASE(LimitsFollowFromTheArchitecture) {
  for (const std::uint32_t ptx : {80U, 90U, 100U}) {
    DeviceLimits limits = smallest_device();
    set_nvidia_limits(limits, ptx);
    BOOST_TEST(limits.ptx == ptx);
    BOOST_TEST(limits.warpgroups == (ptx == 90));
    BOOST_TEST(limits.private_memory_bytes < smallest_device().private_memory_bytes);
  }
}

BOOST_AUTO_TEST_CASE(EveryFactorOutOfRangeIsListed) {
  Params p;
  p.ml = p.nl = p.kl = p.ms = p.ns = p.ks = p.vector_width = 0;
  BOOST_TEST(check(p, smallest_device()).size() == 7U);
}

BOOST_AUTO_TEST_CASE(PaddingDoesNotOverflow) {
  Params p = local_tile();
  p.padding = 4294967232U;
  check_violated(p, smallest_device(), "range", {"padding is 4294967232", "32768"});
}

BOOST_AUTO_TEST_CASE(ClangHasNoImages) {
  DeviceLimits nvidia = smallest_device();
  nvidia.ptx = 86;
  for (Layout Params::*layout : {&Params::layout_a, &Params::layout_b}) {
    Params p = stripe();
    p.*layout = Layout::image;
    BOOST_TEST(check(p, nvidia).empty());
    p.front_end = FrontEnd::clang;
    check_violated(p, nvidia, "front-end", {"image", "clang"});
  }
}

BOOST_AUTO_TEST_CASE(NeighboursExchangeWhereTheDeviceCan) {
  Params p = local_tile();
  p.exchange = true;
  check_violated(p, smallest_device(), "exchange", {"cl_khr_subgroup_shuffle"});
  DeviceLimits device = smallest_device();
  device.shuffle = true;
  BOOST_TEST(check(p, device).empty());
  DeviceLimits nvidia = smallest_device();
  nvidia.ptx = 30;
  BOOST_TEST(check(p, nvidia).empty());
  p.precision = Precision::double_precision;
  check_violated(p, device, "exchange", {"32 bits"});
  p.precision = Precision::half_precision;
  p.map = Map::zigzag;
  check_violated(p, device, "exchange", {"map blocked or cyclic"});
  p.map = Map::cyclic;
  p.ml = 48;
  p.ms = 3;
  check_violated(p, device, "exchange", {"ms = 3"});
}

BOOST_AUTO_TEST_CASE(ImagesNeedADeviceThatHasThem) {
  Params p = stripe();
  p.layout_b = Layout::image;
  BOOST_TEST(check(p, smallest_device()).empty());
  DeviceLimits device = smallest_device();
  device.images = false;
  check_violated(p, device, "image", {"B", "the device has none"});
}

BOOST_AUTO_TEST_CASE(PackAndReduceKernelsNeedTheirWorkGroup) {
  DeviceLimits device = smallest_device();
  device.max_work_group_size = 32;
  Params p;
  p.split_k = 2;
  check_violated(p, device, "work-group-size", {"64 work-items", "limit 32"});
  device.max_work_group_size = 128;
  Params packed = local_tile();
  packed.ml = packed.nl = 32;
  packed.layout_a = Layout::padded;
  check_violated(packed, device, "work-group-size", {"256 work-items", "limit 128"});
}

BOOST_AUTO_TEST_CASE(WorkGroupFitsEachDimension) {
  DeviceLimits device = smallest_device();
  device.max_work_item_sizes[1] = 8;
  check_violated(local_tile(), device, "work-item-sizes", {"16 work-items", "dimension 1", "limit 8"});
}

BOOST_AUTO_TEST_CASE(AdmitsSaysTheSameAsCheck) {
  Params p = local_tile();
  for (const std::uint32_t ml : {1U, 16U, 60U, 64U, 128U, 4096U, 0U}) {
    for (const std::uint32_t ms : {1U, 3U, 4U, 8U, 64U}) {
      p.ml = ml;
      p.ms = ms;
      BOOST_TEST(admits(smallest_device(), p) == check(p, smallest_device()).empty(), name(p));
    }
  }
}

BOOST_AUTO_TEST_CASE(DefaultVariantsFitTheSmallestDevice) {
  for (const DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
    for (const Precision precision : all_precisions) {
      for (const std::uint32_t vector_bytes : {16U, 32U, 64U}) {
        for (const Params& p : default_variants(kind, precision, vector_bytes)) {
          for (const Violation& violation : check(p, smallest_device())) {
            BOOST_ERROR(name(p) << ": " << violation.reason);
          }
        }
      }
    }
  }
}

// The others are left out where they do not fit.
BOOST_AUTO_TEST_CASE(SpecialistsFitALargeDevice) {
  DeviceLimits large = smallest_device();
  large.max_work_group_size = 1024;
  for (auto& size : large.max_work_item_sizes) size = 1024;
  large.local_memory_bytes = 49152;
  large.ptx = 90;
  large.warpgroups = true;
  for (const DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
    for (const Precision precision : all_precisions) {
      for (const Params& p : specialists(kind, precision)) {
        for (const Violation& violation : check(p, large)) BOOST_ERROR(name(p) << ": " << violation.reason);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(DefaultVariantsCoverTwoFamiliesAndEveryTranspose) {
  for (const DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
    for (const Precision precision : all_precisions) {
      std::set<std::string> names;
      std::set<std::string> kinds;
      const std::vector<Params> variants = default_variants(kind, precision);
      for (const Params& p : variants) {
        BOOST_TEST((p.precision == precision));
        names.insert(name(p));
        kinds.insert(std::string(name(p.family)) + (p.trans_a ? "-t" : "-n") + (p.trans_b ? "t" : "n"));
      }
      BOOST_TEST(variants.size() == 12U);  // direct, and two of the family made for the device type
      BOOST_TEST(names.size() == 12U);
      BOOST_TEST(kinds.size() == 8U);
    }
  }
}
