// A Library for each device of a context that a program multiplies on. All functions: any thread; no lock is held while
// a driver is called.
#pragma once

#include <clbake/clbake.hpp>

#include <string>

namespace clbake::door {

// A library of the available bundles, best first: use_bundle's, CLBAKE_CLBLAST_BUNDLE's, the one beside this library
// (clbake/clblast.clbake), and the sources of the kernels; with the overlay in the user's cache directory. Files are
// opened at the first call; a failure goes to the log. Fails as Library::create does; with no_program without a bundle.
// A kept library retains its context, so no other context gets the same handle. Only the latest 16 are kept, so that
// contexts which the program has released do not stay for ever.
Result<Library> library_for(cl_context context, cl_device_id device);

// Drops all libraries: programs and contexts are released as soon as no call uses them.
void clear_libraries();

// Puts a file before all other bundles, and drops all libraries. Fails as Bundle::open does, and then changes nothing.
Status use_bundle(const std::string& path);

// Makes the end of the program wait for the libraries' threads if a library told of a miss during this thread's call: a
// driver that is being torn down must not compile.
void wait_at_exit_after_a_miss();

}  // namespace clbake::door
