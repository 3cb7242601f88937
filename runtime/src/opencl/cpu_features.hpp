// Features of the CPU that this process runs on.
#pragma once

#include <string>

namespace clbake {

// Names, as LLVM and Linux have them, of the CPU's features that a compiler for the CPU `compiled_for` may use, with
// blanks between, always in the same order. `compiled_for`: LLVM's name of a CPU, "haswell"; of one that is not known
// here, also of an empty one, a compiler may use all; of "generic" none. Without those that every x86-64 or ARMv8 CPU
// has, and those that no compiler uses unasked. Empty on other CPUs, and where the system does not tell.
std::string cpu_features(const std::string& compiled_for);

}  // namespace clbake
