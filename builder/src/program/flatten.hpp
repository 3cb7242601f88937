// One text of a source and all that it includes, so that a bundle can carry it.
#pragma once

#include <clbake/status.hpp>

#include <map>
#include <string>
#include <vector>

namespace clbake::builder::program {

// Places where the names of #include are looked for, and the macros that they may be made by.
struct IncludePlaces {
  std::string directory;                       // names of files are relative to it
  std::vector<std::string> folders;            // of -I, relative to `directory`
  std::vector<std::string> definitions;        // of -D
  std::map<std::string, std::string> headers;  // texts by their plain names, preferred to files
};

struct FlatSource {
  std::string text;
  std::vector<std::string> files;  // that were included, each once; names as in the text
};

// The text without its comments and its byte order mark, with the files that it includes in their places, whatever the
// conditions around them, and with #line directives by which a compiler's messages name these files; `file` names the
// text itself. A quoted name is looked for beside the file that includes it, then in the folders; one in angle brackets
// in the folders only. A file with `#pragma once` gets a guard instead. What cannot be put in its place (not found,
// #import) is an error; but inside of a condition (#ifdef and the like), which may exclude it, it becomes an #error:
// nothing is left that a compiler would look for where the program runs. Fails with not_found, io or malformed (a file
// that includes itself, files that include each other more than 200 deep, a macro that means several files, more than
// 16 MiB); messages begin with file and line.
Result<FlatSource> flatten(const std::string& file, const std::string& text, const IncludePlaces& places);

}  // namespace clbake::builder::program
