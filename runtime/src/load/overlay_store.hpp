// How a library uses its overlay. Virtual, so that only open_overlay() refers to the implementation: the linker drops
// it from an application that never calls that.
#pragma once

#include "load/setup.hpp"
#include "program/program.hpp"

#include <memory>

namespace clbake {

// Any number of threads and libraries at once.
class OverlayStore {
 public:
  OverlayStore() = default;
  OverlayStore(const OverlayStore&) = delete;
  OverlayStore& operator=(const OverlayStore&) = delete;
  virtual ~OverlayStore() = default;

  virtual bool writable() const = 0;
  virtual bool has(const Setup& setup, const Candidate& candidate) const = 0;

  // The overlay's program. Fails with no_entry or driver_rejected.
  virtual Result<Program> load(const Setup& setup, const Candidate& candidate) const = 0;

  // A bundle's program, unless the overlay marks it as rejected; marks it when the driver rejects it now.
  virtual Result<Program> load_unless_rejected(const Setup& setup, const Candidate& candidate, const Bundle& bundle,
                                               const cache::EntryInfo& entry) const = 0;

  // Finalizes and stores a compiled program. Launches every shape: tens to hundreds of milliseconds.
  virtual Status store(const Setup& setup, const Candidate& candidate,
                       std::shared_ptr<const Program> program) const = 0;
};

}  // namespace clbake
