#include "process/json_reader.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <vector>

namespace clbake::builder {
namespace {

constexpr std::size_t kMaxNames = 64;  // of an object; a profile has 22
constexpr std::size_t kMaxShown = 200;

struct WrongJson : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The parser calls it for every value and name; it throws WrongJson.
class Checks {
 public:
  explicit Checks(std::size_t max_depth) : max_depth_(max_depth) {}

  // `depth`: how many lists and objects there are around.
  void take(std::size_t depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    const bool starts = event == Event::object_start || event == Event::array_start;
    if (starts && depth >= max_depth_) {
      throw WrongJson("lists and objects nested more than " + std::to_string(max_depth_) + " deep");
    }
    if (event == Event::key) return name(parsed.get<std::string>());
    levels_.resize(depth);
    if (starts) {
      levels_.emplace_back().list = event == Event::array_start;
    } else if (depth > 0) {
      ++levels_.back().values;
    }
  }

 private:
  struct Level {
    bool list = false;
    std::size_t values = 0;  // of a list, so far
    std::string name;        // the latest of an object
    std::set<std::string> names;
  };

  void name(const std::string& name) {
    Level& level = levels_.back();
    const auto control = [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; };
    const bool plain = std::none_of(name.begin(), name.end(), control);
    level.name = plain ? name : "?";
    if (!plain) fail("the name has a control character");
    if (!level.names.insert(name).second) fail("is there twice");
    if (level.names.size() > kMaxNames) fail("is one name too many");
  }

  [[noreturn]] void fail(const char* cause) const {
    std::string path;
    for (const Level& level : levels_) {
      path += level.list ? "[" + std::to_string(level.values) + "]" : (path.empty() ? "" : ".") + level.name;
    }
    throw WrongJson(path.substr(0, kMaxShown) + ": " + cause);
  }

  std::size_t max_depth_;
  std::vector<Level> levels_;
};

std::string describe(const Json::parse_error& error, const std::string& text) {
  const std::size_t at = std::min(error.byte, text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const std::string what = error.what();  // "[json.exception...] parse error at ...: CAUSE"
  const std::size_t cause = what.find(": ");
  return "line " + std::to_string(line) + ", byte " + std::to_string(error.byte) + ": " +
         (at == text.size() ? "the text ends too early: " : "") +
         what.substr(cause == std::string::npos ? 0 : cause + 2);
}

}  // namespace

Result<Json> parse_json(const std::string& text, std::size_t max_depth) {
  if (text.empty()) return {Code::malformed, "is empty"};
  Checks checks(max_depth);
  const auto callback = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    checks.take(static_cast<std::size_t>(depth), event, parsed);
    return true;
  };
  try {
    return Json::parse(text, callback);
  } catch (const Json::parse_error& error) {
    return {Code::malformed, describe(error, text)};
  } catch (const Json::exception& error) {
    return {Code::malformed, error.what()};
  } catch (const WrongJson& error) {
    return {Code::malformed, error.what()};
  }
}

std::string JsonValue::path() const {
  if (!parent) return {};
  const std::string before = parent->path();
  if (!key) return before + "[" + std::to_string(index) + "]";
  return before.empty() ? key : before + "." + key;
}

bool JsonReader::fail(const JsonValue& at, const std::string& cause) {
  const std::string path = at.path();
  failure_ = path.empty() ? cause : path + ": " + cause;
  return false;
}

bool JsonReader::read(const JsonValue& at, std::string& value) {
  if (!at.json.is_string()) return fail(at, "is not a text");
  value = at.json.get<std::string>();
  return true;
}

bool JsonReader::read(const JsonValue& at, bool& value) {
  if (!at.json.is_boolean()) return fail(at, "is neither true nor false");
  value = at.json.get<bool>();
  return true;
}

bool JsonReader::read(const JsonValue& at, std::uint64_t& value) {
  if (!at.json.is_number_unsigned()) return fail(at, "is not a whole number, 0 or more");
  value = at.json.get<std::uint64_t>();
  return true;
}

bool JsonReader::read(const JsonValue& at, std::uint32_t& value) {
  std::uint64_t wide = 0;
  if (!read(at, wide)) return false;
  if (wide > UINT32_MAX) return fail(at, std::to_string(wide) + " is more than 4294967295");
  value = static_cast<std::uint32_t>(wide);
  return true;
}

bool JsonReader::read(const JsonValue& at, double& value) {
  if (!at.json.is_number()) return fail(at, "is not a number");
  value = at.json.get<double>();
  return (std::isfinite(value) && value >= 0) || fail(at, "is negative or too large");
}

}  // namespace clbake::builder
