// Runs the real `clbake` as users do, and looks at exit status, stdout and stderr.
#pragma once

#include "files.hpp"
#include "system/program.hpp"

#include <clbake/builder/scratch.hpp>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace clbake::tool::test {

using namespace clbake::tests;

using Arguments = std::vector<std::string>;
inline Arguments operator+(Arguments first, const Arguments& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}
using Environment = std::vector<std::pair<std::string, std::string>>;  // set on top of this process'

// How a process ended and what it said.
struct Outcome {
  int status = -1;  // exit status; 128 + signal when one killed it
  std::string out;
  std::string err;
};

// `clbake ARGUMENTS`, with driver caches that only the children of this test share.
Outcome clbake(const Arguments& arguments, const Environment& environment = {});

// An environment in which there is no OpenCL platform.
const Environment& no_platform();

// A line for /bin/sh, in which $CLBAKE is the command.
Outcome shell(const std::string& line);

// A running `clbake ARGUMENTS`, with stdout and stderr in one file. The destructor kills it if it still runs.
class Running {
 public:
  explicit Running(const Arguments& arguments);

  std::string output() const;
  // Waits until the output contains `text`; false when the process ends without that.
  bool wait_for(const std::string& text);
  void kill() const { program_.kill(); }
  void send(int signal) const { program_.send(signal); }
  int wait() { return program_.wait(); }  // the exit status, as in Outcome

 private:
  builder::process::ScratchDirectory directory_;
  std::string log_;
  Program program_;
};

// A failure as every verb must report it: the exit status, nothing on stdout, and on stderr one line that begins with
// "clbake" and contains all `parts`.
void check_refused(const Outcome& outcome, int status, const std::vector<std::string>& parts);

// Success with a JSON object on stdout. Stops the test otherwise.
nlohmann::json json_of(const Outcome& outcome);

// A directory for the files of one test; the destructor removes it.
class Directory {
 public:
  Directory();
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const;  // returns the path
  std::string write(const std::string& name, const cache::Bytes& bytes) const;
  std::vector<std::string> files() const;  // names, sorted

 private:
  builder::process::ScratchDirectory directory_;
};

// Ends the whole program as skipped (77).
[[noreturn]] void skip(const std::string& reason);

// The bundle that was baked for this machine's devices: CLBAKE_TEST_BUNDLE. Without a device the whole program ends
// as skipped (77).
const std::string& baked_bundle();
cache::Contents baked_contents();

// True when the first device computes in double precision; and the origin of its programs: "native", but with Mesa's
// rusticl, which gives no machine code, "portable".
bool has_double();
std::string baked_origin();

// Makes all profiles choose one variant of the family "direct" for single precision without transposes. Returns its
// name.
std::string served_by_direct(cache::Contents& contents);

}  // namespace clbake::tool::test
