// The walk through the points of a device, neighbours of points, and the shards of the space.
#include "tune/propose/candidates.hpp"

#include "random_point.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder::test {
namespace {

using namespace tune;

using kernels::Family;

constexpr std::uint64_t kSeed = 7;

// All but thin_tile, warp_tile and warpgroup_tile, which have only some thousand points, for some devices of NVIDIA's.
constexpr Family kForAllDevices[] = {Family::direct, Family::register_tile, Family::local_tile, Family::stripe};

// Work-groups of one work-item leave some hundred points of a family, of eight some ten thousand.
kernels::DeviceLimits limits(std::uint64_t items) {
  kernels::DeviceLimits limits;
  limits.fp64 = true;
  limits.max_work_group_size = items;
  for (std::uint64_t& size : limits.max_work_item_sizes) size = items;
  limits.local_memory_bytes = 32768;
  return limits;
}

PointWalk walk_of(Family family, const kernels::DeviceLimits& device, std::uint64_t seed = kSeed, bool trans_a = false,
                  bool trans_b = false) {
  std::mt19937 random = generator(seed, 0);
  return {kernels::space(family), {Precision::single_precision, trans_a, trans_b}, device, random};
}

std::vector<std::string> names(PointWalk walk, std::size_t most = SIZE_MAX) {
  std::vector<std::string> list;
  while (list.size() < most) {
    const std::optional<kernels::Params> p = walk.next();
    if (!p) break;
    list.push_back(kernels::name(*p));
  }
  return list;
}

// The first points of walks with different seeds: random points.
std::vector<kernels::Params> random_points(Family family, const kernels::DeviceLimits& device, std::size_t count,
                                           bool trans_a = false, bool trans_b = false) {
  std::vector<kernels::Params> list;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    const std::optional<kernels::Params> p = walk_of(family, device, seed, trans_a, trans_b).next();
    BOOST_REQUIRE(p.has_value());
    list.push_back(*p);
  }
  return list;
}

// Every point that `admits` lets through, with the transposes n, which a walk does not vary.
void add_admitted(const kernels::Space& space, std::size_t axis, kernels::Params& p,
                  const kernels::DeviceLimits& device, std::set<std::string>& found) {
  if (axis == space.axes.size()) {
    if (kernels::admits(device, p)) found.insert(kernels::name(p));
    return;
  }
  const kernels::Axis& values = space.axes[axis];
  for (const std::uint32_t value : values.values) {
    values.parameter.set(p, value);
    add_admitted(space, axis + 1, p, device, found);
  }
}

std::set<std::string> admitted(const kernels::Space& space, Precision precision, const kernels::DeviceLimits& device) {
  std::set<std::string> found;
  kernels::Params p;
  p.family = space.family;
  p.precision = precision;
  add_admitted(space, 0, p, device, found);
  return found;
}

// At most `most` values of each axis, spread over all of them.
kernels::Space thinned(Family family, std::size_t most) {
  kernels::Space space = kernels::space(family);
  for (kernels::Axis& axis : space.axes) {
    std::vector<std::uint32_t> values;
    const std::size_t all = axis.values.size();
    for (std::size_t i = 0; i < std::min(most, all); ++i) values.push_back(axis.values[i * all / std::min(most, all)]);
    axis.values = values;
  }
  return space;
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryAdmittedPointComesOnceWhateverTheSeed) {
  const kernels::Space space = thinned(Family::direct, 5);
  for (const std::uint64_t items : {8U, 64U}) {
    const kernels::DeviceLimits device = limits(items);
    const std::set<std::string> wanted = admitted(space, Precision::single_precision, device);
    for (const std::uint64_t seed : {kSeed, kSeed + 1}) {
      std::mt19937 random = generator(seed, 0);
      const std::vector<std::string> list =
          names(PointWalk(space, {Precision::single_precision, false, false}, device, random));
      BOOST_TEST(list.size() == wanted.size());
      BOOST_TEST((std::set<std::string>(list.begin(), list.end()) == wanted));
    }
    BOOST_TEST(wanted.size() > 100U);
  }
}

BOOST_AUTO_TEST_CASE(SeedsDecideTheOrder) {
  const std::vector<std::string> order = names(walk_of(Family::direct, limits(256)), 200);
  BOOST_TEST((names(walk_of(Family::direct, limits(256)), 200) == order));
  BOOST_TEST((names(walk_of(Family::direct, limits(256), kSeed + (std::uint64_t{1} << 32)), 200) != order));
}

BOOST_AUTO_TEST_CASE(APrecisionThatTheDeviceLacksHasNoPoints) {
  kernels::DeviceLimits device = limits(1);
  device.fp64 = false;
  std::mt19937 random = generator(kSeed, 0);
  kernels::Params p;
  p.precision = Precision::double_precision;
  PointWalk walk(kernels::space(Family::direct), p.kind(), device, random);
  BOOST_TEST(!walk.next().has_value());
  BOOST_TEST(!walk.next().has_value());
  BOOST_TEST(!neighbour(p, device, random).has_value());
}

// Most families have too many points to walk through all: random ones instead, in spaces with few others.
BOOST_AUTO_TEST_CASE(NoAdmittedPointIsLeftOut) {
  for (const Family family : kForAllDevices) {
    for (const Precision precision : {Precision::half_precision, Precision::single_precision}) {
      for (const std::uint64_t items : {64U, 256U}) {
        const kernels::DeviceLimits device = limits(items);
        std::mt19937 random = generator(kSeed, items);
        for (int i = 0; i < 200; ++i) {
          const std::optional<kernels::Params> wanted = tests::random_point(family, precision, random, device);
          BOOST_REQUIRE(wanted.has_value());
          kernels::Space space = kernels::space(family);
          for (kernels::Axis& axis : space.axes) {
            const bool whole = axis.parameter.name == "kl" || axis.parameter.name == "split_k";
            if (!whole) axis.values = {axis.parameter.get(*wanted)};
          }
          const std::vector<std::string> list = names(PointWalk(space, wanted->kind(), device, random));
          BOOST_TEST((std::find(list.begin(), list.end(), kernels::name(*wanted)) != list.end()),
                     kernels::name(*wanted));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(FamiliesForMatrixUnitsAreFoundWhereTheDeviceHasThem) {
  const std::pair<Family, Precision> families[] = {{Family::warpgroup_tile, Precision::half_precision},
                                                   {Family::thin_tile, Precision::half_precision},
                                                   {Family::warp_tile, Precision::double_precision}};
  for (const auto& [family, precision] : families) {
    kernels::DeviceLimits device = limits(1024);
    const GemmKind kind = {precision, false, false};
    std::mt19937 random = generator(kSeed, 0);
    BOOST_TEST(!PointWalk(kernels::space(family), kind, device, random).next().has_value());
    device.warpgroups = true;
    device.ptx = 90;
    const kernels::Space space = thinned(family, 4);
    const std::set<std::string> wanted = admitted(space, precision, device);
    const std::vector<std::string> list = names(PointWalk(space, kind, device, random));
    BOOST_TEST(list.size() == wanted.size());
    BOOST_TEST((std::set<std::string>(list.begin(), list.end()) == wanted));
    BOOST_TEST(wanted.size() > 50U, kernels::name(family));
  }
}

BOOST_AUTO_TEST_CASE(NeighboursAreAdmittedAndDifferALittle) {
  const kernels::DeviceLimits device = limits(256);
  for (const Family family : kForAllDevices) {
    std::mt19937 random = generator(kSeed, 1);
    int found = 0;
    for (const kernels::Params& from : random_points(family, device, 100, true, false)) {
      const std::optional<kernels::Params> to = neighbour(from, device, random);
      if (!to) continue;
      ++found;
      BOOST_TEST(!(*to == from));
      BOOST_TEST(kernels::admits(device, *to), kernels::name(*to));
      BOOST_TEST((to->family == family && to->kind() == from.kind()));
      std::size_t changed = 0;
      for (const kernels::Parameter& p : kernels::parameters()) changed += p.get(from) != p.get(*to) ? 1 : 0;
      BOOST_TEST(changed >= 1U);
      BOOST_TEST(changed <= 3U);
    }
    BOOST_TEST(found >= 95, kernels::name(family));
  }
}

BOOST_AUTO_TEST_CASE(GeneratorsDifferWithSeedAndNumber) {
  std::set<std::mt19937::result_type> first;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::uint64_t number = 0; number < 20; ++number) first.insert(generator(seed, number)());
  }
  BOOST_TEST(first.size() == 400U);
  BOOST_TEST(generator(3, 4)() == generator(3, 4)());
}

BOOST_AUTO_TEST_CASE(ShardsAreAPartitionInPartsOfAboutEqualSize) {
  const std::vector<std::string> all = names(walk_of(Family::direct, limits(8)));
  for (const std::uint32_t shards : {1U, 2U, 3U, 7U}) {
    std::map<std::uint32_t, std::size_t> sizes;
    for (const std::string& name : all) ++sizes[shard_of(std::get<kernels::Params>(kernels::parse(name)), shards)];
    BOOST_TEST(sizes.size() == shards);
    BOOST_TEST(sizes.begin()->first == 1U);
    BOOST_TEST(sizes.rbegin()->first == shards);
    for (const auto& [shard, size] : sizes) {
      BOOST_TEST(size * shards * 10 > all.size() * 8, "shard " << shard << " of " << shards << " has " << size);
    }
  }
}

// Profiles made by other versions are merged: which shard a variant belongs to must not change.
BOOST_AUTO_TEST_CASE(ShardsAreThoseOfEarlierVersions) {
  const auto shard = [](const char* name, std::uint32_t shards) {
    return shard_of(std::get<kernels::Params>(kernels::parse(name)), shards);
  };
  BOOST_TEST(shard("direct-s-nn-4x16x1-4x16x1-v16", 5) == 4U);
  BOOST_TEST(shard("register_tile-d-tn-60x128x512-6x32x1-v8", 64) == 47U);
}

}  // namespace clbake::builder::test
