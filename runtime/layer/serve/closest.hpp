#pragma once

#include <clbake/program_text.hpp>

#include <string>

namespace clbake::layer::serve {

// For the log, about a program whose content no bundle has: which bundle has its source, and with which options, as in
// "; app.clbake has this source with options '-DX'". Empty if none has. The first call reads the sources of all
// bundles. Any thread.
std::string closest_to(const ProgramText& text);

}  // namespace clbake::layer::serve
