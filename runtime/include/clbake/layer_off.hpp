// A process whose calls of OpenCL go to the drivers, also where a file of the loader names the layer for all programs:
// the learner, and every worker that compiles or proves. Not installed.
#pragma once

#include <utility>

namespace clbake {

// Environment variables that keep the layer from serving, recording and starting a learner; without learning there is
// no overlay.
inline constexpr std::pair<const char*, const char*> kLayerOff[] = {
    {"CLBAKE_LEARN", "off"}, {"CLBAKE_BUNDLE", ""}, {"CLBAKE_RECORD", ""}};

}  // namespace clbake
