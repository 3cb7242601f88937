// Search in the sorted records of a section, in place. Allocates nothing.
//
// A search does not verify the records that it probes, only those on either side of the answer: FORMAT.md, "Searching",
// says why that is enough. Of these two, the record that was found is left to the caller, whose read verifies it.
#pragma once

#include "read/layout.hpp"

namespace clbake::cache {

// The first record whose key is not less than the wanted one.
struct LowerBound {
  std::uint32_t i = 0;  // the section's count if all keys are less
  bool equal = false;   // record i has the wanted key
};

// Each fails with checksum when a record beside the answer is damaged.
Result<LowerBound> find_by_hash(const BundleView& view, std::uint64_t raw_checksum);  // in the targets
Result<LowerBound> find_by_keys(const BundleView& view, format::SectionType type, std::uint32_t key0,
                                std::uint32_t key1);

}  // namespace clbake::cache
