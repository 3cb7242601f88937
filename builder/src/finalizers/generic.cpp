// Any other driver. Mali compiles when kernels are created, others at the first launch with a local size: a binary that
// is taken after all kernels were created and launched at their real local sizes holds whatever the driver can keep.
#include "finalizers.hpp"

namespace clbake::builder {
namespace {

Result<std::vector<cache::Entry>> finalize(const Compiled& compiled) {
  const Status launched = compiled.launch_every_shape();
  if (!launched) return launched;
  return entry_of_binary(compiled.program);
}

}  // namespace

const Finalizer& generic_finalizer() {
  static const Finalizer finalizer{"generic", [](const Target&) { return true; }, finalize, nullptr};
  return finalizer;
}

}  // namespace clbake::builder
