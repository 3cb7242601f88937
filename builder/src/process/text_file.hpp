// Files of text that a user names.
#pragma once

#include <clbake/status.hpp>

#include <cstdint>
#include <string>

namespace clbake::builder {

// All of a regular file. Fails with not_found; io (also for a directory, a device, a pipe, which is not opened); or
// malformed when it has more than `most_bytes`. Messages begin with the path.
Result<std::string> read_text_file(const std::string& path, std::uintmax_t most_bytes);

}  // namespace clbake::builder
