// The runtime's finalize(), and the steps that need a process of their own: NVIDIA's machine code.
#pragma once

#include <clbake/finalize.hpp>

namespace clbake::builder {

// Entries hold form, program, newer_driver and, of the proof, tools and specialisations; the native one first. Adds to
// what finalize() gives: NVIDIA's machine code.
Result<std::vector<cache::Entry>> finalize_in_child(const Compiled& compiled, const cache::Source& source);

// What a user has to know of every entry of this target; null where there is nothing to say.
const char* remark_on(const Target& target);

}  // namespace clbake::builder
