// The overlay: a directory of compiled programs that processes share without locks. No OpenCL here. For the
// runtime and the learner (builder/src/learn). Not installed.
//
// Each file is a bundle of one variant, named by a hash of everything its program depends on: target, source, variant;
// of a program with a content: target and content. So a reader opens one file without an index, a changed source or
// driver has another name, and `clbake merge` can join the files. A file is written under a temporary name, synced and
// renamed: a reader sees all of it or nothing, and the last of several writers wins. An empty file marks a program that
// a driver rejected, so that later processes do not offer it again; another one marks a program that is a part of a
// linked one.
//
// Each write evicts the least recently used files if all together are too large, by their modification
// time, which a use sets at most once an hour. No process relies on a file that it saw before: another one may remove
// it.
#pragma once

#include <clbake/cache/reader.hpp>
#include <clbake/os/private_directory.hpp>
#include <clbake/overlay.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clbake {

using cache::Bundle;

// The names of an overlay's files. Other files in the directory are never read, counted or removed.
bool is_entry_name(const std::string& name);  // "<32 hexadecimal digits>.clbake"
bool is_mark_name(const std::string& name);   // "<32 hexadecimal digits>-<16 of them>.rejected" or "<32 of them>-part"
bool is_temporary_name(const std::string& name);  // either, then ".tmp." and more: a write in progress

// Removes temporary files older than an hour, whose writers must have died; then the least recently used files until
// the rest, each rounded up to whole blocks of 4 KiB, takes no more than `max_bytes`. `newest` is never removed. Other
// processes may evict, write and read meanwhile.
Status evict(const os::PrivateDirectory& directory, std::uint64_t max_bytes, const std::string& newest);

// A variant of one source on one device with one driver. Programs that have a content are the same where that is,
// whatever their names, and whatever their launches say of the sizes for which machine code is there.
struct OverlayKey {
  cache::Target target;
  cache::Source source;
  cache::Variant variant;  // its `source` and `trial` are ignored
  std::string scope;       // of Trust
  std::string hash;        // of the target, and of the content or the rest, 32 hexadecimal digits: file names begin so
};

// `scope`: of Trust, so that libraries of different policies have different files; empty without trust.
OverlayKey overlay_key(cache::Target target, cache::Source source, cache::Variant variant,
                       const std::string& scope = {});

// The key to find a program by its content; to store it, the other one.
OverlayKey overlay_key(cache::Target target, const cache::ContentDigest& content, const std::string& scope = {});

// An open overlay. Move-only; all const members may be called from any number of threads at once, and any number of
// processes may use the same directory meanwhile. A failure leaves no file behind and must not fail a product: the
// caller reports the Status and continues without.
class Overlay {
 public:
  // Fails like open_overlay. See OverlayOptions for what a directory has to be.
  static Result<Overlay> open(const OverlayOptions& options);

  // The bundle of the key's target, variant and source, each at index 0, with one or two entries. Everything is
  // verified and compared with the key, as two keys may have one hash. Fails with no_entry when there is none, or with
  // the fault of the file; read_write mode removes it if it is damaged or not the key's. Touches a file that was not
  // touched for an hour. What is in the shared directory serves where there is none.
  Result<Bundle> find(const OverlayKey& key) const;

  // Writes these entries to the key's file, replacing an older one, and marks the program's parts; then evicts down to
  // OverlayOptions::max_bytes. Compresses, writes and syncs, tens of milliseconds: not for a thread that a user waits
  // for. Does nothing in read_only mode. Fails with invalid_argument (no entry; more than max_bytes), io (full, not
  // writable) or out_of_memory; the old file then stays.
  Status store(const OverlayKey& key, std::vector<cache::Entry> entries) const;

  // Marks the program with this checksum (EntryInfo::program.raw_checksum) as rejected by the driver of the key's
  // target, whichever bundle it came from. Does nothing in read_only mode. Fails like store.
  Status mark_rejected(const OverlayKey& key, std::uint64_t program_checksum) const;

  bool is_rejected(const OverlayKey& key, std::uint64_t program_checksum) const;

  // True when a program was stored that the key's one is a part of.
  bool is_part(const OverlayKey& key) const;

 private:
  Overlay() = default;

  Result<Bundle> read(const os::PrivateDirectory& directory, const OverlayKey& key) const;
  Status has_mark(const std::string& name) const;
  Status put(const std::string& name, cache::ByteView bytes) const;
  Status put_and_evict(const std::string& name, cache::ByteView bytes) const;
  void touch_if_stale(const std::string& name, std::int64_t unused_seconds) const;

  std::optional<os::PrivateDirectory> own_;
  std::optional<os::PrivateDirectory> shared_;
  bool writable_ = false;  // own_ is
  std::uint64_t max_bytes_ = 0;
};

}  // namespace clbake
