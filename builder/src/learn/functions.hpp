// Functions: PoCL's machine code of a kernel for one shape of launches, "<kernel> <x>-<y>-<z>[-goffs0][-smallgrid]". A
// kernel that has no local memory needs none of them: "0-0-0", the function for every launch, is as fast there
// (runtime/src/finalize/poclbin.hpp).
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/learn_request.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder::learn {

using Functions = std::set<std::string>;

// The functions that these launches take, but for those whose local size the driver chooses.
Functions functions_of(const std::vector<clbake::learn::SeenLaunch>& launches);

// The launch that takes the function; nothing for "0-0-0" and for what is no function's name.
std::optional<clbake::learn::SeenLaunch> launch_of(const std::string& function);

// True when the program, as finalize() left it, holds PoCL's function for every launch and can do without a compiler.
bool serves_every_launch(const cache::Proof& proof);

// True when a program that holds the functions `present`, and whose kernels `launched` have been launched before, lacks
// one of the others. A kernel that was launched and has no function of its own needs none.
bool lacks(const Functions& present, const std::set<std::string>& launched, const Functions& wanted);

// Values of POCL_BINARY_SPECIALIZE_WG, one for each process that has to compile: of several shapes with one local size
// PoCL makes the first. At least one, which may be empty.
std::vector<std::string> passes_for(const Functions& functions);

// The functions in a cache directory of PoCL, but for those that serve every launch ("0-0-0").
Functions functions_in(const std::string& cache);

}  // namespace clbake::builder::learn
