// Named points of the space: kernels that others have published, as near as this project's families come to them.
#pragma once

#include <clbake/kernels/params.hpp>

namespace clbake::kernels {

struct Preset {
  std::string name;    // for example "tutorial-6"; never the name of a Params
  std::string origin;  // who published it, and under which name
  Params params;
  std::string note;  // what differs from the original; empty when nothing does
};

// Those of the tutorial in its own order, then those of the paper.
const std::vector<Preset>& presets();

// Null when there is none of that name.
const Preset* find_preset(std::string_view name);

}  // namespace clbake::kernels
