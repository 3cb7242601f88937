// JSON with a fixed set of fields: every wrong value is reported with the path to it.
#pragma once

#include <clbake/status.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace clbake::builder::process {

using Json = nlohmann::ordered_json;

// The value of the text. Fails with malformed: not JSON (with line and column), nested more than 16 deep, or an
// object that has a name twice, of which one value would be lost, or more than 64 names.
Result<Json> parse_json(const std::string& text);

// A value and the way to it from the root.
struct JsonValue {
  const Json& json;
  const JsonValue* parent = nullptr;
  const char* key = nullptr;  // in the parent; null: `index`
  std::size_t index = 0;

  // "measurements[17].variant"; empty for the root.
  std::string path() const;
};

// A field of an object or a column of a row: its name and bool(const JsonValue&), which reads it.
template <typename Read>
struct JsonField {
  const char* key;
  Read read;
  bool may_be_missing = false;
};
template <typename Read>
JsonField<Read> json_field(const char* key, Read read) {
  return {key, read};
}
template <typename Read>
JsonField<Read> optional(JsonField<Read> field) {
  field.may_be_missing = true;
  return field;
}

// All functions return false at the first wrong value; failure() then says which and why.
class JsonReader {
 public:
  const std::string& failure() const { return failure_; }
  bool fail(const JsonValue& at, const std::string& cause);
  // For a part of `at` that need not exist.
  bool fail(const JsonValue& at, const char* key, const std::string& cause) { return fail({at.json, &at, key}, cause); }

  bool read(const JsonValue& at, std::string& value);
  bool read(const JsonValue& at, bool& value);
  bool read(const JsonValue& at, std::uint64_t& value);
  bool read(const JsonValue& at, std::uint32_t& value);
  bool read(const JsonValue& at, double& value);  // not negative

  // A field that is read into `value`.
  template <typename T>
  auto field(const char* key, T& value) {
    return json_field(key, [this, &value](const JsonValue& at) { return read(at, value); });
  }

  // An object with these fields and no other, read in this order. A misspelt field would otherwise be ignored.
  template <typename... Reads>
  bool object(const JsonValue& at, const JsonField<Reads>&... fields) {
    if (!at.json.is_object()) return fail(at, "is not an object");
    for (const auto& [key, value] : at.json.items()) {
      if (!((key == fields.key) || ...)) return fail({value, &at, key.c_str()}, "is no field of this format");
    }
    return (member(at, fields) && ...);
  }

  // A field of an object that may have others.
  template <typename Read>
  bool member(const JsonValue& object, const JsonField<Read>& field) {
    const auto found = object.json.find(field.key);
    if (found == object.json.end()) return field.may_be_missing || fail(object, field.key, "is missing");
    return field.read(JsonValue{*found, &object, field.key});
  }

  // A list of exactly these values.
  template <typename... Reads>
  bool row(const JsonValue& at, const JsonField<Reads>&... columns) {
    const std::size_t size = sizeof...(columns);
    if (!at.json.is_array() || at.json.size() != size) {
      return fail(at, "is not a list of " + std::to_string(size) + " values");
    }
    std::size_t i = 0;
    return (columns.read(JsonValue{at.json[i++], &at, columns.key}) && ...);
  }

  // A list of anything: calls read(element) for each.
  template <typename Read>
  bool list(const JsonValue& at, const Read& read_element) {
    if (!at.json.is_array()) return fail(at, "is not a list");
    for (std::size_t i = 0; i < at.json.size(); ++i) {
      if (!read_element(JsonValue{at.json[i], &at, nullptr, i})) return false;
    }
    return true;
  }

 private:
  std::string failure_;
};

}  // namespace clbake::builder::process
