// The overlay's entries: bundles of one variant that this or another process compiled. No OpenCL here.
#pragma once

#include <clbake/cache/reader.hpp>
#include <clbake/overlay.hpp>

#include "overlay/overlay_key.hpp"
#include "overlay/private_directory.hpp"

#include <vector>

namespace clbake {

using cache::Bundle;

// An open overlay. Move-only; all const members may be called from any number of threads at once, and any number of
// processes may use the same directory meanwhile. No failure leaves anything behind, and none is a reason to fail a
// product: the caller goes on without what it asked for, and tells the Status.
class Overlay {
 public:
  // Fails with invalid_argument (mode off, no directory named), not_found, io or out_of_memory; the message begins with
  // the directory. See OverlayOptions for what a directory has to be.
  static Result<Overlay> open(const OverlayOptions& options);

  // The bundle of this target (its index there is 0), variant (0) and source (0): its one or two entries and all else
  // were verified, and it is what was asked for, not only what its name says. Fails with no_entry when there is none,
  // or with what is wrong with the file, which is removed in read_write mode if it is damaged or not ours. Makes now
  // its last use, unless that is less than an hour ago.
  Result<Bundle> find(const OverlayKey& key) const;

  // Adds the entries, whose target and variant are those of the key, in the place of what was there; then removes what
  // is too much (OverlayOptions::max_bytes). Compresses, writes and syncs, tens of milliseconds: not for a thread that
  // somebody waits for. Does nothing in read_only mode. Fails with invalid_argument (no entry; more than max_bytes), io
  // (full, not writable any more) or out_of_memory; what was there before is there then.
  Status put(const OverlayKey& key, std::vector<cache::Entry> entries) const;

  // Remembers that the driver of the key's target refused the program with this checksum
  // (EntryInfo::program.raw_checksum), whichever bundle it came from. Does nothing in read_only mode. Fails like put.
  Status reject(const OverlayKey& key, std::uint64_t program_checksum) const;

  // Whether that was remembered.
  bool rejected(const OverlayKey& key, std::uint64_t program_checksum) const;

 private:
  Overlay(PrivateDirectory directory, const OverlayOptions& options)
      : directory_(std::move(directory)),
        writable_(options.mode == OverlayMode::read_write),
        max_bytes_(options.max_bytes) {}

  Result<Bundle> read(const OverlayKey& key) const;
  Status within_directory(const Status& status) const;
  Status write(const std::string& name, cache::ByteView bytes) const;
  void keep(const std::string& name, std::int64_t unused_seconds) const;

  PrivateDirectory directory_;
  bool writable_ = false;
  std::uint64_t max_bytes_ = 0;
};

}  // namespace clbake
