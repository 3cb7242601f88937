// The arguments of a launch, as a trial states them.
#pragma once

#include "record/kernels.hpp"
#include "record/trial/contents.hpp"

#include <optional>

namespace clbake::layer::record {

struct TrialArgument {
  std::string fields;            // of the manifest: an object's text, whole unless there is a memory object
  std::optional<Memory> memory;  // whose content is part of it
};

// Sets `arguments` to those that `state` holds. Returns why the launch cannot be tried; empty when it can.
std::string arguments_of(cl_kernel kernel, const KernelState& state, std::vector<TrialArgument>& arguments);

}  // namespace clbake::layer::record
