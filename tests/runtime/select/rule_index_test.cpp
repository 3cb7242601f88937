// The index finds exactly the rule that looking at one rule after the other finds.
#include "select/rule_index.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <climits>
#include <random>

namespace clbake {
namespace {

using Rules = std::vector<cache::Rule>;

std::uint32_t first_that_fits(const Rules& rules, const Problem& p) {
  const auto fits = [&](const cache::Rule& r) {
    return r.precision == p.precision && r.trans_a == p.trans_a && r.trans_b == p.trans_b && r.m_min <= p.m &&
           p.m <= r.m_max && r.n_min <= p.n && p.n <= r.n_max && r.k_min <= p.k && p.k <= r.k_max &&
           r.batch_min <= p.batch && p.batch <= r.batch_max;
  };
  const auto found = std::find_if(rules.begin(), rules.end(), fits);
  return found == rules.end() ? RuleIndex::kNone : static_cast<std::uint32_t>(found - rules.begin());
}

// Bounds and sizes come from a few values and their neighbours, so that they meet often.
class Draw {
 public:
  Draw(unsigned seed, std::uint32_t bounds) : random_(seed) {
    values_ = {0, 1, INT_MAX, UINT32_MAX};
    for (std::uint32_t i = 0; i < bounds; ++i)
      values_.push_back(static_cast<std::uint32_t>(random_()) >> random_() % 32);
  }

  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

  Rules rules(std::size_t count) {
    Rules list(count);
    for (cache::Rule& r : list) {
      set_kind(r);
      range(r.m_min, r.m_max);
      range(r.n_min, r.n_max);
      range(r.k_min, r.k_max);
      range(r.batch_min, r.batch_max);
    }
    return list;
  }

  Problem problem() {
    Problem p;
    set_kind(p);
    for (std::size_t* size : {&p.m, &p.n, &p.k, &p.batch}) {
      const std::uint32_t near = value() + below(3) - 1;  // may wrap around
      *size = std::min<std::uint32_t>(near, INT_MAX);
    }
    return p;
  }

 private:
  std::uint32_t value() { return values_[below(static_cast<std::uint32_t>(values_.size()))]; }

  template <typename T>
  void set_kind(T& x) {
    x.precision = static_cast<Precision>(1 + below(3));
    x.trans_a = below(2) != 0;
    x.trans_b = below(2) != 0;
  }

  // One in four holds for any size, one in eight for none.
  void range(std::uint32_t& min, std::uint32_t& max) {
    if (below(4) == 0) return;
    min = value();
    max = value();
    if (below(8) != 0 && min > max) std::swap(min, max);
  }

  std::mt19937 random_;
  std::vector<std::uint32_t> values_;
};

// How many of the problems a rule fitted.
std::size_t compare(Draw& draw, const Rules& rules, std::size_t problems) {
  const RuleIndex index(rules);
  std::size_t found = 0;
  for (std::size_t i = 0; i < problems; ++i) {
    const Problem p = draw.problem();
    const std::uint32_t expected = first_that_fits(rules, p);
    const std::uint32_t actual = index.find(p);
    BOOST_REQUIRE_MESSAGE(actual == expected, actual << " instead of " << expected << " for " << p.m << " x " << p.n
                                                     << " x " << p.k << ", batch " << p.batch);
    found += expected == RuleIndex::kNone ? 0 : 1;
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(NoRulesFitNothing) {
  const RuleIndex index({});
  BOOST_TEST(index.find(Problem()) == RuleIndex::kNone);
}

BOOST_AUTO_TEST_CASE(TheFirstRuleThatFitsIsFound) {
  std::size_t fitted = 0, problems = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    Draw draw(seed, seed % 23);
    const std::size_t count = 1 + draw.below(seed % 10 == 0 ? 2000 : 60);
    BOOST_TEST_CONTEXT("seed " << seed) { fitted += compare(draw, draw.rules(count), 500); }
    problems += 500;
  }
  BOOST_TEST(fitted > problems / 10);  // the draws are worth something
  BOOST_TEST(fitted < problems * 9 / 10);
}

BOOST_AUTO_TEST_CASE(BothEndsOfARangeBelongToIt) {
  Rules rules(2);
  rules[0].m_min = 7;
  rules[0].m_max = 9;
  rules[1].batch_max = 0;
  const RuleIndex index(rules);
  Problem p;
  const auto at = [&](std::size_t m) {
    p.m = m;
    return index.find(p);
  };
  BOOST_TEST(at(6) == RuleIndex::kNone);
  BOOST_TEST(at(7) == 0U);
  BOOST_TEST(at(9) == 0U);
  BOOST_TEST(at(10) == RuleIndex::kNone);
  p.batch = 0;
  BOOST_TEST(at(10) == 1U);
}

BOOST_AUTO_TEST_CASE(HundredsOfRulesWithDifferentBoundsNeedNoScan) {
  Draw draw(5, 1000);
  Rules rules = draw.rules(250);
  for (cache::Rule& r : rules) r.precision = Precision::single_precision, r.trans_a = r.trans_b = false;
  BOOST_TEST(!RuleIndex(rules).scans(Problem()));
}

BOOST_AUTO_TEST_CASE(TooManyDifferentBoundsAreSearchedRuleByRule) {
  Draw draw(7, 100000);
  const Rules rules = draw.rules(20000);
  const RuleIndex index(rules);
  const Problem p;
  BOOST_TEST(index.scans(p));
  BOOST_TEST(compare(draw, rules, 300) > 0U);
}

}  // namespace clbake
