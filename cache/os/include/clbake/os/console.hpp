// The terminal of a program.
#pragma once

#include <cstddef>

namespace clbake::os {

enum class Stream { input, output, error };

bool is_terminal(Stream stream);

// Columns of the terminal that shows the stream; 80 where none does.
std::size_t terminal_width(Stream stream);

// Makes text in UTF-8 and escape sequences work on the console of Windows. Does nothing elsewhere.
void use_console();

}  // namespace clbake::os
