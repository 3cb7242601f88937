#include "program/flatten.hpp"

#include <clbake/includes.hpp>
#include <clbake/os/paths.hpp>
#include "process/need.hpp"
#include "process/text_file.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

namespace clbake::builder::program {
using namespace includes;
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostDeep = 200;                                    // files that include each other
constexpr std::size_t kMostSourceBytes = (std::size_t{16} << 20) - 1024;  // of a bundle's source, with its name

constexpr const char* kByteOrderMark = "\xEF\xBB\xBF";

std::string line_directive(std::size_t number, const std::string& file) {
  std::string quoted;
  for (const char c : file) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return "#line " + std::to_string(number) + " \"" + quoted + "\"\n";
}

// A file to include.
struct Included {
  std::string name;
  std::string text;
};

class Flattener {
 public:
  explicit Flattener(const IncludePlaces& places) : places_(places) {
    for (const std::string& definition : places.definitions) macros_.define_option(definition);
  }

  // `conditions`: around the place where it is included.
  void add(const Included& file, int conditions) {
    // At the end are those that an application counts to its string, which compilers ignore.
    const std::size_t last = file.text.find_last_not_of('\0');
    if (last != std::string::npos && file.text.find('\0') < last) fail(Code::malformed, file.name + ": is no text");
    if (stack_.size() >= kMostDeep) fail(Code::malformed, file.name + ": files include each other more than 200 deep");
    stack_.push_back({file.name, false});
    add_lines(file, conditions);
    stack_.pop_back();
  }

  FlatSource take() { return {std::move(text_), std::move(files_)}; }

 private:
  [[noreturn]] static void fail(Code code, const std::string& why) { throw Failure({code, why}); }

  void add_lines(const Included& file, int conditions) {
    const std::size_t begin = text_.size();
    bool once = false, is_continued = false, is_first = true;
    std::string definition;  // what stands behind #define so far
    bool is_defining = false;
    text_ += line_directive(1, file.name);
    const bool is_marked = file.text.rfind(kByteOrderMark, 0) == 0;
    std::istringstream lines(without_comments(is_marked ? file.text.substr(3) : file.text));
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      line.resize(line.find_last_not_of(kBlanks) + 1);
      const Directive found = is_continued ? Directive() : directive_of(line);
      is_defining = found.word == "define" || (is_continued && is_defining);
      if (is_defining) definition += is_continued ? line : found.rest;
      is_continued = !line.empty() && line.back() == '\\';
      if (is_defining && is_continued) definition.pop_back();
      if (is_defining && !is_continued) {
        macros_.define(trimmed(definition));
        definition.clear();
      }
      if (is_first && found.word == "ifndef") stack_.back().is_guarded = true;
      is_first = is_first && found.word.empty();
      if (found.word.rfind("if", 0) == 0) ++conditions;
      if (found.word == "endif") --conditions;
      if (found.word == "pragma" && found.rest == "once") {
        once = stack_.back().is_guarded = true;
        text_ += "\n";
      } else if (found.word == "include" || found.word == "import") {
        include(file.name, number, found, conditions);
      } else {
        text_ += line + "\n";
      }
    }
    if (is_continued) text_ += "\n";  // so that the backslash does not take the next file's line
    if (once) {
      const std::string guard = "CLBAKE_ONCE_" + process::digest(file.name);
      text_.insert(begin, "#ifndef " + guard + "\n#define " + guard + "\n");
      text_ += "#endif\n";
    }
    if (text_.size() > kMostSourceBytes) {
      fail(Code::malformed, file.name + ": more than 16 MiB with all that it includes");
    }
  }

  // Puts a file in the place of the directive.
  void include(const std::string& file, std::size_t number, const Directive& directive, int conditions) {
    const std::string here = file + ":" + std::to_string(number) + ": ";
    // A condition may exclude what cannot be included.
    const auto cannot = [&](Code code, const std::string& why) {
      if (conditions == 0) fail(code, here + why);
      text_ += "#error " + why + "\n";
    };
    if (directive.word == "import") return cannot(Code::malformed, "#import is not supported, only #include");
    const Result<std::vector<Name>> names = macros_.names(directive.rest);
    if (!names) return cannot(Code::malformed, names.status().message());
    if (names->empty()) {
      return cannot(Code::malformed, "#include needs the name of a file in quotes or angle brackets");
    }
    std::optional<Included> found;
    for (const Name& name : *names) {
      std::optional<Included> one = find(file, name);
      if (one && found && found->name != one->name) {
        return cannot(Code::malformed, "the macro may mean '" + found->name + "' or '" + one->name + "'");
      }
      if (one) found = std::move(one);
    }
    if (!found) return cannot(Code::not_found, "there is no file '" + names->front().name + "' to include");
    const auto around =
        std::find_if(stack_.begin(), stack_.end(), [&](const Open& o) { return o.name == found->name; });
    if (around != stack_.end() && !around->is_guarded) {
      fail(Code::malformed, here + found->name + " includes itself");
    }
    if (around != stack_.end()) {
      text_ += "\n";
      return;
    }
    add(*found, conditions);
    text_ += line_directive(number + 1, file);
  }

  std::optional<Included> find(const std::string& file, const Name& name) {
    const std::string beside = os::parent_of(file);
    std::vector<std::string> known = {plain_name(name.name)};
    if (name.quoted) known.insert(known.begin(), plain_name(os::joined_path(beside, name.name)));
    for (const std::string& each : known) {
      const auto header = places_.headers.find(each);
      if (header != places_.headers.end()) return Included{header->first, header->second};
    }
    std::vector<std::string> places = places_.folders;
    if (name.quoted) places.insert(places.begin(), beside);
    for (const std::string& place : places) {
      const std::string path = os::joined_path(place, name.name);
      const std::string on_disk = os::joined_path(places_.directory, path);
      std::error_code ignored;
      if (!fs::is_regular_file(os::native(on_disk), ignored)) continue;
      std::string text = need(process::read_text_file(on_disk, kMostSourceBytes));
      if (std::find(files_.begin(), files_.end(), path) == files_.end()) files_.push_back(path);
      return Included{path, std::move(text)};
    }
    return std::nullopt;
  }

  // A file that is being read.
  struct Open {
    std::string name;
    bool is_guarded;  // including it again adds nothing
  };

  const IncludePlaces& places_;
  Macros macros_;
  std::vector<Open> stack_;  // the innermost last
  std::string text_;
  std::vector<std::string> files_;
};

}  // namespace

Result<FlatSource> flatten(const std::string& file, const std::string& text, const IncludePlaces& places) try {
  Flattener flattener(places);
  flattener.add({file, text}, 0);
  return flattener.take();
} catch (const Failure& failure) {
  return failure.status;
}

}  // namespace clbake::builder::program
