#include <clbake/os/cpu.hpp>

namespace clbake::os {

std::array<std::uint64_t, 2> hardware_capabilities() { return {}; }

}  // namespace clbake::os
