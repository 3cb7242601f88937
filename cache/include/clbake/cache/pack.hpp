// Writing bundles that are kept and shipped: as `encode`, but smaller and on all cores. For the builder and tools; an
// application's overlay has no use for it, and does not link it.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

#include <atomic>
#include <functional>

namespace clbake::cache {

struct PackOptions {
  unsigned threads = 0;                       // 0: one for each core
  const std::atomic<bool>* cancel = nullptr;  // polled between programs; may be null
  std::function<void(std::size_t done, std::size_t all)>
      report;  // programs; called on the caller's thread; may be empty
};

// The bytes of a bundle. Programs that resemble others of the bundle are compressed with one of these as their
// dictionary. Equal contents in any order give equal bytes, with any number of threads. Fails like `encode`, and with
// cancelled.
Result<Bytes> pack(const Contents& contents, const PackOptions& options = {});

}  // namespace clbake::cache
