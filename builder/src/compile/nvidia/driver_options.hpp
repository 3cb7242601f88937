// The options of clBuildProgram for NVIDIA's driver, as options for clang.
#pragma once

#include <clbake/status.hpp>

#include <string>
#include <vector>

namespace clbake::builder::compile {

struct DriverOptions {
  std::vector<std::string> defines;  // "-DNAME=VALUE", as given
  std::string standard = "CL3.0";    // as the driver's default
  bool flush = false;                // denormal numbers are zero
  bool fast = false;                 // division and functions by the device's approximations
  bool exact = false;                // division and square root are rounded correctly
  bool strict_aliasing = false;
  bool single_constants = false;
  bool relaxed = false;    // -cl-fast-relaxed-math, which defines a macro
  unsigned registers = 0;  // at most so many for a work-item; 0: the assembler's choice
};

// Folders (-I) are left out: a program's source has its included files in it. So is what changes no result: the driver
// answers -cl-finite-math-only and the like with the same code. Fails with invalid_argument for what it refuses.
Result<DriverOptions> driver_options(const std::string& build_options);

// For clang: those above, and how the driver rounds.
std::vector<std::string> clang_options(const DriverOptions& options);

}  // namespace clbake::builder::compile
