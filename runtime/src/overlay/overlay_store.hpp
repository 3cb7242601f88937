// The overlay as a library sees it. Virtual, so that only open_overlay() refers to the implementation: the linker drops
// it from an application that never calls that.
#pragma once

#include <clbake/cache/reader.hpp>
#include <clbake/finalize.hpp>

#include "overlay/overlay_key.hpp"

namespace clbake {

// Any number of threads at once. Class Overlay describes each function and its failures.
class OverlayStore {
 public:
  OverlayStore() = default;
  OverlayStore(const OverlayStore&) = delete;
  OverlayStore& operator=(const OverlayStore&) = delete;
  virtual ~OverlayStore() = default;

  virtual bool writable() const = 0;
  virtual Result<cache::Bundle> find(const OverlayKey& key) const = 0;
  virtual bool is_rejected(const OverlayKey& key, std::uint64_t program_checksum) const = 0;
  virtual Status mark_rejected(const OverlayKey& key, std::uint64_t program_checksum) const = 0;
  // Finalizes the program, then stores it: Overlay::store.
  virtual Status finalize_and_store(const OverlayKey& key, const Compiled& compiled) const = 0;
};

}  // namespace clbake
