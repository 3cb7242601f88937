// Programs and drivers that are installed on the machine.
#pragma once

#include <string>
#include <vector>

namespace clbake::os {

// The path of a program by its name, without an ending, in the directories of PATH and then in `more`; empty when there
// is none. Absolute.
std::string find_program(const std::string& name, const std::vector<std::string>& more = {});

// A library that the loader of OpenCL opens as a driver.
struct OpenclDriver {
  std::string library;   // empty: `named_by` names none
  std::string named_by;  // a file, on Windows a value of the registry
};

// As ocl-icd and Khronos' loader find them, with their variables.
std::vector<OpenclDriver> opencl_drivers();

}  // namespace clbake::os
