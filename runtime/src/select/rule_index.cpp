#include "select/rule_index.hpp"

#include <algorithm>

namespace clbake {
namespace {

// The interval of a value: how many of the starts are not above it.
std::size_t interval(const std::vector<std::uint32_t>& starts, std::uint32_t value) {
  // A search whose only branch is the loop's: which way it turns cannot be guessed.
  const std::uint32_t* first = starts.data();
  std::size_t count = starts.size();
  while (count > 1) {
    const std::size_t half = count / 2;
    first += half * static_cast<std::size_t>(first[half - 1] <= value);
    count -= half;
  }
  const std::size_t last = count == 1 && *first <= value ? 1 : 0;
  return static_cast<std::size_t>(first - starts.data()) + last;
}

std::uint32_t lowest_bit(std::uint64_t word) { return static_cast<std::uint32_t>(__builtin_ctzll(word)); }

constexpr std::size_t kWordBits = 64;

}  // namespace

std::size_t RuleIndex::number_of_kind(const GemmKind& kind) {
  return (static_cast<std::size_t>(kind.precision) - 1) * 4 + (kind.trans_a ? 2U : 0U) + (kind.trans_b ? 1U : 0U);
}

RuleIndex::RuleIndex(const std::vector<cache::Rule>& rules) {
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    const cache::Rule& r = rules[i];
    const std::array<Range, kSizes> ranges = {
        {{r.m_min, r.m_max}, {r.n_min, r.n_max}, {r.k_min, r.k_max}, {r.batch_min, r.batch_max}}};
    kinds_[number_of_kind(r)].rules.push_back({ranges, i});
  }
  for (RulesOfKind& kind : kinds_) kind.build();
}

void RuleIndex::RulesOfKind::build() {
  words = (rules.size() + kWordBits - 1) / kWordBits;
  std::size_t total = 0;  // words
  for (std::size_t s = 0; s < kSizes; ++s) {
    std::vector<std::uint32_t>& starts = sizes[s].starts;
    for (const KindRule& rule : rules) {
      if (rule.ranges[s].min > 0) starts.push_back(rule.ranges[s].min);
      if (rule.ranges[s].max < UINT32_MAX) starts.push_back(rule.ranges[s].max + 1);
    }
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    sizes[s].first_set = total;
    total += (starts.size() + 1) * words;
  }
  if (total * sizeof(std::uint64_t) > kMaxBytes) {
    sizes = {};
    return;
  }
  bits.resize(total);
  for (std::size_t r = 0; r < rules.size(); ++r) {
    const std::uint64_t bit = std::uint64_t{1} << r % kWordBits;
    for (std::size_t s = 0; s < kSizes; ++s) {
      const Range range = rules[r].ranges[s];
      const std::size_t last = range.min > range.max ? 0 : interval(sizes[s].starts, range.max) + 1;
      for (std::size_t i = interval(sizes[s].starts, range.min); i < last; ++i) {
        bits[sizes[s].first_set + i * words + r / kWordBits] |= bit;
      }
    }
  }
}

std::uint32_t RuleIndex::RulesOfKind::find(const std::array<std::uint32_t, kSizes>& at) const {
  const auto set_of = [&](std::size_t s) {
    return bits.data() + sizes[s].first_set + interval(sizes[s].starts, at[s]) * words;
  };
  const std::uint64_t* m = set_of(0);
  const std::uint64_t* n = set_of(1);
  const std::uint64_t* k = set_of(2);
  const std::uint64_t* batch = set_of(3);
  for (std::size_t w = 0; w < words; ++w) {
    const std::uint64_t fit = m[w] & n[w] & k[w] & batch[w];
    if (fit != 0) return rules[w * kWordBits + lowest_bit(fit)].number;
  }
  return kNone;
}

std::uint32_t RuleIndex::RulesOfKind::scan(const std::array<std::uint32_t, kSizes>& at) const {
  for (const KindRule& rule : rules) {
    bool fits = true;
    for (std::size_t s = 0; s < kSizes; ++s) fits = fits && rule.ranges[s].min <= at[s] && at[s] <= rule.ranges[s].max;
    if (fits) return rule.number;
  }
  return kNone;
}

std::uint32_t RuleIndex::find(const Problem& p) const {
  const auto narrow = [](std::size_t size) { return static_cast<std::uint32_t>(size); };  // at most 2^31 - 1
  const std::array<std::uint32_t, kSizes> at = {narrow(p.m), narrow(p.n), narrow(p.k), narrow(p.batch)};
  const RulesOfKind& kind = kind_of(p);
  return kind.bits.empty() ? kind.scan(at) : kind.find(at);
}

}  // namespace clbake
