// How well the cost models of a tuning describe what it measured.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <string>

namespace clbake::tool {

// An SVG: for each precision the measured time of a call against the expected one, both axes logarithmic, a dot for
// each variant with a cost model and each shape on which it took part in a final race; at most 1,500 dots a precision.
// It has colours for light and dark and a description for screen readers, needs no other file, and its style holds for
// itself only, so that it can stand in a page. Empty when nothing that has a cost model was measured: the profiles that
// clbake ships keep no measurements.
constexpr const char* kPictureBegin = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"expected\" ";  // of every one
std::string model_picture(const builder::Tuning& tuning);

}  // namespace clbake::tool
