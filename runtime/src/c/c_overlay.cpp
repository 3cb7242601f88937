// The C API's overlay, in its own file so that only programs that use it carry it.
#include <clbake/clbake.h>

#include "c/c_api.hpp"

using clbake::Argument;
using clbake::Result;
using clbake::Status;
using namespace clbake::c;

clbake_code clbake_overlay_open(const char* directory, clbake_overlay_mode mode, std::uint64_t max_bytes,
                                clbake_overlay** overlay, clbake_error* error) {
  return run(error, [&]() -> Status {
    if (!directory) return null("directory", Argument::directory);
    if (!overlay) return null_output("overlay");
    clbake::OverlayOptions options;
    options.directory = directory;
    if (max_bytes != 0) options.max_bytes = max_bytes;
    switch (number(mode)) {
      case CLBAKE_OVERLAY_READ_ONLY: options.mode = clbake::OverlayMode::read_only; break;
      case CLBAKE_OVERLAY_READ_WRITE: options.mode = clbake::OverlayMode::read_write; break;
      default: return {Argument::options, "mode is neither read-only nor read-write"};
    }
    Result<std::shared_ptr<clbake::OverlayStore>> opened = clbake::open_overlay(options);
    if (!opened) return opened.status();
    *overlay = new clbake_overlay{std::move(*opened)};
    return {};
  });
}

clbake_code clbake_user_cache_directory(const char* application, char* path, std::size_t size, clbake_error* error) {
  return run(error, [&]() -> Status {
    if (!application) return null("application");
    if (!path) return null_output("path");
    const Result<std::string> found = clbake::user_cache_directory(application);
    if (!found) return found.status();
    if (found->size() >= size) {
      return {Argument::output, "size: the path needs " + std::to_string(found->size() + 1) + " bytes"};
    }
    std::memcpy(path, found->c_str(), found->size() + 1);
    return {};
  });
}
