#include "program/flatten.hpp"

#include "process/digest.hpp"
#include "process/text_file.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace clbake::builder {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostDeep = 200;                              // files that include each other
constexpr std::size_t kMostBytes = (std::size_t{16} << 20) - 1024;  // of a bundle's source, with its name

// The scanner's memory of the lines before.
struct Position {
  bool in_comment = false;    // a block comment goes on
  bool is_continued = false;  // the line before ends in a backslash: this one is no directive
  int conditions = 0;         // #if ... without #endif
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// Skips blanks and comments; false when the line ends in a comment.
bool skip_blanks(const std::string& line, std::size_t& at, bool& in_comment) {
  while (at < line.size()) {
    if (in_comment) {
      const std::size_t end = line.find("*/", at);
      if (end == std::string::npos) return false;
      at = end + 2;
      in_comment = false;
    } else if (is_blank(line[at])) {
      ++at;
    } else if (line.compare(at, 2, "/*") == 0) {
      at += 2;
      in_comment = true;
    } else {
      return true;
    }
  }
  return !in_comment;
}

// Sets whether a block comment goes on after the line.
void scan_rest(const std::string& line, std::size_t at, bool& in_comment) {
  char quote = 0;
  for (; at < line.size(); ++at) {
    if (in_comment) {
      const std::size_t end = line.find("*/", at);
      if (end == std::string::npos) return;
      in_comment = false;
      at = end + 1;
    } else if (quote != 0) {
      if (line[at] == '\\')
        ++at;
      else if (line[at] == quote)
        quote = 0;
    } else if (line[at] == '"' || line[at] == '\'') {
      quote = line[at];
    } else if (line.compare(at, 2, "//") == 0) {
      return;
    } else if (line.compare(at, 2, "/*") == 0) {
      in_comment = true;
      ++at;
    }
  }
}

struct Directive {
  std::string word;       // "include"; empty: the line is no directive
  std::size_t after = 0;  // where its rest begins
};

// Moves `position` behind the line.
Directive directive_of(const std::string& line, Position& position) {
  const bool is_continued = position.is_continued;
  std::string bare = line;
  if (!bare.empty() && bare.back() == '\r') bare.pop_back();
  position.is_continued = !bare.empty() && bare.back() == '\\';
  Directive directive;
  std::size_t at = 0;
  bool in_comment = position.in_comment;
  if (!is_continued && skip_blanks(bare, at, in_comment) && at < bare.size() && bare[at] == '#') {
    ++at;
    if (skip_blanks(bare, at, in_comment)) {
      std::size_t end = at;
      while (end < bare.size() && bare[end] >= 'a' && bare[end] <= 'z') ++end;
      directive = {bare.substr(at, end - at), end};
    }
  }
  scan_rest(bare, 0, position.in_comment);
  return directive;
}

std::string first_word(const std::string& text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_first_of(" \t\r/", begin) - begin);
}

std::string line_directive(std::size_t number, const std::string& file) {
  std::string quoted;
  for (const char c : file) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return "#line " + std::to_string(number) + " \"" + quoted + "\"\n";
}

class Flattener {
 public:
  Flattener(const std::string& directory, const std::vector<std::string>& folders)
      : directory_(directory), folders_(folders) {}

  // `conditions`: around the place where it is included.
  Status add(const std::string& file, int conditions = 0) {
    const Result<std::string> text = read_text_file((directory_ / file).lexically_normal().string(), kMostBytes);
    if (!text) return text.status();
    if (text->find('\0') != std::string::npos) return {Code::malformed, file + ": is no text"};
    if (stack_.size() >= kMostDeep) return {Code::malformed, file + ": files include each other more than 200 deep"};
    if (std::find(files_.begin(), files_.end(), file) == files_.end()) files_.push_back(file);
    stack_.push_back(file);
    const Status status = add_lines(file, *text, conditions);
    stack_.pop_back();
    return status;
  }

  FlatSource take() { return {std::move(text_), std::move(files_)}; }

 private:
  Status add_lines(const std::string& file, const std::string& text, int conditions) {
    const std::size_t begin = text_.size();
    bool once = false;
    text_ += line_directive(1, file);
    Position position;
    position.conditions = conditions;
    std::size_t number = 0;
    for (std::size_t at = 0; at < text.size();) {
      ++number;
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      const Directive directive = directive_of(line, position);
      const std::string rest = line.substr(std::min(directive.after, line.size()));
      if (directive.word.rfind("if", 0) == 0) ++position.conditions;
      if (directive.word == "endif") --position.conditions;
      if (directive.word == "pragma" && first_word(rest) == "once") {
        once = true;
        text_ += "\n";
        continue;
      }
      if (directive.word == "include" || directive.word == "import") {
        const Status included = include(file, number, directive.word, rest, position);
        if (!included) return included;
        continue;
      }
      text_ += line + "\n";
    }
    if (position.is_continued) text_ += "\n";  // so that the backslash does not take the next file's line
    if (once) {
      const std::string guard = "CLBAKE_ONCE_" + digest(file);
      text_.insert(begin, "#ifndef " + guard + "\n#define " + guard + "\n");
      text_ += "#endif\n";
    }
    return text_.size() <= kMostBytes ? Status()
                                      : Status(Code::malformed, file + ": more than 16 MiB with all that it includes");
  }

  // Puts a file in the place of the directive and the rest of its line.
  Status include(const std::string& file, std::size_t number, const std::string& word, const std::string& rest,
                 const Position& position) {
    const std::string here = file + ":" + std::to_string(number) + ": ";
    // A condition may exclude what cannot be included.
    const auto cannot = [&](Code code, const std::string& why) {
      if (position.conditions == 0) return Status(code, here + why);
      text_ += "#error " + why + "\n";
      return Status();
    };
    if (word == "import") return cannot(Code::malformed, "#import is not supported, only #include");
    const std::size_t open = rest.find_first_of("\"<");
    if (open == std::string::npos || rest.find_first_not_of(" \t") != open) {
      return cannot(Code::malformed, "#include needs the name of a file, not of a macro");
    }
    const bool quoted = rest[open] == '"';
    const std::size_t close = rest.find(quoted ? '"' : '>', open + 1);
    if (close == std::string::npos) return Status(Code::malformed, here + "#include without an end of its name");
    const std::string name = rest.substr(open + 1, close - open - 1);
    const std::optional<std::string> found = find(file, name, quoted);
    if (!found) return cannot(Code::not_found, "there is no file '" + name + "' to include");
    if (std::find(stack_.begin(), stack_.end(), *found) != stack_.end()) {
      return Status(Code::malformed, here + *found + " includes itself");
    }
    const Status added = add(*found, position.conditions);
    if (!added) return added;
    text_ += line_directive(number, file) + rest.substr(close + 1) + "\n";
    return {};
  }

  std::optional<std::string> find(const std::string& file, const std::string& name, bool quoted) const {
    std::vector<fs::path> places;
    if (quoted) places.push_back(fs::path(file).parent_path());
    places.insert(places.end(), folders_.begin(), folders_.end());
    for (const fs::path& place : places) {
      const std::string path = (place / name).lexically_normal().string();
      std::error_code ignored;
      if (fs::is_regular_file(directory_ / path, ignored)) return path;
    }
    return std::nullopt;
  }

  const fs::path directory_;
  const std::vector<std::string>& folders_;
  std::vector<std::string> stack_;  // the file that is being read, and those that include it
  std::string text_;
  std::vector<std::string> files_;
};

}  // namespace

Result<FlatSource> flatten(const std::string& directory, const std::string& file,
                           const std::vector<std::string>& folders) {
  Flattener flattener(directory, folders);
  const Status added = flattener.add(fs::path(file).lexically_normal().string());
  if (!added) return added;
  return flattener.take();
}

}  // namespace clbake::builder
