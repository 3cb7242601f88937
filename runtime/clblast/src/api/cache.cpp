// Functions of CLBlast's APIs for its cache, and the door's own function.
#include <clblast.h>
#include <clblast_c.h>

#include <clbake/clblast_door.h>
#include <clbake/exceptions_to_status.hpp>

#include "forward/forward.hpp"
#include "serve/libraries.hpp"

using namespace clbake;
using clblast::StatusCode;

namespace {

// CLBlast's function for its own cache, once CLBlast was opened.
template <typename... Arguments>
StatusCode by_clblast(const char* name, Arguments... arguments) {
  void* const function = door::original_is_open() ? door::original(name) : nullptr;
  return function ? reinterpret_cast<StatusCode (*)(Arguments...)>(function)(arguments...) : StatusCode::kSuccess;
}

}  // namespace

namespace clblast {

StatusCode ClearCache() {
  const Status cleared = exceptions_to_status([] { return door::clear_libraries(), Status(); });
  return cleared ? by_clblast("CLBlastClearCache") : StatusCode::kOpenCLOutOfHostMemory;
}

// The door has nothing to fill; CLBlast does.
StatusCode FillCache(const cl_device_id device) {
  cl_device_type type = 0;
  const cl_int error = clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
  return error == CL_SUCCESS ? by_clblast("CLBlastFillCache", device) : static_cast<StatusCode>(error);
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
