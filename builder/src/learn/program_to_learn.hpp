// A program to learn: what its requests and an earlier entry of the overlay say of it.
#pragma once

#include <clbake/builder/programs.hpp>
#include <clbake/overlay_directory.hpp>
#include <clbake/program_text.hpp>

#include "learn/functions.hpp"
#include "learn/inbox.hpp"

#include <string>

namespace clbake::builder::learn {

struct ProgramToLearn {
  Request request;            // with the text, and with the launches that an earlier entry has functions for
  ProgramText whole;          // the program with nothing left to look for
  Functions wanted;           // PoCL: of the launches with a local size
  std::uint64_t attempt = 0;  // names what is tried: these launches, by this version of clbake

  std::string name() const { return program::shown_name(content_name(request.digest)); }  // for the log
};

// The file by which compile-learned tells the others which signs its compilation gave. `job`: its output.
std::string control_beside(const std::string& job);

// Begins the note of prove-learned where only the time says that a load compiles.
inline constexpr const char* kSlowLoad = "loading takes as long as compiling: ";

// True for drivers whose programs hold functions for launches, which can be read.
bool keeps_functions(const cache::Target& target);

// `known`: the overlay's entry of the program; null if it has none. Changes the working directory to the request's.
// Fails with no_entry when there is nothing new in the request, or with malformed or not_found when the program is not
// what its digest says: a file that it includes has changed.
Result<ProgramToLearn> program_to_learn(const Request& request, const Bundle* known);

}  // namespace clbake::builder::learn
