// A conversation with a child process, in lines of text.
#pragma once

#include <clbake/os/child.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clbake::os {

// The caller's end. Move-only; one thread. The destructor kills the child with whatever it started.
class LineChannel {
 public:
  struct Pipe;

  // Starts the child; both directions go over its standard input. Fails with io.
  static Result<LineChannel> start(const Launch& launch);
  LineChannel(LineChannel&& other) noexcept;
  LineChannel& operator=(LineChannel&& other) noexcept;
  ~LineChannel();

  // Sends a line (without its end). Nothing happens when the child has ended: `ended` tells.
  void send(const std::string& line);

  // The next line of the child that has arrived; nothing when there is none now. Never waits.
  std::optional<std::string> receive();

  // How the child ended, once it has and all its lines were received. Never waits.
  std::optional<Exit> ended();

  const Child& child() const { return child_; }

  // Waits until one of them has sent something or has ended, at most `milliseconds`.
  static void wait(const std::vector<const LineChannel*>& all, int milliseconds);

 private:
  LineChannel(std::unique_ptr<Pipe> pipe, Child child);
  void read_available();
  std::unique_ptr<Pipe> pipe_;
  Child child_;
  std::string received_;
};

// The child's end, over its standard input. receive() waits; it returns nothing once the parent has closed its end.
class ParentChannel {
 public:
  void send(const std::string& line);
  std::optional<std::string> receive();

 private:
  std::string received_;
};

}  // namespace clbake::os
