#include "device/opencl_library.hpp"

namespace clbake::builder {

Status open_opencl() { return {}; }

}  // namespace clbake::builder
