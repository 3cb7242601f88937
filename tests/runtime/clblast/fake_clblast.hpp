// Agreed between the test of forwarding and the library in CLBlast's place.
#pragma once

#include <clblast.h>

namespace clbake::tests {

// A leading dimension that clbake refuses.
constexpr std::size_t kHugeLd = std::size_t{1} << 31;

// A status that nothing else returns.
constexpr auto kServedByClblast = static_cast<clblast::StatusCode>(4711);

}  // namespace clbake::tests
