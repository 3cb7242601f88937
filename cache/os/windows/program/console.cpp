#include <clbake/os/console.hpp>

#include "windows/system.hpp"

namespace clbake::os {
namespace {

HANDLE handle_of(Stream stream) {
  return ::GetStdHandle(stream == Stream::input    ? STD_INPUT_HANDLE
                        : stream == Stream::output ? STD_OUTPUT_HANDLE
                                                   : STD_ERROR_HANDLE);
}

}  // namespace

bool is_terminal(Stream stream) {
  DWORD mode = 0;
  return ::GetConsoleMode(handle_of(stream), &mode) != 0;
}

std::size_t terminal_width(Stream stream) {
  CONSOLE_SCREEN_BUFFER_INFO info = {};
  if (!::GetConsoleScreenBufferInfo(handle_of(stream), &info)) return 80;
  return static_cast<std::size_t>(info.srWindow.Right - info.srWindow.Left + 1);
}

void use_console() {
  ::SetConsoleOutputCP(CP_UTF8);
  for (const Stream stream : {Stream::output, Stream::error}) {
    DWORD mode = 0;
    HANDLE const handle = handle_of(stream);
    if (::GetConsoleMode(handle, &mode)) ::SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
  }
}

}  // namespace clbake::os
