// The layer's settings: environment variables, or lines of a file. LAYER.md lists them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace clbake::layer {

enum class Learn {
  on,         // the overlay serves, and what the driver has to compile is added to it
  read_only,  // the overlay serves
  off,        // bundles alone serve
};

struct Settings {
  std::vector<std::string> bundles;  // files
  std::string overlay;               // directory; empty: none
  std::string shared_overlay;        // the same for all users, only read; empty: none
  std::string shared_overlay_owner;  // the user to whom it belongs; empty: root
  Learn learn = Learn::on;
  std::string record;              // directory of a new recording; empty: serve
  std::uint64_t record_bytes = 0;  // contents of buffers and images that the directory may hold, in bytes
  bool record_binaries = true;     // while recording, programs may load binaries, which shows no source
  std::string log;                 // "stderr", or a file; empty: none
  std::string learner;             // path of the `clbake` command; empty: it was not found
  std::vector<std::string> trust;  // public keys: bundles that none of them signed serve nothing. Empty: all may serve
  bool pocl_memory = true;         // PoCL's files of baked programs are in memory: serve/pocl_memory.hpp

  bool serves() const { return !bundles.empty() || !overlay.empty() || !shared_overlay.empty(); }
};

// Reads the settings and opens the log. Called once, before any other thread can use the layer. A setting that is wrong
// counts as not given, an unknown word for an on/off setting as off; the log says so. May throw std::bad_alloc.
void read_settings();

const Settings& settings();

}  // namespace clbake::layer
