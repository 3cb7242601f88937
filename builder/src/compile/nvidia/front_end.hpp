// clang in the place of NVIDIA's OpenCL compiler, which is part of the driver: an application's program becomes PTX
// that gives the results of the driver's own. What libclc lacks or does otherwise is in builtins/.
//
// Three steps: the built-in functions, for these options; the source with those that it needs and libclc's, as LLVM's
// text, in which the kernels' arguments are read and every function may be inlined (clang forbids it for kernels, and
// PTX cannot call one); that text to PTX.
#pragma once

#include <clbake/cache/model.hpp>
#include "compile/offline/offline_tools.hpp"

#include <string>

namespace clbake::builder::compile {

// PTX of a program's source for `cpu`, an architecture that clang knows. Throws Failure: build_failed (the compiler's
// first error, or what PTX cannot do, with the function's name), invalid_argument (an option that the driver refuses),
// io.
std::string program_ptx(const Tool& clang, const Tool& libclc, const cache::Source& source,
                        const cache::Variant& variant, const std::string& cpu);

}  // namespace clbake::builder::compile
