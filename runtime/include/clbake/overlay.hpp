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
//   if (overlay) options.overlay = *overlay;  // else report overlay.status(), and continue without
#pragma once

#include <clbake/export.h>
#include <clbake/status.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace clbake {

enum class OverlayMode {
  off,         // no overlay
  read_only,   // its programs serve; nothing is written, touched or removed
  read_write,  // compiled programs are added and damaged files removed; the directory is created if it does not exist
};

// The programs of an overlay are trusted code. So the directory must belong to the user of the process, be writable by
// nobody else and not be a symbolic link (its parents may be); it is created with permissions 0700. open_overlay
// refuses a directory that breaks these rules, and a file of another user in it is not read. With Options::trust only
// what was compiled under the same policy serves, from sources that are trusted. Later failures, such as a full disk,
// go to Options::log; no product fails because of its overlay.
struct OverlayOptions {
  std::string directory;  // a relative path is resolved when the overlay is opened
  OverlayMode mode = OverlayMode::off;
  // Limit for all files together, each rounded up to whole blocks of 4 KiB. The least recently used are removed first.
  std::uint64_t max_bytes = std::uint64_t{256} << 20;
  // A second directory, for all users of a machine: only read, and looked in where the first one has nothing. With mode
  // off it is the only one. Empty: none; nor is one that does not exist. It and its files must belong to root (Windows:
  // to the system's accounts) or to `shared_owner`, a user's name or number, and be writable by nobody else.
  std::string shared = {};
  std::string shared_owner = {};
};

class OverlayStore;

// An open overlay, for the Options of any number of libraries. Fails with invalid_argument (mode off without a shared
// directory, empty directory), not_found, io or out_of_memory; the message begins with the directory. An application
// can continue without an overlay. A program that never calls this does not contain the overlay's code.
CLBAKE_API Result<std::shared_ptr<OverlayStore>> open_overlay(const OverlayOptions& options);

// The user's cache directory for the application: "$XDG_CACHE_HOME/<application>/clbake", else
// "$HOME/.cache/<application>/clbake". Creates nothing. The only function of the library that reads the environment: no
// other thread may change it meanwhile. Fails with not_found when neither variable is an absolute path, or when the
// process has more rights than its user (setuid); and with invalid_argument when `application` cannot name a directory.
CLBAKE_API Result<std::string> user_cache_directory(const std::string& application);

}  // namespace clbake
