#include "device/opencl_library.hpp"

#include <clbake/load_opencl.hpp>

namespace clbake::builder {

Status open_opencl() { return load_opencl(); }

}  // namespace clbake::builder
