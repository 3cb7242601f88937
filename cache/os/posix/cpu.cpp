#include <clbake/os/cpu.hpp>

#if __has_include(<sys/auxv.h>)
#include <sys/auxv.h>
#endif

namespace clbake::os {

std::array<std::uint64_t, 2> hardware_capabilities() {
#if __has_include(<sys/auxv.h>)
  return {::getauxval(AT_HWCAP), ::getauxval(AT_HWCAP2)};
#else
  return {};
#endif
}

}  // namespace clbake::os
