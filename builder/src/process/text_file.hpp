// Files of text that a user names, and digests of texts.
#pragma once

#include <clbake/status.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace clbake::builder::process {

// All of a regular file, which can be read again. Fails with not_found; io (also for a directory, a device, a pipe,
// which is not opened); or malformed when it has more than `most_bytes`. Messages begin with the path.
Result<std::string> read_text_file(const std::string& path, std::uintmax_t most_bytes);

// The same for the argument of an option, which is read once: also of a pipe, and of standard input where `path` is
// "-". Waits for the writer of a pipe.
Result<std::string> read_input(const std::string& path, std::uintmax_t most_bytes);

// "standard input" for "-", else the path: how messages name an input.
std::string input_name(const std::string& path);

// XXH64 of the bytes, as 16 hexadecimal digits.
std::string digest(const std::string& bytes);

// The same of a list of texts: differs, too, when the same characters are divided among the texts in another way.
std::string digest(const std::vector<std::string>& texts);

}  // namespace clbake::builder::process
