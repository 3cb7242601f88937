// The C API's overlay, in its own file so that only programs that use it carry it.
#include <clbake/clbake.h>

#include "c/c_api.hpp"

using clbake::Argument;
using clbake::Result;
using clbake::Status;
using namespace clbake::c;

namespace {

// With a directory of its own, of this mode.
void set_own(const char* directory, clbake_overlay_mode mode, clbake::OverlayOptions& options) {
  options.directory = given(directory, "directory", Argument::directory);
  switch (number(mode)) {
    case CLBAKE_OVERLAY_READ_ONLY: options.mode = clbake::OverlayMode::read_only; return;
    case CLBAKE_OVERLAY_READ_WRITE: options.mode = clbake::OverlayMode::read_write; return;
    default: throw Refused{{Argument::options, "mode is neither read-only nor read-write"}};
  }
}

Status open_with(clbake::OverlayOptions& options, std::uint64_t max_bytes, clbake_overlay** overlay) {
  clbake_overlay** const to = given(overlay, "overlay", Argument::output);
  if (max_bytes != 0) options.max_bytes = max_bytes;
  return hand_over(clbake::open_overlay(options), to);
}

}  // namespace

clbake_code clbake_overlay_open(const char* directory, clbake_overlay_mode mode, std::uint64_t max_bytes,
                                clbake_overlay** overlay, clbake_error* error) {
  return run(error, [&] {
    clbake::OverlayOptions options;
    set_own(directory, mode, options);
    return open_with(options, max_bytes, overlay);
  });
}

clbake_code clbake_overlay_open_shared(const char* shared, const char* owner, const char* directory,
                                       clbake_overlay_mode mode, std::uint64_t max_bytes, clbake_overlay** overlay,
                                       clbake_error* error) {
  return run(error, [&]() -> Status {
    clbake::OverlayOptions options;
    options.shared = given(shared, "shared", Argument::directory);
    if (options.shared.empty()) return {Argument::directory, "shared is empty"};
    if (owner) options.shared_owner = owner;
    if (directory) set_own(directory, mode, options);
    return open_with(options, max_bytes, overlay);
  });
}

clbake_code clbake_user_cache_directory(const char* application, char* path, std::size_t size, clbake_error* error) {
  return run(error, [&]() -> Status {
    const Result<std::string> found = clbake::user_cache_directory(given(application, "application"));
    char* const to = given(path, "path", Argument::output);
    if (!found) return found.status();
    if (found->size() >= size) {
      return {Argument::output, "size: the path needs " + std::to_string(found->size() + 1) + " bytes"};
    }
    std::memcpy(to, found->c_str(), found->size() + 1);
    return {};
  });
}
