// What the test of forwarding and the library in CLBlast's place agree on.
#pragma once

#include <clblast.h>

#include <complex>
#include <cstdint>

namespace clbake::tests {

// A handle that is only passed on.
template <typename Handle>
Handle handle(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);  // NOLINT(performance-no-int-to-ptr)
}

// A status that nothing else returns.
constexpr auto kServedByClblast = static_cast<clblast::StatusCode>(4711);

}  // namespace clbake::tests
