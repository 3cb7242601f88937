// Shared libraries, opened while the program runs.
#pragma once

#include <clbake/status.hpp>

#include <string>

namespace clbake::os {

// An open library; a value that is copied freely. Libraries stay open until the process ends.
using LibraryHandle = void*;

// By its path, or by a name that the system looks up. Its symbols are visible to this caller only. Fails with
// not_found; the message is the system's and names the library.
Result<LibraryHandle> open_library(const std::string& name);

// The one of two names that this system has for a library or a program.
const char* by_system(const char* posix, const char* windows);

// Null when the library has no such function or object.
void* symbol(LibraryHandle library, const std::string& name);

// The real path of the executable or library that holds the function or object at `address`; empty when none does.
std::string path_of_module(const void* address);

// 16 hexadecimal digits by which the linker told this build of that executable or library from all others: of the build
// ID, on Windows time stamp and size. Empty where it has none.
std::string build_of_module(const void* address);

// The path of the running program; empty when the system does not tell.
std::string path_of_program();

}  // namespace clbake::os
