#include "read/records.hpp"

#include "coding.hpp"

#include <algorithm>

namespace clbake::cache {
namespace {

using format::SectionType;

Status check_intact(const BundleView& view, SectionType type, std::uint32_t i) {
  if (intact(view, type, i)) return {};
  return {Code::checksum, record_name(type, i) + ": checksum mismatch"};
}

// Verifies the records on either side of where a search ended. A damaged record may mislead the search, but then it is
// one of these two. The record that was found is left to the caller.
Result<LowerBound> verified(const BundleView& view, SectionType type, LowerBound bound) {
  Status status;
  if (!bound.equal && bound.i < view.section(type).count) status = check_intact(view, type, bound.i);
  if (status && bound.i > 0) status = check_intact(view, type, bound.i - 1);
  if (!status) return status;
  return bound;
}

// A search by interpolation: the half-open range of records that may hold the lower bound, and the ranks around it. The
// rank of a record is key0 * (number of variants) + key1. Baked bundles have most variants for most targets, so that
// ranks grow evenly and one nearly tells the position: 2 to 4 probes where bisection needs 20, each a cache miss.
class InterpolationSearch {
 public:
  InterpolationSearch(const BundleView& view, SectionType type, std::uint64_t rank)
      : rank_(rank),
        end_(view.section(type).count),
        variants_(std::max(1U, view.section(SectionType::variants).count)),
        end_rank_(variants_ * view.section(SectionType::targets).count),
        first_(view.record(type, 0)) {}

  bool done() const { return begin_ == end_; }
  std::uint32_t begin() const { return begin_; }

  std::uint64_t rank_of(std::uint32_t i) const {
    return load32(at(i) + format::blob::kKey0At) * variants_ + load32(at(i) + format::blob::kKey1At);
  }

  // If record i is intact, no record before it has the same keys.
  bool is_first_match(std::uint32_t i) const {
    return rank_of(i) == rank_ && load16(at(i) + format::blob::kKey2At) <= static_cast<std::uint16_t>(Form::native);
  }

  // Place of the wanted rank if ranks grew evenly. REQUIRES: not done.
  std::uint32_t guess() const {
    if (rank_ < begin_rank_ || rank_ >= end_rank_) return middle();  // misled by damage
    const double part = static_cast<double>(rank_ - begin_rank_) / static_cast<double>(end_rank_ - begin_rank_);
    return begin_ + std::min(static_cast<std::uint32_t>(part * (end_ - begin_)), end_ - begin_ - 1);
  }

  std::uint32_t middle() const { return begin_ + (end_ - begin_) / 2; }

  void narrow(std::uint32_t probe) {
    const std::uint64_t rank = rank_of(probe);
    if (rank < rank_) {
      begin_ = probe + 1;
      begin_rank_ = rank + 1;
    } else {
      end_ = probe;
      end_rank_ = rank;
    }
  }

 private:
  const std::uint8_t* at(std::uint32_t i) const { return first_ + std::uint64_t{i} * format::kRecordBytes; }

  std::uint64_t rank_;
  std::uint32_t begin_ = 0;
  std::uint32_t end_;
  std::uint64_t variants_;
  std::uint64_t begin_rank_ = 0;  // no record of the range has a lower rank
  std::uint64_t end_rank_;        // no record of the range has a rank above it
  const std::uint8_t* first_;
};

}  // namespace

Result<LowerBound> find_by_hash(const BundleView& view, std::uint64_t raw_checksum) {
  const auto hash_of = [&](std::uint32_t i) {
    return load64(view.record(SectionType::targets, i) + format::blob::kRawChecksumAt);
  };
  const std::uint32_t count = view.section(SectionType::targets).count;
  std::uint32_t begin = 0, end = count;
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (hash_of(middle) < raw_checksum) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return verified(view, SectionType::targets, {begin, begin < count && hash_of(begin) == raw_checksum});
}

Result<LowerBound> find_by_keys(const BundleView& view, SectionType type, std::uint32_t key0, std::uint32_t key1) {
  const std::uint32_t variants = view.section(SectionType::variants).count;
  if (key0 >= view.section(SectionType::targets).count || (key1 != 0 && key1 >= variants)) return LowerBound{};
  const std::uint64_t rank = std::uint64_t{key0} * std::max(1U, variants) + key1;
  InterpolationSearch search(view, type, rank);
  // Guesses and bisections take turns: uneven bundles cost at most twice the probes of a plain binary search.
  for (bool guess = true; !search.done(); guess = !guess) {
    const std::uint32_t probe = guess ? search.guess() : search.middle();
    if (search.is_first_match(probe)) return LowerBound{probe, true};
    search.narrow(probe);
  }
  const std::uint32_t i = search.begin();
  return verified(view, type, {i, i < view.section(type).count && search.rank_of(i) == rank});
}

}  // namespace clbake::cache
