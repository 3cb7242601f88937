// Functions of CLBlast's APIs for its cache, and the door's own function.
#include <clblast.h>
#include <clblast_c.h>

#include <clbake/clblast_door.h>
#include <clbake/exceptions_to_status.hpp>

#include "forward/forward.hpp"
#include "serve/libraries.hpp"

using namespace clbake;

namespace clblast {

StatusCode ClearCache() {
  const Status cleared = exceptions_to_status([] { return door::clear_libraries(), Status(); });
  if (!cleared) return StatusCode::kOpenCLOutOfHostMemory;
  return door::original_is_open() ? door::by_clblast(&ClearCache) : StatusCode::kSuccess;
}

// The door has nothing to fill; CLBlast does.
StatusCode FillCache(const cl_device_id device) {
  cl_device_type type = 0;
  const cl_int error = clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
  if (error != CL_SUCCESS) return static_cast<StatusCode>(error);
  return door::original_is_open() ? door::by_clblast(&FillCache, device) : StatusCode::kSuccess;
}

}  // namespace clblast

extern "C" {

CLBlastStatusCode CLBlastClearCache() { return static_cast<CLBlastStatusCode>(clblast::ClearCache()); }

CLBlastStatusCode CLBlastFillCache(const cl_device_id device) {
  return static_cast<CLBlastStatusCode>(clblast::FillCache(device));
}

__attribute__((visibility("default"))) int clbake_clblast_use_bundle(const char* path) {
  const Status status = exceptions_to_status(
      [&]() -> Status { return path ? door::use_bundle(path) : Status(Argument::bundle, "the path is null"); });
  return static_cast<int>(status.code());
}
}
