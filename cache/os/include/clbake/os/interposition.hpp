// For a library in the place of another one, with functions of the same names.
#pragma once

#include <clbake/os/libraries.hpp>

#include <string>

namespace clbake::os {

// True where a library's own calls of a function that it exports go to the first library of the process that has one of
// that name: on POSIX, not on Windows.
extern const bool kInterposes;

// By which a library exports the function at `address`; empty when it does not. Only where the system interposes.
std::string exported_name(const void* address);

// The function of that name in the libraries which the program loaded behind this one; null when there is none. Only
// where the system interposes.
void* next_function(const std::string& name);

// The library, if it is open already; else null.
LibraryHandle find_library(const std::string& name);

// True when one executable or library holds both.
bool in_one_module(const void* address, const void* other);

}  // namespace clbake::os
