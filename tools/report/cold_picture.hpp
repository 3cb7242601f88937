// The first results that `bench cold --json` measured, as a picture.
#pragma once

#include "cli/json.hpp"

#include <string>

namespace clbake::tool {

// An SVG: one line for each row of `report`, the fastest first, with a dot at the median and a band from the fastest to
// the slowest trial, on a logarithmic axis. It has its own background and colours for light and dark, a title and a
// description for screen readers, and needs no other file. Text of drivers in it cannot end up as markup. Fails with
// malformed, naming the field, when a figure is missing or impossible.
Result<std::string> cold_picture(const Json& report);

// Reads a file of `bench cold --json` and draws it. Fails like cold_picture, with not_found or io; messages begin with
// the path.
Result<std::string> cold_picture_of(const std::string& path);

// Whether a picture may be written there: the file does not exist, is empty or is an earlier picture. Fails with
// invalid_argument; the message begins with the path.
Status check_picture_path(const std::string& path);

// Writes a picture to a file: the old one or the complete new one at any moment. Fails like check_picture_path or with
// io; messages begin with the path.
Status write_cold_picture(const std::string& path, const std::string& picture);

}  // namespace clbake::tool
