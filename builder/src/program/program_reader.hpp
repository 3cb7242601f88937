// One program of a manifest, with the files that it names.
#pragma once

#include <clbake/builder/programs.hpp>

#include "process/json_reader.hpp"

#include <string>
#include <vector>

namespace clbake::builder::program {

// Folders of a manifest.
struct ManifestFolders {
  std::string directory;             // names in the manifest are relative to it
  std::vector<std::string> include;  // for #include, before the folder of a source and `directory`
};

// False when a field is wrong, as the reader says. A file that cannot be read, or that cannot become a part of the
// program, is its `failure`. Its name is empty when it has none.
bool read_program(process::JsonReader& reader, const process::JsonValue& at, const ManifestFolders& folders,
                  Program& program);

}  // namespace clbake::builder::program
