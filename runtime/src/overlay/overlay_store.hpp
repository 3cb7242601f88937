// The overlay as the programs of a library see it. Only open_overlay() leads to the code behind it: a program that
// never calls that does not carry it.
#pragma once

#include <clbake/cache/reader.hpp>
#include <clbake/finalize.hpp>

#include "overlay/overlay_key.hpp"

namespace clbake {

// Any number of threads at once. What each function does, and how it fails: class Overlay.
class OverlayStore {
 public:
  OverlayStore() = default;
  OverlayStore(const OverlayStore&) = delete;
  OverlayStore& operator=(const OverlayStore&) = delete;
  virtual ~OverlayStore() = default;

  virtual bool writable() const = 0;
  virtual Result<cache::Bundle> find(const OverlayKey& key) const = 0;
  virtual bool rejected(const OverlayKey& key, std::uint64_t program_checksum) const = 0;
  virtual Status reject(const OverlayKey& key, std::uint64_t program_checksum) const = 0;
  // Finalizes the program and puts it. Takes as long as both.
  virtual Status keep(const OverlayKey& key, const Compiled& compiled) const = 0;
};

}  // namespace clbake
