#include <clbake/os/console.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

namespace clbake::os {
namespace {

int descriptor_of(Stream stream) {
  return stream == Stream::input ? STDIN_FILENO : stream == Stream::output ? STDOUT_FILENO : STDERR_FILENO;
}

}  // namespace

bool is_terminal(Stream stream) { return ::isatty(descriptor_of(stream)) != 0; }

std::size_t terminal_width(Stream stream) {
  winsize size = {};
  return ::ioctl(descriptor_of(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void use_console() {}

}  // namespace clbake::os
