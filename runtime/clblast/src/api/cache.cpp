// Functions of CLBlast's API for its cache, and the door's own function.
#include <clblast.h>
#include <clblast_c.h>

#include <clbake/clblast_door.h>
#include <clbake/exceptions_to_status.hpp>

#include "forward/forward.hpp"
#include "serve/bundles.hpp"
#include "serve/libraries.hpp"

namespace clblast {

// Clears CLBlast's own cache, too, once CLBlast was opened.
StatusCode ClearCache() {
  const clbake::Status cleared =
      clbake::exceptions_to_status([] { return clbake::door::Libraries::instance().clear(), clbake::Status(); });
  if (!cleared) return StatusCode::kOpenCLOutOfHostMemory;
  if (!clbake::door::original_is_open()) return StatusCode::kSuccess;
  auto* const clear = reinterpret_cast<StatusCode (*)()>(clbake::door::original("_ZN7clblast10ClearCacheEv"));
  return clear ? clear() : StatusCode::kSuccess;
}

// The door has nothing to fill; CLBlast does, once it was opened.
StatusCode FillCache(const cl_device_id device) {
  cl_device_type type = 0;
  const cl_int error = clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
  if (error != CL_SUCCESS) return static_cast<StatusCode>(error);
  if (!clbake::door::original_is_open()) return StatusCode::kSuccess;
  auto* const fill =
      reinterpret_cast<StatusCode (*)(cl_device_id)>(clbake::door::original("_ZN7clblast9FillCacheEP13_cl_device_id"));
  return fill ? fill(device) : StatusCode::kSuccess;
}

}  // namespace clblast

extern "C" {

CLBlastStatusCode CLBlastClearCache() { return static_cast<CLBlastStatusCode>(clblast::ClearCache()); }

CLBlastStatusCode CLBlastFillCache(const cl_device_id device) {
  return static_cast<CLBlastStatusCode>(clblast::FillCache(device));
}

__attribute__((visibility("default"))) int clbake_clblast_use_bundle(const char* path) {
  const clbake::Status status = clbake::exceptions_to_status([&]() -> clbake::Status {
    if (!path) return {clbake::Argument::bundle, "the path is null"};
    clbake::Status used = clbake::door::use_bundle(path);
    if (used) clbake::door::Libraries::instance().clear();
    return used;
  });
  return static_cast<int>(status.code());
}
}
