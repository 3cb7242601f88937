// The overlay: a directory in which an application keeps what was compiled because no bundle had it, so that the next
// process finds it. Each file there is a bundle of one variant; `clbake merge` joins them into one. Processes share the
// directory without locks, any number of them.
//
//   clbake::Result<std::string> directory = clbake::user_cache_directory("my-application");
//   clbake::OverlayOptions where;
//   if (directory) where.directory = *directory;
//   where.mode = clbake::OverlayMode::read_write;
//   auto overlay = clbake::open_overlay(where);
//   clbake::Options options;
//   if (overlay) options.overlay = *overlay;  // else tell overlay.status(), and go on without
#pragma once

#include <clbake/status.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace clbake {

enum class OverlayMode {
  off,         // there is none
  read_only,   // what is there serves; nothing is written, touched or removed
  read_write,  // what was compiled is added, what is damaged removed, and the directory created if it is not there
};

// The programs of an overlay are trusted code. So the directory must belong to the user of the process, nobody else may
// be able to write to it, and it may be no symbolic link (its parents may); it is created with permissions 0700. A
// directory that breaks this is refused when it is opened; one that cannot be written to any more, or is full, is told
// to Options::log. No product fails for it.
struct OverlayOptions {
  std::string directory;  // a relative path begins where the process is when the overlay is opened
  OverlayMode mode = OverlayMode::off;
  // What the files may take together, each rounded up to whole blocks of 4 KiB. Of more, those that were not used for
  // the longest time are removed.
  std::uint64_t max_bytes = std::uint64_t{256} << 20;
};

class OverlayStore;

// An open overlay, for the Options of any number of libraries. Fails with invalid_argument (mode off, no directory
// named), not_found, io or out_of_memory; the message begins with the directory. No product fails for it: go on
// without. A program that never calls this does not carry the code of overlays.
Result<std::shared_ptr<OverlayStore>> open_overlay(const OverlayOptions& options);

// Where the user's caches are: "$XDG_CACHE_HOME/<application>/clbake", or "$HOME/.cache/<application>/clbake" when the
// former is not set or no absolute path. Creates nothing. This is the only function of the library that reads the
// environment: call it while no other thread changes that. Fails with not_found when neither variable helps, and with
// invalid_argument when `application` is not the name of a directory (empty, ".", "..", or with a slash or a zero).
Result<std::string> user_cache_directory(const std::string& application);

}  // namespace clbake
