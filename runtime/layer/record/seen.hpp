// Programs and kernels that this process has recorded: each is written once, however often the program makes it.
#pragma once

#include <clbake/program_text.hpp>

#include <map>
#include <mutex>
#include <set>
#include <string>

namespace clbake::layer::record {

// Guards everything in this header, and the states of handles (programs.cpp, kernels.cpp). Nobody calls a driver with
// it.
std::mutex& seen_mutex();

struct SeenProgram;

struct SeenKernel {
  SeenProgram* program;
  std::string name;
  std::set<std::string> sizes;  // local sizes of launches, as JSON
  struct Attempts {
    int count = 0;
    bool has_trial = false;   // one is written
    bool is_running = false;  // one is being made
  };
  std::map<std::string, Attempts> trials;  // by the kind of launch: see launch_kind()
};

// All live as long as the process.
struct SeenProgram {
  std::string id;
  std::map<std::string, SeenKernel> kernels;
  std::size_t content_bytes = 0;  // in the trials of its kernels
};

// The driver's answers after a build; empty texts when it was not asked.
struct BuildAnswers {
  std::string log;
  std::string kernels;  // names, with ';' between them
};

// The program that this text makes, written if it is new. REQUIRES: a self-contained text. Null, with a note, when it
// cannot be written.
SeenProgram* see(const ProgramText& text, const BuildAnswers& answers);

// The kernel of a program, written if it is new.
SeenKernel& see(SeenProgram& program, const std::string& kernel);

// Adds a line about the kernel: `field` and its JSON.
void add_line(const SeenKernel& kernel, const char* field, const std::string& json);

}  // namespace clbake::layer::record
