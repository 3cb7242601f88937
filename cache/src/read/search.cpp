#include "read/records.hpp"

#include <clbake/joined.hpp>

#include "coding.hpp"

#include <algorithm>

namespace clbake::cache {
namespace {

using format::SectionType;

Status check_intact(const BundleView& view, SectionType type, std::uint32_t i) {
  if (intact(view, type, i)) return {};
  return {Code::checksum, joined({record_name(type, i), ": checksum mismatch"})};
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

// Baked bundles have most variants for most targets, so that a record's rank, key0 * (number of variants) + key1,
// nearly tells its position: 2 to 4 probes where bisection needs 20, each a cache miss. Guesses and bisections take
// turns, so that uneven bundles cost at most twice the probes of a plain binary search.
Result<LowerBound> find_by_keys(const BundleView& view, SectionType type, std::uint32_t key0, std::uint32_t key1) {
  const std::uint32_t targets = view.section(SectionType::targets).count, count = view.section(type).count;
  const std::uint64_t variants = std::max(1U, view.section(SectionType::variants).count);
  if (key0 >= targets || (key1 != 0 && key1 >= variants)) return LowerBound{};
  const auto rank_of = [&](std::uint32_t i) {
    const std::uint8_t* p = view.record(type, i);
    return load32(p + format::blob::kKey0At) * variants + load32(p + format::blob::kKey1At);
  };
  const std::uint64_t rank = key0 * variants + key1;
  std::uint32_t begin = 0, end = count;  // the lower bound lies here
  std::uint64_t begin_rank = 0,
                end_rank = variants * targets;  // no record from begin on is below, none before end above
  for (bool guess = true; begin < end; guess = !guess) {
    std::uint32_t probe = begin + (end - begin) / 2;
    if (guess && begin_rank <= rank && rank < end_rank) {  // else misled by damage
      const double part = static_cast<double>(rank - begin_rank) / static_cast<double>(end_rank - begin_rank);
      probe = begin + std::min(static_cast<std::uint32_t>(part * (end - begin)), end - begin - 1);
    }
    const std::uint64_t found = rank_of(probe);
    // If this record is intact, no record before it has the same keys.
    const bool first =
        load16(view.record(type, probe) + format::blob::kKey2At) <= static_cast<std::uint16_t>(Form::native);
    if (found == rank && first) return LowerBound{probe, true};
    if (found < rank) {
      begin = probe + 1;
      begin_rank = found + 1;
    } else {
      end = probe;
      end_rank = found;
    }
  }
  return verified(view, type, {begin, begin < count && rank_of(begin) == rank});
}

}  // namespace clbake::cache
