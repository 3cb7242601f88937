// From a program that the driver compiled to entries of a bundle. The runtime's finalize() does it for most drivers;
// for NVIDIA the builder makes machine code as well, by a library or a compiler that may crash: only for a worker
// process.
#pragma once

#include <clbake/finalize.hpp>

namespace clbake::builder::compile {

// Entries hold form, program, newer_driver and, of the proof, tools, specialisations and note; the native one first.
Result<std::vector<cache::Entry>> entries_for_bundle(const Compiled& compiled, const cache::Source& source);

// The first tool of every entry that this version of clbake makes.
cache::Tool this_clbake();

// Puts this version of clbake in front of the tools of every entry.
void sign(std::vector<cache::Entry>& entries);

}  // namespace clbake::builder::compile
