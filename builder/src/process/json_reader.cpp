#include "process/json_reader.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

namespace clbake::builder::process {

constexpr std::size_t kMostNames = 64;  // of an object
constexpr std::size_t kMostDepth = 16;

Result<Json> parse_json(const std::string& text) {
  if (text.empty()) return {Code::malformed, "is empty"};
  std::vector<std::set<std::string>> names;  // of the objects and lists around the place
  const auto check = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
      names.resize(static_cast<std::size_t>(depth));
      names.emplace_back();
      if (names.size() <= kMostDepth) return true;
      throw std::length_error("lists and objects nested more than " + std::to_string(kMostDepth) + " deep");
    }
    if (event != Json::parse_event_t::key) return true;
    std::set<std::string>& known = names[static_cast<std::size_t>(depth) - 1];
    if (!known.insert(parsed.dump()).second) throw std::length_error(parsed.dump() + " is there twice in an object");
    if (known.size() > kMostNames)
      throw std::length_error("an object has more than " + std::to_string(kMostNames) + " fields");
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const Json::exception& error) {
    const std::string what = error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: CAUSE"
    return {Code::malformed, what.substr(what.find("] ") + 2)};
  } catch (const std::length_error& error) {
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
  std::string path = at.path();
  std::replace_if(
      path.begin(), path.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
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
  return value >= 0 || fail(at, "is negative");
}

}  // namespace clbake::builder::process
