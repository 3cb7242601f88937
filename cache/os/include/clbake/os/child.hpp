// Child processes.
#pragma once

#include <clbake/status.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clbake::os {

// How to start a child.
struct Launch {
  std::vector<std::string> arguments;              // arguments[0] is the executable's path
  std::map<std::string, std::string> environment;  // all of it
  std::string log;                                 // file that takes stdout and stderr; the user's alone if it is new
  std::string directory = {};                      // working directory; empty: the caller's
  bool own_group = true;                           // false: whoever kills the caller's group kills the child, too
};

// How a process ended.
struct Exit {
  static constexpr int kUnknown = -1;  // `code` where SIGCHLD is ignored: the system does not tell

  int code = 0;    // exit status; meaningful when signal is 0
  int signal = 0;  // the signal that killed it, or 0; on Windows the exception that it did not handle: an NTSTATUS
  bool ok() const { return code == 0 && signal == 0; }
};

// "exit status 4", "killed by signal 11 (Segmentation fault)", "ended by exception 0xc0000005 (access violation)".
std::string describe(const Exit& exit);

// True when Child::kill, or somebody else in that way, ended it.
bool was_killed(const Exit& exit);

// The exit status of a process that stands for this one: a shell's number for a signal, on Windows the exception.
int status_of(const Exit& exit);

// A child process. Move-only; one thread. The terminal's Ctrl-C does not reach it if it has its own group.
class Child {
 public:
  struct Process;

  // With nothing to read on its standard input, and none of the caller's files. Fails with io; the message begins with
  // the executable.
  static Result<Child> start(const Launch& launch);
  explicit Child(std::unique_ptr<Process> process);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();  // kills it

  // True once it has ended. Never waits.
  bool has_ended() const;

  // How it ended, once it has: what it left running in its group is killed then. Never waits.
  std::optional<Exit> ended();

  // Kills it with what it started; waits until it has ended.
  Exit kill();

  // The sum of all threads; zero when the system does not tell.
  std::chrono::nanoseconds processor_time() const;

  const Process& process() const { return *process_; }

 private:
  std::unique_ptr<Process> process_;  // null once it has ended
};

}  // namespace clbake::os
