#include "device/opencl_library.hpp"

#include <clbake/opencl/load.hpp>

namespace clbake::builder {

Status open_opencl() { return load_opencl(); }

}  // namespace clbake::builder
