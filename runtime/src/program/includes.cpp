#include <clbake/includes.hpp>
#include <clbake/os/files.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace clbake::includes {
namespace {

constexpr std::size_t kMostFiles = 4096;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // all files together

// ---- Names of files ----

// "a/b/" of "a/b/c.h"; empty without a folder.
std::string folder_of(const std::string& name) { return name.substr(0, name.rfind('/') + 1); }

}  // namespace

// ---- Options ----

bool next_option(std::string_view& left, std::string& raw, std::string& plain) {
  constexpr std::string_view separators = " \t\r\v\f\n";
  left.remove_prefix(std::min(left.find_first_not_of(separators), left.size()));
  raw.clear();
  plain.clear();
  char quote = 0;
  std::size_t i = 0;
  for (; i < left.size() && (quote != 0 || separators.find(left[i]) == std::string_view::npos); ++i) {
    const char c = left[i];
    if (c == '\\' && i + 1 < left.size() && quote != '\'') {
      plain += left[++i];
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else {
      plain += c;
    }
  }
  raw = left.substr(0, i);
  left.remove_prefix(i);
  return !raw.empty();
}

namespace {

bool includes_otherwise(const std::string& option) {
  return option[0] == '@' || option.rfind("-i", 0) == 0 || option.rfind("--include", 0) == 0;
}

// ---- Directives ----

// Characters that a search for directives stops at, inside of a line.
struct Stops {
  constexpr Stops() : stops() {
    for (const char c : {'\n', '/', '"', '\''}) stops[static_cast<unsigned char>(c)] = true;
  }
  bool stops[256];
};
constexpr Stops kStops;

// Reads the directives of a text one by one, in one pass, as texts may have megabytes.
class DirectiveReader {
 public:
  explicit DirectiveReader(std::string_view text) : text_(text) {}

  // The next directive without comments, its continued lines joined; false at the end.
  bool next(Directive& directive) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        begins_line_ = true;
        ++at_;
      } else if (c == '/' && skip_comment()) {
      } else if (c == '"' || c == '\'') {
        begins_line_ = false;
        skip_quoted();
      } else if (std::string_view(kBlanks).find(c) != std::string_view::npos) {
        ++at_;
      } else {
        const bool may_be_mark = begins_line_ && (c == '#' || c == '%' || c == '?');
        begins_line_ = false;
        if (may_be_mark) {
          if (read_line(directive)) return true;
          continue;
        }
        for (++at_; at_ < text_.size() && !kStops.stops[static_cast<unsigned char>(text_[at_])];) ++at_;
      }
    }
    return false;
  }

 private:
  bool is_at(std::string_view what) const { return text_.compare(at_, what.size(), what) == 0; }

  // The place of the next line that does not continue this one, less its end.
  std::size_t line_end(std::size_t from) const {
    std::size_t end = from;
    while (true) {
      end = std::min(text_.find('\n', end), text_.size());
      std::size_t last = end;
      while (last > from && std::string_view(kBlanks).find(text_[last - 1]) != std::string_view::npos) --last;
      if (end == text_.size() || last == from || text_[last - 1] != '\\') return end;
      ++end;
    }
  }

  bool skip_comment() {
    const bool is_line = is_at("//");
    if (!is_line && !is_at("/*")) return false;
    const std::size_t end = is_line ? line_end(at_) : text_.find("*/", at_ + 2);
    at_ = is_line ? end : std::min(end, text_.size() - 2) + 2;
    return true;
  }

  void skip_quoted() {
    const char quote = text_[at_];
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    at_ = std::min(at_, text_.size());
  }

  // Reads the logical line from here on; false if it is no directive.
  bool read_line(Directive& directive) {
    std::string line;
    for (std::size_t end = line_end(at_); at_ < end;) {
      const std::size_t from = at_;
      if (text_[at_] == '/' && skip_comment()) {
        line += ' ';
        if (at_ > end) end = line_end(at_);  // the comment had more lines
      } else if (text_[at_] == '"' || text_[at_] == '\'') {
        skip_quoted();
        line += text_.substr(from, at_ - from);
      } else if (text_[at_] == '\\' && is_splice()) {
        at_ = text_.find('\n', at_) + 1;
      } else {
        line += text_[at_++];
      }
    }
    directive = directive_of(line);
    return !directive.word.empty();
  }

  // A backslash with nothing but blanks behind it in its line.
  bool is_splice() const {
    const std::size_t behind = text_.find_first_not_of(kBlanks, at_ + 1);
    return behind != std::string_view::npos && text_[behind] == '\n';
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool begins_line_ = true;
};

// Saves most programs the rest. A word may be cut by a line that continues, and an option may define a condition.
bool may_include(std::string_view text, const Options& options) {
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  return has("include") || has("import") || has("embed") || has("\\") ||
         options.others.find("__has") != std::string::npos;
}

// True where a carriage return ends a line by itself, as compilers see it.
bool has_lone_return(std::string_view text) {
  for (std::size_t at = text.find('\r'); at != std::string_view::npos; at = text.find('\r', at + 1)) {
    if (text.substr(at + 1, 1) != "\n") return true;
  }
  return false;
}

// A line that needs a file, or asks for one.
struct Wanted {
  std::string rest;      // the name, or what macros make it of
  bool is_next = false;  // of #include_next, which goes on in a later folder
};

// The names in __has_include(...) and the like, which only ask for a file.
void add_asked_for(std::string_view rest, std::vector<Wanted>& all) {
  for (std::size_t at = rest.find("__has_"); at != std::string_view::npos; at = rest.find("__has_", at + 1)) {
    const std::string_view part = rest.substr(at, 4096);  // no path is longer
    const std::size_t begin = part.find('('), end = part.find(')');
    if (begin >= end || end == std::string_view::npos) continue;
    const std::string_view word = trimmed(part.substr(0, begin));
    const bool is_next = word == "__has_include_next";
    if (!is_next && word != "__has_include" && word != "__has_embed") continue;
    all.push_back({std::string(trimmed(part.substr(begin + 1, end - begin - 1))), is_next});
  }
}

// The same of a macro's definition. False where the macro's text alone does not tell the name.
bool add_asked_for_by(std::string_view definition, std::vector<Wanted>& all) {
  const std::size_t before = all.size();
  const std::string_view text = definition.substr(std::min(definition.find_first_of(" \t(=\"<"), definition.size()));
  add_asked_for(text, all);
  std::size_t asked = 0;
  for (const std::string_view word : {"__has_include", "__has_embed"}) {
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++asked;
  }
  return all.size() - before == asked &&
         std::all_of(all.begin() + static_cast<std::ptrdiff_t>(before), all.end(),
                     [](const Wanted& one) { return one.rest[0] == '"' || one.rest[0] == '<'; });
}

class Scanner {
 public:
  Scanner(const Options& options, Files& files) : options_(options), files_(files) {
    for (const std::string& definition : options.definitions) macros_.define_option(definition);
  }

  Status run(std::string_view text) {
    if (files_.empty() && !may_include(text, options_)) return {};
    for (const auto& [name, content] : files_) scan({folder_of(name), {}, false}, content);
    std::vector<Wanted> found;
    for (const std::string& definition : options_.definitions) hides_ |= !add_asked_for_by(definition, found);
    add({{}, {}, true}, std::move(found));
    scan({{}, {}, true}, text);
    // A macro may be defined in any file: until nothing new comes.
    std::size_t macros = 0, directives = 0;
    do {
      macros = macros_.size();
      directives = directives_.size();
      for (std::size_t i = 0; i < directives_.size(); ++i) {
        const auto directive = directives_[i];
        const Result<std::vector<Name>> names = macros_.names(directive.second.rest);
        if (!names) return names.status();
        for (const Name& name : *names) {
          if (Status added = add(directive.first, name, directive.second.is_next); !added) return added;
        }
      }
    } while (macros != macros_.size() || directives != directives_.size());
    if (hides_) return {Argument::other, "a macro asks by __has_include for a file that its own text does not name"};
    return {};
  }

 private:
  // A text that includes others.
  struct Includer {
    std::string folder;   // of its name, with a slash at the end
    std::string on_disk;  // folder of its file
    bool is_first = false;

    bool operator<(const Includer& other) const {
      return std::tie(folder, on_disk, is_first) < std::tie(other.folder, other.on_disk, other.is_first);
    }
  };

  void scan(const Includer& includer, std::string_view text) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text.substr(0, byte_order_mark.size()) == byte_order_mark) text.remove_prefix(byte_order_mark.size());
    std::string lines;
    if (has_lone_return(text)) {
      lines = text;
      std::replace(lines.begin(), lines.end(), '\r', '\n');
      text = lines;
    }
    std::vector<Wanted> found;
    DirectiveReader reader(text);
    for (Directive directive; reader.next(directive);) {
      const std::string& word = directive.word;
      const bool is_next = word == "include_next";
      if (word == "define") macros_.define(directive.rest), hides_ |= !add_asked_for_by(directive.rest, found);
      if (word == "if" || word == "elif") add_asked_for(directive.rest, found);
      if (is_next || word == "include" || word == "import" || word == "embed") {
        found.push_back({std::move(directive.rest), is_next});
      }
    }
    add(includer, std::move(found));
  }

  void add(const Includer& includer, std::vector<Wanted> found) {
    for (Wanted& wanted : found) directives_.emplace_back(includer, std::move(wanted));
  }

  // Adds the file that the name means, if there is one; for #include_next, all that it may mean.
  Status add(const Includer& includer, const Name& name, bool is_next) {
    if (!seen_.insert({includer, name.name + (name.quoted ? '"' : '>') + (is_next ? "+" : "")}).second) return {};
    if (name.name[0] == '/') return add_file(name.name, name.name).status();
    if (name.quoted && !includer.is_first) {
      const std::string beside = plain_name(includer.folder + name.name);
      if (includer.on_disk.empty() && files_.count(beside) != 0 && !is_next) return {};
      if (!includer.on_disk.empty()) {
        const Result<bool> added = add_file(beside, includer.on_disk + name.name);
        if (!added || (*added && !is_next)) return added.status();
      }
    }
    const std::string key = plain_name(name.name);
    bool is_found = files_.count(key) != 0;
    for (const std::string& folder : options_.folders) {
      const Result<bool> added = add_file(key, folder + "/" + name.name);
      if (!added) return added.status();
      if (*added) is_found = true;
      if (*added && !is_next) break;
    }
    // Some compilers look in the working directory, others do not.
    if (is_found && !includer.is_first) return {};
    return add_file(key, name.name).status();
  }

  static Status too_large() {
    return {Argument::other, "the files to include are too many or too large: more than 4096, or 64 MiB"};
  }

  // Returns false if there is no such file.
  Result<bool> add_file(const std::string& name, const std::string& path) {
    Result<std::string> text = os::read_file(path, kMostBytes);
    if (text.status().code() == Code::malformed) return too_large();
    if (!text) return false;
    bytes_ += text->size();
    const auto [known, is_new] = files_.try_emplace(name, std::move(*text));  // left as it is unless it is new
    if (!is_new && known->second != *text) {
      return {Argument::other, "'" + name + "' to include may be either of two different files, one of them " + path};
    }
    if (files_.size() > kMostFiles || bytes_ > kMostBytes) {
      return too_large();
    }
    const Includer file{folder_of(name), path.find('/') == std::string::npos ? "./" : folder_of(path), false};
    if (is_new || scanned_.insert(path).second) scan(file, known->second);
    scanned_.insert(path);
    return true;
  }

  const Options& options_;
  Files& files_;
  Macros macros_;
  std::vector<std::pair<Includer, Wanted>> directives_;
  std::set<std::pair<Includer, std::string>> seen_;
  std::set<std::string> scanned_;  // paths
  std::size_t bytes_ = 0;
  bool hides_ = false;  // a macro asks for a file of which the name is elsewhere
};

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::string plain_name(const std::string& name) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    std::string part = name.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else {
      parts.push_back(std::move(part));
    }
  }
  std::string result = !name.empty() && name[0] == '/' ? "/" : "";
  for (const std::string& part : parts) result += (result.empty() || result == "/" ? "" : "/") + part;
  return result;
}

std::string without_comments(std::string_view lines) {
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

Directive directive_of(std::string_view line) {
  std::string_view text = trimmed(line);
  std::size_t mark = 0;
  for (const std::string_view spelling : {"#", "%:", "?\?="}) {
    if (text.substr(0, spelling.size()) == spelling) mark = spelling.size();
  }
  if (mark == 0) return {};
  text = trimmed(text.substr(mark));
  const std::size_t end = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), text.size());
  return {std::string(text.substr(0, end)), std::string(trimmed(text.substr(end)))};
}

Result<Options> read_options(std::string_view options) {
  Options read;
  std::string raw, plain;
  while (next_option(options, raw, plain)) {
    const std::string kind = plain.substr(0, 2);
    if (includes_otherwise(plain)) return {Argument::options, "the option " + raw + " includes files"};
    if (kind == "-I" || kind == "-D") {
      std::string all = raw, value = plain.substr(2);
      if (value.empty() && next_option(options, raw, plain)) {
        all += " " + raw;
        value = plain;
      }
      (kind == "-I" ? read.folders : read.definitions).push_back(std::move(value));
      if (kind == "-I") continue;
      raw = std::move(all);
    }
    read.others += (read.others.empty() ? "" : " ") + raw;
    if (kind != "-D") read.rest += (read.rest.empty() ? "" : " ") + raw;
  }
  return read;
}

Status add_included(std::string_view text, const Options& options, Files& files) {
  return Scanner(options, files).run(text);
}

}  // namespace clbake::includes
