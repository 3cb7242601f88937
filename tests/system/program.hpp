// A program that a test starts, with nothing to read on its standard input.
#pragma once

#include <boost/test/tree/decorator.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace clbake::tests {

// The decorator of cases that stand on POSIX: a shell around the command, signals, /proc and /dev, and drivers
// that variables choose.
#ifdef _WIN32
using OnPosix = boost::unit_test::enable_if<false>;
#else
using OnPosix = boost::unit_test::enable_if<true>;
#endif

class Program {
 public:
  // Appends what it prints to files. arguments[0] is a path. Throws.
  Program(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment,
          const std::string& out, const std::string& err);
  ~Program();  // kills it
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Its exit status once it has ended; 128 + signal when one killed it. Does not wait.
  std::optional<int> ended();
  int wait();
  void kill() const;
  void send(int signal) const;  // on POSIX

 private:
  std::intptr_t process_ = 0;  // its id, or a HANDLE; 0 once it has ended
  int status_ = -1;
};

}  // namespace clbake::tests
