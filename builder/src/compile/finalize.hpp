// The runtime's finalize(), and the steps that need a process of their own: NVIDIA's machine code.
#pragma once

#include <clbake/finalize.hpp>

namespace clbake::builder {

// Entries hold form, program, newer_driver and, of the proof, tools, specialisations and note; the native one first.
// Adds to what finalize() gives: NVIDIA's machine code.
Result<std::vector<cache::Entry>> finalize_in_child(const Compiled& compiled, const cache::Source& source);

// The first tool of every entry that this version of clbake makes.
cache::Tool this_clbake();

// Puts this version of clbake in front of the tools of every entry.
void sign(std::vector<cache::Entry>& entries);

// What a user has to know of every entry of this target; null where there is nothing to say.
const char* remark_on(const Target& target);

}  // namespace clbake::builder
