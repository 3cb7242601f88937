// PoCL's part of finalize().
#pragma once

#include <clbake/finalize.hpp>

namespace clbake {

Result<std::vector<cache::Entry>> finalize_pocl(const Compiled& compiled);

}  // namespace clbake
