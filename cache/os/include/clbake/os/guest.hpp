// For a library inside a program that knows nothing of it: the program may close any file, fork, and unload libraries.
#pragma once

#include <clbake/os/libraries.hpp>
#include <clbake/status.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace clbake::os {

// The library that holds the function or object at `address` stays until the process ends. Best effort.
void keep_loaded(const void* address);

// Calls `child` in each process that this one forks from now on. False when the system cannot. Does nothing where
// processes do not fork.
bool in_forked_children(void (*child)());

std::uint64_t process_id();

// Calls `last`, maybe more than once, when the process ends, while other threads and what the libraries have loaded
// still are: with the calling thread if that is the main one, and before the exit handlers that there are now. On
// Windows never: threads end before any library hears of it.
void before_exit(void (*last)());

// ---- For a library in the place of another one, with functions of the same names.

// True where a library's own calls of a function that it exports go to the first library of the process that has one of
// that name: on POSIX, not on Windows.
extern const bool kInterposes;

// By which a library exports the function at `address`; empty when it does not. Only where the system interposes.
std::string exported_name(const void* address);

// The function of that name in the libraries which the program loaded behind this one; null when there is none. Only
// where the system interposes.
void* next_function(const std::string& name);

// The library, if it is open already; else null.
LibraryHandle find_library(const std::string& name);

// True when one executable or library holds both.
bool in_one_module(const void* address, const void* other);

// ---- Its files.

// All of a regular file that only its user, who is the process's own or the administrator, can write to. Fails with
// not_trusted where others can; and like read_file.
Result<std::string> read_trusted_file(const std::string& path, std::uintmax_t most_bytes);

// A log. Any thread may write at any time; an object that is never destroyed may be written to until the process ends.
class LogFile {
 public:
  struct Stream;

  // A file, which is appended to and opened for each line, so that the program cannot take it for its own.
  static LogFile at(const std::string& path) { return {path, nullptr}; }

  // The program's stderr as it is now. Fails with io where there is none.
  static Result<LogFile> to_stderr();

  // Appends the line in one piece. Best effort: a full disk loses it, and a pipe without reader raises no signal.
  void write(std::string_view line) const noexcept;

 private:
  LogFile(std::string path, std::shared_ptr<Stream> stream) : path_(std::move(path)), stream_(std::move(stream)) {}
  std::string path_;                // empty: the stream
  std::shared_ptr<Stream> stream_;  // of stderr
};

}  // namespace clbake::os
