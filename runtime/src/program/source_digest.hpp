#pragma once

#include <clbake/program_text.hpp>

namespace clbake {

// Equal for programs that differ in nothing but options, headers, #line directives and newlines at the end: a program
// as an application gives it and as a bundle has it, unless the builder has put included files into its text. Reads no
// files. Any thread.
ContentDigest source_digest(const ProgramText& program);

}  // namespace clbake
