// Which rule of a profile fits a problem, without looking at one rule after the other.
#pragma once

#include <clbake/clbake.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clbake {

// For each kind of problem (precision, transposes) and each of m, n, k and batch: the bounds that its rules mention,
// sorted, and for each interval between two of them a set of bits, one for each rule that holds there. The rule for a
// problem is the first one whose bit is set in all four of its intervals. The size of the sets is limited: a kind with
// too many rules with too many different bounds is searched rule by rule.
class RuleIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 18;  // of the sets of one kind

  // Sorts the rules' bounds; fills sets up to the limit. The rules are of known precisions, as a bundle's are.
  explicit RuleIndex(const std::vector<cache::Rule>& rules);

  // The first of the rules that fits a row-major problem, or kNone. The problem's sizes must be possible (`check`).
  std::uint32_t find(const Problem& problem) const;

  // Whether the problem's kind is searched rule by rule.
  bool scans(const Problem& problem) const { return kind_of(problem).bits.empty(); }

 private:
  static constexpr std::size_t kSizes = 4;  // m, n, k, batch

  struct Range {
    std::uint32_t min, max;
  };
  struct KindRule {
    std::array<Range, kSizes> ranges;
    std::uint32_t number;  // in the profile
  };
  // Interval i of a size begins at starts[i - 1] (interval 0 at 0) and its set is at first_set + i * words.
  struct Size {
    std::vector<std::uint32_t> starts;
    std::size_t first_set = 0;
  };
  struct RulesOfKind {
    std::vector<KindRule> rules;
    std::array<Size, kSizes> sizes;
    std::size_t words = 0;            // of one set
    std::vector<std::uint64_t> bits;  // the sets of all sizes; empty: too large, or no rules
    void build();
    std::uint32_t find(const std::array<std::uint32_t, kSizes>& at) const;
    std::uint32_t scan(const std::array<std::uint32_t, kSizes>& at) const;
  };

  static std::size_t number_of_kind(const GemmKind& kind);
  const RulesOfKind& kind_of(const Problem& p) const { return kinds_[number_of_kind(p)]; }

  std::array<RulesOfKind, 12> kinds_;
};

}  // namespace clbake
