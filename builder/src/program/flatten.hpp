// One text of a source and all that it includes, so that a bundle can carry it.
#pragma once

#include <clbake/status.hpp>

#include <string>
#include <vector>

namespace clbake::builder::program {

struct FlatSource {
  std::string text;
  std::vector<std::string> files;  // that it was read from, each once; names as in the text
};

// The text of `file` without its comments, with the files that it includes in their places, whatever the conditions
// around them, and with #line directives by which a compiler's messages name these files. Names are relative to
// `directory`, and stay so in the text. A quoted name is looked for beside the file that includes it, then in
// `folders`; one in angle brackets in `folders` only. A file with `#pragma once` gets a guard instead. What cannot be
// put in its place (not found, a name that a macro makes, #import) is an error; but inside of a condition (#ifdef and
// the like), which may exclude it, it becomes an #error: nothing is left that a compiler would look for where the
// program runs. Fails with not_found, io or malformed (a file that includes itself, files that include each other more
// than 200 deep, more than 16 MiB); messages begin with file and line.
Result<FlatSource> flatten(const std::string& directory, const std::string& file,
                           const std::vector<std::string>& folders);

}  // namespace clbake::builder::program
