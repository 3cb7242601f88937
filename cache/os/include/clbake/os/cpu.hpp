// The processor, as the system tells of it.
#pragma once

#include <array>
#include <cstdint>

namespace clbake::os {

// The bits of AT_HWCAP and AT_HWCAP2, whose meaning depends on the architecture; zeros where the system has none.
std::array<std::uint64_t, 2> hardware_capabilities();

}  // namespace clbake::os
