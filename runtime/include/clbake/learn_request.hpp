// Requests of the layer to its learner (`clbake learn`): programs that a driver compiled, or launches that machine code
// was not made for. Each travels as a message of its own (runtime/layer/learn/sender.hpp). Not installed.
#pragma once

#include <clbake/cache/limits.hpp>
#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace clbake::learn {

// A launch, as far as drivers make other machine code for it.
struct SeenLaunch {
  std::string kernel;
  std::array<std::uint32_t, 3> local = {};  // work-group size, work-items; zeros: NULL, the driver chose
  bool zero_offset = true;
  bool small_grid = true;  // PoCL's "smallgrid": fewer than 65,535 work-items in x and in y

  bool operator==(const SeenLaunch& other) const {
    return kernel == other.kernel && local == other.local && zero_offset == other.zero_offset &&
           small_grid == other.small_grid;
  }
};

// The launch of clEnqueueNDRangeKernel's arguments; `offset` and `local` may be null. `dimensions` is 1 to 3.
SeenLaunch seen_launch(std::string kernel, std::uint32_t dimensions, const std::size_t* offset,
                       const std::size_t* global, const std::size_t* local);

struct Request {
  cache::Target target;                   // of the device
  std::array<std::uint8_t, 32> digest{};  // of the program: content_digest()
  std::string program;    // encode() of its ProgramText; empty when it was sent before, or when the overlay served it
  std::string directory;  // the working directory when it was built, for relative -I; Sender fills it in if empty
  std::string log;        // of the build; what exceeds kMaxLogBytes is cut
  std::vector<SeenLaunch> launches;  // first seen since the last request for this program
};

// Limits of a message; what exceeds them is not learned.
inline constexpr std::size_t kMaxMessage = std::size_t{64} << 20;  // bytes
using cache::kMaxLaunches;
using cache::kMaxLogBytes;

// Fails with invalid_argument when the message would exceed a limit.
Result<std::string> encode(const Request& request);

// Reads nothing outside of `message`, whatever it holds. Fails with malformed, or with unsupported_version for a
// message of another version of clbake.
Result<Request> decode(const std::string& message);

}  // namespace clbake::learn
