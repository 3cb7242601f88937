// Names that macros make, as in #include NAME_OF(FOLDER/file.h).
#include <clbake/includes.hpp>

#include <algorithm>

namespace clbake::includes {
namespace {

constexpr std::size_t kMostTexts = 64;     // that one name may stand for
constexpr std::size_t kLongest = 1 << 16;  // of these, bytes
constexpr std::size_t kMostNested = 64;    // macros in macros and their arguments
constexpr std::size_t kMostWork = 4096;    // macros, one by one

bool begins_identifier(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }
bool is_in_identifier(char c) { return begins_identifier(c) || (c >= '0' && c <= '9'); }

// The end of the token that begins at `at`: an identifier, a number, a text in quotes, or one other character.
std::size_t token_end(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  if (is_in_identifier(text[at])) {
    while (end < text.size() && is_in_identifier(text[end])) ++end;
  } else if (text[at] == '"' || text[at] == '\'') {
    while (end < text.size() && text[end] != text[at]) end += text[end] == '\\' ? 2 : 1;
    end = std::min(end + 1, text.size());
  }
  return end;
}

// A text as the # operator quotes it.
std::string as_string(std::string_view text) {
  std::string result = "\"";
  bool is_blank = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = token_end(text, at);
    const bool blank = std::string_view(kBlanks).find(text[at]) != std::string_view::npos;
    if (!blank && is_blank && result.size() > 1) result += ' ';
    const bool is_quoted = text[at] == '"' || text[at] == '\'';
    for (; !blank && at < end; ++at) {
      if (is_quoted && (text[at] == '"' || text[at] == '\\')) result += '\\';
      result += text[at];
    }
    is_blank = blank;
    at = end;
  }
  return result + '"';
}

// The arguments of a call whose ( is at `at`, which becomes the place behind its ). False: it does not end.
bool read_arguments(std::string_view text, std::size_t& at, std::vector<std::string_view>& arguments) {
  std::size_t depth = 0, begin = at + 1;
  while (at < text.size()) {
    const char c = text[at];
    const std::size_t end = token_end(text, at);
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if ((c == ',' && depth == 1) || depth == 0) {
      arguments.push_back(trimmed(text.substr(begin, at - begin)));
      begin = end;
    }
    at = end;
    if (depth == 0) return true;
  }
  return false;
}

}  // namespace

// One text and all that it may become.
class Expansion {
 public:
  using Texts = std::vector<std::string>;

  explicit Expansion(const Macros& macros) : macros_(macros) {}

  // A macro's text is read again, together with what follows it. No text: there are too many.
  Texts expand(std::string_view text) {
    is_too_much_ = is_too_much_ || depth_ > kMostNested;
    if (is_too_much_) return {};
    ++depth_;
    Texts all = expanded(text);
    --depth_;
    return all;
  }

  bool is_too_much() const { return is_too_much_; }

 private:
  Texts expanded(std::string_view text) {
    std::string done;
    while (!text.empty()) {
      const std::size_t end = token_end(text, 0);
      const std::string_view token = text.substr(0, end);
      Texts all = begins_identifier(token[0]) ? replaced(token, text) : Texts();
      for (std::string& one : all) one.insert(0, done);
      if (!all.empty() || is_too_much_) return all;
      done += token;
      text.remove_prefix(end);
    }
    return {done};
  }

  // A macro that is being expanded: its name is no macro in its own text, which is all but the last `rest` bytes.
  struct Active {
    std::string name;
    std::size_t rest = 0;
  };

  bool is_active(std::string_view name, std::size_t left) const {
    return std::any_of(active_.begin(), active_.end(),
                       [&](const Active& a) { return a.name == name && left > a.rest; });
  }

  // The text that the macro at the beginning of a text becomes; nothing if it is no macro.
  Texts replaced(std::string_view token, std::string_view text) {
    Texts all;
    const auto known = macros_.definitions_.find(token);
    if (known == macros_.definitions_.end() || is_active(token, text.size())) return all;
    std::size_t call = std::min(text.find_first_not_of(kBlanks, token.size()), text.size());
    std::vector<std::string_view> arguments;
    const bool is_call = call < text.size() && text[call] == '(' && read_arguments(text, call, arguments);
    for (const Macros::Definition& definition : known->second) {
      if (definition.is_function && !is_call) continue;
      const std::string_view rest = text.substr(definition.is_function ? call : token.size());
      for (const std::string& body :
           definition.is_function ? substituted(definition, arguments, text.size()) : Texts{definition.body}) {
        is_too_much_ =
            is_too_much_ || ++work_ > kMostWork || all.size() > kMostTexts || body.size() + rest.size() > kLongest;
        if (is_too_much_) return {};
        active_.push_back({std::string(token), rest.size()});
        for (std::string& one : expand(body + std::string(rest))) all.push_back(std::move(one));
        active_.pop_back();
      }
    }
    return all;
  }

  // An argument is expanded alone, before it gets into the macro's text. `left`: bytes from the macro's name on.
  Texts expanded_argument(std::string_view argument, std::size_t left) {
    std::vector<Active> outer = std::exchange(active_, {});
    for (const Active& one : outer) {
      if (left > one.rest) active_.push_back({one.name, 0});
    }
    Texts all = expand(argument);
    active_ = std::move(outer);
    return all;
  }

  // The bodies with the arguments in their places.
  Texts substituted(const Macros::Definition& definition, const std::vector<std::string_view>& arguments,
                    std::size_t left) {
    Texts all{std::string()};
    const std::string_view body = definition.body;
    bool quotes = false, pastes = false;
    for (std::size_t at = 0; at < body.size() && !all.empty();) {
      const std::size_t end = token_end(body, at);
      const std::string_view token = body.substr(at, end - at);
      at = end;
      const bool joins = token == "#" && at < body.size() && body[at] == '#';
      if (joins) {
        for (std::string& one : all) one.resize(one.find_last_not_of(kBlanks) + 1);
        at = std::min(body.find_first_not_of(kBlanks, at + 1), body.size());
        pastes = true;
        continue;
      }
      if (token == "#") {
        quotes = true;
        continue;
      }
      const auto& names = definition.parameters;
      const auto parameter = static_cast<std::size_t>(std::find(names.begin(), names.end(), token) - names.begin());
      const bool is_parameter = parameter < names.size();
      const std::string_view argument = parameter < arguments.size() ? arguments[parameter] : std::string_view();
      const std::size_t next = std::min(body.find_first_not_of(kBlanks, at), body.size());
      const bool is_raw = pastes || body.substr(next, 2) == "##";
      append(all, !is_parameter ? Texts{std::string(token)}
                  : quotes      ? Texts{as_string(argument)}
                  : is_raw      ? Texts{std::string(argument)}
                                : expanded_argument(argument, left));
      quotes = pastes = false;
    }
    return all;
  }

  // Every text with every end.
  void append(Texts& all, const Texts& ends) {
    if (ends.size() == 1) {
      for (std::string& one : all) one += ends.front();
    } else {
      Texts both;
      for (const std::string& one : all) {
        for (const std::string& end : ends) {
          if (both.size() <= kMostTexts) both.push_back(one + end);
        }
      }
      all = std::move(both);
    }
    is_too_much_ = is_too_much_ || all.size() > kMostTexts || (!all.empty() && all.front().size() > kLongest);
  }

  const Macros& macros_;
  std::vector<Active> active_;
  std::size_t work_ = 0;
  std::size_t depth_ = 0;
  bool is_too_much_ = false;
};

void Macros::add(const std::string& name, Definition definition) {
  std::vector<Definition>& all = definitions_[name];
  if (all.size() > kMostTexts + 1) return;  // whoever uses it fails
  if (std::find(all.begin(), all.end(), definition) != all.end()) return;
  all.push_back(std::move(definition));
  ++size_;
}

void Macros::define(std::string_view rest) {
  std::size_t end = 0;
  while (end < rest.size() && is_in_identifier(rest[end])) ++end;
  if (end == 0) return;
  Definition definition;
  std::size_t behind = end;
  if (end < rest.size() && rest[end] == '(') {
    definition.is_function = true;
    std::vector<std::string_view> names;
    if (!read_arguments(rest, behind, names)) return;
    definition.parameters.assign(names.begin(), names.end());
  }
  definition.body = trimmed(rest.substr(behind));
  add(std::string(rest.substr(0, end)), std::move(definition));
}

void Macros::define_option(const std::string& text) {
  const std::size_t equal = text.find('=');
  if (equal == std::string::npos) return define(text + " 1");
  define(text.substr(0, equal) + " " + text.substr(equal + 1));
}

Result<std::vector<Name>> Macros::names(std::string_view rest) const {
  Expansion::Texts texts{std::string(rest)};
  if (!rest.empty() && rest[0] != '"' && rest[0] != '<') {
    Expansion expansion(*this);
    texts = expansion.expand(rest);
    if (expansion.is_too_much()) {
      return {Argument::other, "an include of " + std::string(rest) + ": its macros may stand for too many files"};
    }
  }
  std::vector<Name> names;
  for (const std::string& text : texts) {
    const std::string_view one = trimmed(text);
    const bool is_quoted = !one.empty() && one[0] == '"';
    if (!is_quoted && (one.empty() || one[0] != '<')) continue;
    const std::size_t end = one.find(is_quoted ? '"' : '>', 1);
    if (end == std::string_view::npos || end == 1) continue;
    const Name name{std::string(one.substr(1, end - 1)), is_quoted};
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace clbake::includes
