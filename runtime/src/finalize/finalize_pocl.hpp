// PoCL's part of finalize().
#pragma once

#include <clbake/finalize.hpp>

namespace clbake {

bool is_pocl(const Target& target);

Result<std::vector<cache::Entry>> finalize_pocl(const Compiled& compiled);

}  // namespace clbake
