// Presets: published kernels as named points of the space, as close as the families come to them.
#pragma once

#include <clbake/kernels/params.hpp>

namespace clbake::kernels {

struct Preset {
  std::string name;  // for example "tutorial-6"; never the name of a Params
  Params params;
};

// The tutorial's in its order, then the paper's.
const std::vector<Preset>& presets();

// Null if no preset has that name.
const Preset* find_preset(std::string_view name);

}  // namespace clbake::kernels
