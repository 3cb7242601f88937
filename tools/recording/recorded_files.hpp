// Files of a recording: they are private, and their names come from whoever made it.
#pragma once

#include "cli/json.hpp"

#include <filesystem>
#include <set>
#include <string>

namespace clbake::tool {

// The names of the files in a manifest's fields.
std::set<std::string> file_names(const Json& fields);

// Throws std::invalid_argument unless each file is named as the layer names files ("sources/DIGEST.cl"), and is there:
// no other name reaches a path, and no link is followed.
void check_files(const std::string& directory, const Json& fields);

// Throws Failure.
std::string bytes_of(const std::string& path);

// Makes the folders that are missing; the last is its owner's alone. Throws Failure.
void make_private_directory(const std::filesystem::path& path);

// "NAME" or "FOLDER/NAME" in the directory, whole or not at all, for its owner alone; through no link but that of the
// directory. Throws Failure.
void write_private(const std::string& directory, const std::string& name, const std::string& bytes);

}  // namespace clbake::tool
