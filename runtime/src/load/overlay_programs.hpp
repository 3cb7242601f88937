// How a library uses its overlay: loads programs from it, stores compiled ones, marks those that the driver rejected.
//
// Only programs compiled from source are stored, by the library's own thread and after the caller has its program:
// finalizing launches every shape and takes tens to hundreds of milliseconds. A program of a bundle that the driver
// rejected is marked, so that the next process does not offer it to the driver again. Without an overlay every function
// here does nothing, or loads directly.
#pragma once

#include "load/background.hpp"
#include "load/load_once.hpp"
#include "load/setup.hpp"
#include "overlay/overlay_store.hpp"
#include "select/request.hpp"

#include <memory>

namespace clbake {

// Any number of threads at once.
class OverlayPrograms {
 public:
  OverlayPrograms(const Setup& setup, Background& background) : setup_(setup), background_(background) {}

  // The overlay's program. Fails with no_entry or driver_rejected.
  Result<Program> load(const Candidate& candidate) const;

  // A bundle's program, unless the overlay marks it as rejected; marks it when the driver rejects it now.
  Result<Program> load_unless_rejected(const Candidate& candidate, const Bundle& bundle,
                                       const cache::EntryInfo& entry) const;

  bool has(const Candidate& candidate) const;

  // Finalizes and stores the compiled program in the background; logs a failure.
  void store_async(const Candidate& candidate, std::shared_ptr<const Program> program) const;

 private:
  Result<OverlayKey> key_of(const Candidate& candidate) const;
  Status store(const Candidate& candidate, std::shared_ptr<const Program> program) const;
  Loaded compile_again(const Candidate& candidate) const;

  const Setup& setup_;
  Background& background_;
};

}  // namespace clbake
