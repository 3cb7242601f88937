// NVIDIA's part of finalize_in_child().
#pragma once

#include "compile/finalize.hpp"

namespace clbake::builder {

Result<std::vector<cache::Entry>> finalize_nvidia(const Compiled& compiled, const cache::Source& source);

}  // namespace clbake::builder
