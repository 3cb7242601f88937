// Which variants a search is offered.
#include "tune/propose/proposals.hpp"
#include "build_fixture.hpp"

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

namespace clbake::builder::test {
namespace {

const GemmKind kTransposed{Precision::single_precision, true, false};

TuneOptions options_for(Strategy strategy) {
  TuneOptions options;
  options.devices = {made_up_device()};
  options.strategy = strategy;
  return options;
}

}  // namespace

BOOST_AUTO_TEST_CASE(SeedsAreAdmittedDifferentAndBeginWithTheDefaults) {
  const TuneOptions options = options_for(Strategy::staged);
  const TimingTable table;
  Proposals proposals(options, table);
  proposals.start(kTransposed);
  const std::vector<kernels::Params> defaults = proposals.defaults(kTransposed);
  const std::vector<kernels::Params> seeds = proposals.seeds(kTransposed);
  BOOST_REQUIRE(!defaults.empty());
  BOOST_REQUIRE(seeds.size() > defaults.size());
  std::set<std::string> names;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    BOOST_TEST(kernels::admits(options.devices[0].limits, seeds[i]));
    BOOST_TEST((seeds[i].kind() == kTransposed));
    BOOST_TEST(names.insert(kernels::name(seeds[i])).second, kernels::name(seeds[i]));
    BOOST_TEST(proposals.proposed(kernels::name(seeds[i])));
    if (i < defaults.size()) BOOST_TEST((seeds[i] == defaults[i]));
  }
}

BOOST_AUTO_TEST_CASE(NothingIsProposedTwiceAndAllIsOfTheShard) {
  for (const Strategy strategy : {Strategy::staged, Strategy::random, Strategy::exhaustive}) {
    TuneOptions options = options_for(strategy);
    options.shard = 2;
    options.shards = 3;
    TimingTable table;
    Proposals proposals(options, table);
    proposals.start(kTransposed);
    std::vector<std::uint32_t> elite;
    std::set<std::string> names;
    for (std::size_t i = 0; i < 40; ++i) {
      std::mt19937 random = generator(1, i);
      const bool near = i % 2 == 1;
      const std::optional<kernels::Params> p =
          near ? proposals.neighbour_of(elite, 3, random) : proposals.point(random);
      if (near && !p) continue;
      BOOST_REQUIRE(p.has_value());
      BOOST_TEST((p->kind() == kTransposed));
      BOOST_TEST(shard_of(*p, 3) == 2U);
      BOOST_TEST(names.insert(kernels::name(*p)).second, kernels::name(*p));
      elite = {table.variant(*p)};
    }
    BOOST_TEST(names.size() > 20U);
  }
}

BOOST_AUTO_TEST_CASE(RandomAndExhaustiveProposalsEndWithTheSpace) {
  for (const Strategy strategy : {Strategy::staged, Strategy::random, Strategy::exhaustive}) {
    TuneOptions options = options_for(strategy);
    options.families = {kernels::Family::direct};
    options.devices[0].limits.max_work_group_size = 1;
    options.shards = 12;
    const TimingTable table;
    Proposals proposals(options, table);
    proposals.start({});
    std::mt19937 random(1);
    std::size_t count = 0;
    while (proposals.point(random)) ++count;
    std::size_t all = 0;
    PointWalk walk(kernels::space(kernels::Family::direct), {}, options.devices[0].limits, random);
    while (const std::optional<kernels::Params> p = walk.next()) all += shard_of(*p, 12) == 1 ? 1 : 0;
    BOOST_TEST(count == all, name(strategy));
    BOOST_TEST(all > 10U);
  }
}

BOOST_AUTO_TEST_CASE(AFamilyMadeForTheDeviceIsDrawnMoreOften) {
  const TimingTable table;
  const auto draws_of_register_tile = [&](Strategy strategy, kernels::DeviceType type) {
    TuneOptions options = options_for(strategy);
    options.families = {kernels::Family::register_tile, kernels::Family::direct};
    options.devices[0].type = type;
    Proposals proposals(options, table);
    proposals.start({});
    std::size_t count = 0;
    for (std::size_t i = 0; i < 60; ++i) {
      std::mt19937 random = generator(1, i);
      count += proposals.point(random)->family == kernels::Family::register_tile ? 1 : 0;
    }
    return count;
  };
  const std::size_t on_cpus = draws_of_register_tile(Strategy::staged, kernels::DeviceType::cpu);
  const std::size_t on_gpus = draws_of_register_tile(Strategy::staged, kernels::DeviceType::gpu);
  const std::size_t unweighted = draws_of_register_tile(Strategy::random, kernels::DeviceType::cpu);
  BOOST_TEST(on_gpus > 0U);
  BOOST_TEST(on_gpus < unweighted);
  BOOST_TEST(unweighted < on_cpus);
  BOOST_TEST(on_cpus < 60U);
}

}  // namespace clbake::builder::test
