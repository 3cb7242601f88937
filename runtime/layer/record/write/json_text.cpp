#include "record/write/json_text.hpp"

namespace clbake::layer::record {
namespace {

constexpr const char* kHexDigits = "0123456789abcdef";

// Bytes of the character that begins with this one; 0: none does.
std::size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

}  // namespace

std::string hex(const void* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned char byte = static_cast<const unsigned char*>(bytes)[i];
    text += kHexDigits[byte / 16];
    text += kHexDigits[byte % 16];
  }
  return text;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00" + hex(&c, 1);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const std::size_t length = length_of(byte(i));
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    }
    // Too long a form of a character, a half of a pair of UTF-16, or a number above the last character's.
    if (length == 3 && ((byte(i) == 0xE0 && byte(i + 1) < 0xA0) || (byte(i) == 0xED && byte(i + 1) > 0x9F)))
      return false;
    if (length == 4 && ((byte(i) == 0xF0 && byte(i + 1) < 0x90) || (byte(i) == 0xF4 && byte(i + 1) > 0x8F)))
      return false;
    i += length;
  }
  return true;
}

std::string list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
  return "[" + text + "]";
}

std::string list(const std::size_t (&sizes)[3]) {
  return list(std::vector<std::string>{std::to_string(sizes[0]), std::to_string(sizes[1]), std::to_string(sizes[2])});
}

}  // namespace clbake::layer::record
