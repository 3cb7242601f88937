// The order in which variants are tried, their neighbours, and the parts of the space.
#include "tune/candidates.hpp"

#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder::test {
namespace {

using kernels::Family;

constexpr std::uint64_t kSeed = 7;

// Work-groups of one work-item leave some hundred points of a family, of eight some ten thousand.
kernels::DeviceLimits limits(std::uint64_t items) {
  kernels::DeviceLimits limits;
  limits.fp64 = true;
  limits.max_work_group_size = items;
  for (std::uint64_t& size : limits.max_work_item_sizes) size = items;
  limits.local_memory_bytes = 32768;
  return limits;
}

CandidateStream stream_of(Family family, const kernels::DeviceLimits& device, std::uint64_t seed = kSeed,
                          bool trans_a = false, bool trans_b = false) {
  return {family, Precision::single_precision, trans_a, trans_b, device, seed};
}

std::vector<std::string> names(CandidateStream stream, std::size_t most = SIZE_MAX) {
  std::vector<std::string> list;
  while (list.size() < most) {
    const std::optional<kernels::Params> p = stream.next();
    if (!p) break;
    list.push_back(kernels::name(*p));
  }
  return list;
}

// Without the transposes, which a stream does not vary.
kernels::Space untransposed(Family family) {
  kernels::Space space = kernels::space(family);
  for (kernels::Axis& axis : space.axes) {
    if (axis.parameter.name == "trans_a" || axis.parameter.name == "trans_b") axis.values = {0};
  }
  return space;
}

}  // namespace

BOOST_AUTO_TEST_CASE(EqualSeedsGiveEqualOrdersOthersOthers) {
  for (const Family family : kernels::all_families) {
    const kernels::DeviceLimits device = limits(256);
    const std::vector<std::string> order = names(stream_of(family, device), 200);
    BOOST_TEST(order.size() == 200U);
    BOOST_TEST((names(stream_of(family, device), 200) == order));
    for (const std::uint64_t seed : {kSeed + 1, kSeed + (std::uint64_t{1} << 32), std::uint64_t{0}}) {
      BOOST_TEST((names(stream_of(family, device, seed), 200) != order));
    }
  }
}

BOOST_AUTO_TEST_CASE(EveryAdmittedPointComesOnceWhateverTheSeed) {
  for (const auto& [family, items] : {std::pair{Family::direct, 1U}, std::pair{Family::direct, 8U}}) {
    const kernels::DeviceLimits device = limits(items);
    const std::uint64_t wanted = kernels::count(untransposed(family), Precision::single_precision, device).admitted;
    std::set<std::string> first;
    for (const std::uint64_t seed : {kSeed, kSeed + 1}) {
      const std::vector<std::string> list = names(stream_of(family, device, seed));
      const std::set<std::string> different(list.begin(), list.end());
      BOOST_TEST(list.size() == wanted);
      BOOST_TEST(different.size() == list.size());
      if (first.empty()) first = different;
      BOOST_TEST((different == first));
    }
    BOOST_TEST(wanted > 100U);
  }
}

BOOST_AUTO_TEST_CASE(PointsAreOfTheFamilyAndAdmittedAndHaveTheWantedTransposes) {
  const kernels::DeviceLimits device = limits(256);
  for (const Family family : kernels::all_families) {
    for (const bool a : {false, true}) {
      CandidateStream stream = stream_of(family, device, kSeed, a, !a);
      for (int i = 0; i < 100; ++i) {
        const std::optional<kernels::Params> p = stream.next();
        BOOST_REQUIRE(p.has_value());
        BOOST_TEST((p->family == family && p->trans_a == a && p->trans_b == !a));
        BOOST_TEST(kernels::admits(device, *p), kernels::name(*p));
        BOOST_TEST(kernels::contains(kernels::space(family), *p), kernels::name(*p));
      }
    }
  }
}

// Of most families there are too many points to go through: random ones instead.
BOOST_AUTO_TEST_CASE(WhatADeviceAdmitsHasABlockingOfTheStream) {
  for (const Family family : kernels::all_families) {
    for (const Precision precision : {Precision::half_precision, Precision::single_precision}) {
      for (const std::uint64_t items : {64U, 256U}) {
        const kernels::DeviceLimits device = limits(items);
        const Blockings blockings(kernels::space(family), precision, device);
        std::set<std::vector<std::uint32_t>> known;
        const auto values = [](const kernels::Params& p) {
          return std::vector<std::uint32_t>{p.vector_width, p.ns, p.nl, p.ms, p.ml};
        };
        for (std::size_t i = 0; i < blockings.size(); ++i) {
          kernels::Params p;
          blockings.set(i, p);
          known.insert(values(p));
        }
        BOOST_TEST(known.size() == blockings.size());
        std::mt19937 random = generator(kSeed, items);
        for (int i = 0; i < 500; ++i) {
          const std::optional<kernels::Params> p = kernels::draw(family, precision, random, device);
          BOOST_REQUIRE(p.has_value());
          BOOST_TEST(known.count(values(*p)) == 1U, kernels::name(*p));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(AStreamWithoutAdmittedPointsEnds) {
  kernels::DeviceLimits device = limits(1);
  device.fp64 = false;
  CandidateStream stream(Family::direct, Precision::double_precision, false, false, device, kSeed);
  BOOST_TEST(!stream.next().has_value());
  BOOST_TEST(!stream.next().has_value());
}

BOOST_AUTO_TEST_CASE(NeighboursAreAdmittedAndDifferALittle) {
  const kernels::DeviceLimits device = limits(256);
  for (const Family family : kernels::all_families) {
    CandidateStream stream = stream_of(family, device, kSeed, true, false);
    std::mt19937 random = generator(kSeed, 1);
    for (int i = 0; i < 50; ++i) {
      const kernels::Params from = *stream.next();
      const std::optional<kernels::Params> to = neighbour(from, device, random);
      if (!to) continue;  // few points are so lonely
      BOOST_TEST(!(*to == from));
      BOOST_TEST(kernels::admits(device, *to), kernels::name(*to));
      BOOST_TEST((to->family == family && to->trans_a && !to->trans_b && to->precision == from.precision));
      std::size_t changed = 0;
      for (const kernels::Parameter& p : kernels::parameters()) changed += p.get(from) != p.get(*to) ? 1 : 0;
      BOOST_TEST(changed >= 1U);
      BOOST_TEST(changed <= 3U);
    }
  }
}

BOOST_AUTO_TEST_CASE(NearlyEveryPointHasANeighbour) {
  const kernels::DeviceLimits device = limits(256);
  for (const Family family : kernels::all_families) {
    CandidateStream stream = stream_of(family, device);
    std::mt19937 random = generator(kSeed, 2);
    int found = 0;
    for (int i = 0; i < 100; ++i) found += neighbour(*stream.next(), device, random) ? 1 : 0;
    BOOST_TEST(found >= 95, kernels::name(family));
  }
}

BOOST_AUTO_TEST_CASE(APointWithoutNeighboursHasNone) {
  kernels::DeviceLimits device = limits(1);
  device.fp64 = false;
  kernels::Params p;
  p.precision = Precision::double_precision;  // which the device lacks
  std::mt19937 random = generator(kSeed, 3);
  BOOST_TEST(!neighbour(p, device, random).has_value());
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
  const std::vector<std::string> all = names(stream_of(Family::direct, limits(8)));
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

// Profiles of machines that run other versions are merged: what a shard is must not change.
BOOST_AUTO_TEST_CASE(ShardsAreThoseOfEarlierVersions) {
  const auto shard = [](const char* name, std::uint32_t shards) {
    return shard_of(std::get<kernels::Params>(kernels::parse(name)), shards);
  };
  BOOST_TEST(shard("direct-s-nn-4x16x1-4x16x1-v16", 5) == 4U);
  BOOST_TEST(shard("register_tile-d-tn-60x128x512-6x32x1-v8", 64) == 47U);
}

}  // namespace clbake::builder::test
