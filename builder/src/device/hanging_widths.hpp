// Spares the other variants of a vector width on which the driver hangs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace clbake::builder {

// A driver that hangs on one variant tends to hang on every variant of that vector width, as LLVM 14 in PoCL 3.0 does
// at width 16. After kTimeouts in a row, none of the same device and width is compiled any more: each would cost a
// whole timeout.
class HangingWidths {
 public:
  // A compilation has ended, or was given up.
  void ended(std::size_t device, std::uint32_t width, bool timed_out) {
    unsigned& in_a_row = in_a_row_[{device, width}];
    in_a_row = timed_out ? in_a_row + 1 : 0;
  }

  // Why a variant is not compiled; empty when it is.
  std::string skips(std::size_t device, std::uint32_t width) const {
    const auto found = in_a_row_.find({device, width});
    if (found == in_a_row_.end() || found->second < kTimeouts) return {};
    return "skipped: " + std::to_string(found->second) + " variants of vector width " + std::to_string(width) +
           " in a row did not compile in time";
  }

 private:
  static constexpr unsigned kTimeouts = 3;
  std::map<std::pair<std::size_t, std::uint32_t>, unsigned> in_a_row_;
};

}  // namespace clbake::builder
