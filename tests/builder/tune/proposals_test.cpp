// Which variants a search is offered.
#include "tune/propose/proposals.hpp"
#include "build_fixture.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {
namespace {

using namespace tune;

const GemmKind kTransposed{Precision::single_precision, true, false};

struct Fixture {
  explicit Fixture(Strategy strategy) {
    options.devices = {made_up_device()};
    options.strategy = strategy;
  }
  TuneOptions options;
  TuneClock clock{0};
  std::function<void(const TuneProgress&)> progress;
  Results results{clock, progress};
  Proposals proposals{options, results};
};

}  // namespace

BOOST_AUTO_TEST_CASE(SeedsAreAdmittedDifferentAndBeginWithTheDefaults) {
  Fixture f(Strategy::staged);
  const std::vector<kernels::Params> defaults = f.proposals.defaults(kTransposed);
  const std::vector<kernels::Params> seeds = f.proposals.seeds(kTransposed);
  BOOST_REQUIRE(!defaults.empty());
  BOOST_REQUIRE(seeds.size() > defaults.size());
  std::set<std::string> names;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    BOOST_TEST(kernels::admits(f.options.devices[0].limits, seeds[i]));
    BOOST_TEST((seeds[i].kind() == kTransposed));
    BOOST_TEST(names.insert(kernels::name(seeds[i])).second, kernels::name(seeds[i]));
    if (i < defaults.size()) BOOST_TEST((seeds[i] == defaults[i]));
  }
}

BOOST_AUTO_TEST_CASE(AFamilyWithoutKnownPointsBeginsWithRandomOnes) {
  Fixture f(Strategy::staged);
  f.options.families = {kernels::Family::stripe};
  f.options.devices[0].limits.local_memory_bytes = 32768;
  const std::vector<kernels::Params> seeds = f.proposals.seeds(kTransposed);
  BOOST_TEST(!seeds.empty());
  for (const kernels::Params& p : seeds) BOOST_TEST((p.family == kernels::Family::stripe));
}

BOOST_AUTO_TEST_CASE(NothingIsProposedTwiceAndAllIsOfTheShard) {
  for (const Strategy strategy : {Strategy::staged, Strategy::exhaustive}) {
    Fixture f(strategy);
    f.options.shard = 2;
    f.options.shards = 3;
    std::vector<kernels::Params> list = f.proposals.seeds(kTransposed);
    std::vector<std::uint32_t> elite = {f.results.variant(f.proposals.defaults(kTransposed).front())};
    for (std::size_t i = 0; i < 40; ++i) {
      std::mt19937 random = generator(1, i);
      const std::optional<kernels::Params> p = f.proposals.next(kTransposed, elite, random);
      if (!p) continue;
      list.push_back(*p);
      elite.push_back(f.results.variant(*p));
    }
    BOOST_TEST(list.size() > 10U);
    std::set<std::string> names;
    for (const kernels::Params& p : list) {
      BOOST_TEST((p.kind() == kTransposed));
      BOOST_TEST(shard_of(p, 3) == 2U);
      BOOST_TEST(names.insert(kernels::name(p)).second, kernels::name(p));
    }
  }
}

BOOST_AUTO_TEST_CASE(AnExhaustiveSearchEndsWithTheSpace) {
  Fixture f(Strategy::exhaustive);
  f.options.families = {kernels::Family::direct};
  f.options.devices[0].limits.max_work_group_size = 1;
  f.options.shards = 12;
  std::mt19937 random(1);
  std::size_t count = 0;
  while (f.proposals.next({}, {}, random)) ++count;
  std::size_t all = 0;
  PointWalk walk(kernels::space(kernels::Family::direct), {}, f.options.devices[0].limits, random);
  while (const std::optional<kernels::Params> p = walk.next()) all += shard_of(*p, 12) == 1 ? 1 : 0;
  BOOST_TEST(count == all);
  BOOST_TEST(all > 10U);
}

}  // namespace clbake::builder::test
