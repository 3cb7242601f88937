// Text of the JSON that a recording is written in.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clbake::layer::record {

// The text in quotes. It must be UTF-8.
std::string quoted(std::string_view text);

bool is_utf8(std::string_view text);

// "[a,b]" of items that are JSON already.
std::string list(const std::vector<std::string>& items);

// "[1,2,3]".
std::string list(const std::size_t (&sizes)[3]);

// An object whose fields are added one by one.
class Object {
 public:
  // `json`: the field's value, as JSON.
  Object& add(const char* name, const std::string& json) {
    text_ += (text_.empty() ? "" : ",") + quoted(name) + ":" + json;
    return *this;
  }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

// Two hexadecimal digits for each byte.
std::string hex(const void* bytes, std::size_t count);

}  // namespace clbake::layer::record
