// Listings of directories. On Windows the standard library lists another directory where a path is long.
#pragma once

#include <clbake/status.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace clbake::os {

struct Item {
  std::string path;  // of the directory, "/" and the name
  std::string name;
  bool is_file = false;       // regular, or a link to such a one
  bool is_directory = false;  // no link
  std::uintmax_t bytes = 0;   // of a file
};

// Those right in the directory, in no order. Fails with not_found or io; messages begin with the path.
Result<std::vector<Item>> list_directory(const std::string& path);

}  // namespace clbake::os
