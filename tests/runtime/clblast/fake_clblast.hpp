// Agreed between the test of forwarding and the library in CLBlast's place.
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

using Vector = float __attribute__((vector_size(16)));
struct Large {
  long integers[9];
  Vector vectors[9];
};

// A forwarded routine of another shape than CLBlast's: arguments in all registers in which they may be, a large result.
Large every_register(long, long, long, long, long, long, long, long, Vector, Vector, Vector, Vector, Vector, Vector,
                     Vector, Vector, long, Vector) asm("CLBlastSrotm");

// A leading dimension that clbake refuses.
constexpr std::size_t kHugeLd = std::size_t{1} << 31;

// A status that nothing else returns.
constexpr auto kServedByClblast = static_cast<clblast::StatusCode>(4711);

}  // namespace clbake::tests
