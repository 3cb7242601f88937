#include "program/flatten.hpp"

#include "process/text_file.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

namespace clbake::builder::program {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostDeep = 200;                                    // files that include each other
constexpr std::size_t kMostSourceBytes = (std::size_t{16} << 20) - 1024;  // of a bundle's source, with its name

constexpr const char* kBlanks = " \t\r\v\f";

// The text with a blank in the place of each character of a comment, but for line ends. Texts in quotes stay. Blanks go
// from the ends of lines: compilers take a backslash in front of them as the last character.
std::string without_comments(const std::string& lines) {
  std::string text;
  for (const char c : lines) {
    if (c == '\n') text.resize(text.find_last_not_of(kBlanks) + 1);
    text += c;
  }
  enum { code, line_comment, block_comment, quoted } state = code;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (state == quoted) {
      if (c == '\\') ++i;
      if (c == quote || c == '\n') state = code;
      continue;
    }
    const bool ends = state == block_comment && c == '*' && next == '/';
    if (state == line_comment && c == '\n' && text[i - 1] != '\\') state = code;
    if (state == code && c == '/' && next == '/') state = line_comment;
    if (state == code && c == '/' && next == '*') text[i] = ' ', text[++i] = ' ', state = block_comment;
    if (state == code && (c == '"' || c == '\'')) quote = c, state = quoted;
    if (state == block_comment && c != '\n') text[i] = ' ';
    if (state == line_comment && c != '\n' && !(c == '\\' && next == '\n')) text[i] = ' ';
    if (ends) text[++i] = ' ', state = code;
  }
  return text;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

struct Directive {
  std::string word;  // "include"; empty: the line is no directive
  std::string rest;
};

Directive directive_of(const std::string& line) {
  const std::string text = trimmed(line);
  if (text.empty() || text[0] != '#') return {};
  const std::string behind = trimmed(text.substr(1));
  const std::size_t end = std::min(behind.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), behind.size());
  return {behind.substr(0, end), trimmed(behind.substr(end))};
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
    const Result<std::string> text =
        process::read_text_file((directory_ / file).lexically_normal().string(), kMostSourceBytes);
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
    bool once = false, is_continued = false;
    text_ += line_directive(1, file);
    std::istringstream lines(without_comments(text));
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      line.resize(line.find_last_not_of(kBlanks) + 1);
      const Directive found = is_continued ? Directive() : directive_of(line);
      is_continued = !line.empty() && line.back() == '\\';
      if (found.word.rfind("if", 0) == 0) ++conditions;
      if (found.word == "endif") --conditions;
      if (found.word == "pragma" && found.rest == "once") {
        once = true;
        text_ += "\n";
      } else if (found.word == "include" || found.word == "import") {
        const Status included = include(file, number, found, conditions);
        if (!included) return included;
      } else {
        text_ += line + "\n";
      }
    }
    if (is_continued) text_ += "\n";  // so that the backslash does not take the next file's line
    if (once) {
      const std::string guard = "CLBAKE_ONCE_" + process::digest(file);
      text_.insert(begin, "#ifndef " + guard + "\n#define " + guard + "\n");
      text_ += "#endif\n";
    }
    return text_.size() <= kMostSourceBytes
               ? Status()
               : Status(Code::malformed, file + ": more than 16 MiB with all that it includes");
  }

  // Puts a file in the place of the directive.
  Status include(const std::string& file, std::size_t number, const Directive& directive, int conditions) {
    const std::string here = file + ":" + std::to_string(number) + ": ";
    // A condition may exclude what cannot be included.
    const auto cannot = [&](Code code, const std::string& why) {
      if (conditions == 0) return Status(code, here + why);
      text_ += "#error " + why + "\n";
      return Status();
    };
    if (directive.word == "import") return cannot(Code::malformed, "#import is not supported, only #include");
    const std::string& quoted = directive.rest;
    const bool beside = !quoted.empty() && quoted[0] == '"';
    const std::size_t end = quoted.find(beside ? '"' : '>', 1);
    if (quoted.empty() || (!beside && quoted[0] != '<') || end + 1 != quoted.size()) {
      return cannot(Code::malformed, "#include needs the name of a file in quotes or angle brackets");
    }
    const std::string name = quoted.substr(1, end - 1);
    const std::optional<std::string> found = find(file, name, beside);
    if (!found) return cannot(Code::not_found, "there is no file '" + name + "' to include");
    if (std::find(stack_.begin(), stack_.end(), *found) != stack_.end()) {
      return Status(Code::malformed, here + *found + " includes itself");
    }
    const Status added = add(*found, conditions);
    text_ += line_directive(number + 1, file);
    return added;
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

}  // namespace clbake::builder::program
