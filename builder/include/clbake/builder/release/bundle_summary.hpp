// Counts of the entries in a bundle.
#pragma once

#include <clbake/clbake.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace clbake::builder::release {

// The entries of one target, or of all of them.
struct EntryCounts {
  std::array<std::uint32_t, std::size(all_precisions)> by_precision{};  // in the order of all_precisions
  std::uint32_t programs = 0;                                           // of the application's own
  std::uint32_t native = 0;
  std::uint32_t portable = 0;
  std::uint32_t proven = 0;
  std::uint32_t jit_free = 0;
  std::uint64_t bytes = 0;         // of the programs, uncompressed
  std::uint64_t stored_bytes = 0;  // in the file; entries that share a program count it once
};

struct TargetCounts : EntryCounts {
  std::uint32_t target = 0;  // index into the bundle's targets
  std::string name;          // target_name()
};

struct BundleSummary {
  std::vector<TargetCounts> targets;  // those with entries, in the bundle's order
  EntryCounts all;
};

// Fails with what is wrong with a record.
Result<BundleSummary> summarize(const Bundle& bundle);

}  // namespace clbake::builder::release
