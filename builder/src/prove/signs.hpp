// Signs by which a process can tell that its driver compiled: files that come up in the driver's cache, libraries that
// are loaded, child processes, processor time.
#pragma once

#include <clbake/status.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder::prove {

struct Signs {
  std::map<std::string, std::uintmax_t> files;  // paths in the driver's cache directory; bytes
  std::set<std::string> libraries;              // names without folders; none that lie in the cache
  std::set<std::int64_t> children;              // that run
  std::int64_t ended = 0;                       // grows with children that have ended
  double processor_us = 0;                      // of this process and of children that have ended

  bool has_children() const { return !children.empty() || ended > 0; }
};

// Those of this process until now. `directory`: the driver's cache; empty: not known.
Signs signs_now(const std::string& directory);

double processor_time_us();

// The paths of those files; `extension` empty: of all.
std::vector<std::string> with_extension(const std::map<std::string, std::uintmax_t>& files,
                                        const std::string& extension);

// Those that came up in between: files that are new or have another size, new libraries and children, the time.
Signs since(const Signs& before, const Signs& now);

// The signs that a compilation by a driver leaves, as a process saw them that compiled on purpose. Only these can tell
// by their absence that nothing was compiled.
struct Control {
  bool files = false;
  std::set<std::string> libraries;
  bool children = false;
  bool in_process = false;  // it takes processor time of the process, enough to be seen

  bool has_signs() const { return files || !libraries.empty() || children; }  // of which noise is none
  bool any() const { return has_signs() || in_process; }
};

// `on_purpose`: the signs of a compilation. `extension`: of the files that count; empty: all.
Control control_of(const Signs& on_purpose, const std::string& extension);

// The control without the signs that a load of machine code gives as well, which tell nothing.
Control without(Control control, const Signs& of_a_load);

Status write_control(const std::string& path, const Control& control);

// A control without any sign when there is no such file, or another one.
Control read_control(const std::string& path);

}  // namespace clbake::builder::prove
