#include "cli/printable.hpp"

#include <cstdint>

namespace clbake::tool {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// The character that begins at `at`. Longer forms than needed and halves of surrogate pairs are not UTF-8.
Character character(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(at);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return {};
  std::uint32_t code = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(at + i) & 0x3FU);
  }
  constexpr std::uint32_t least[] = {0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < least[bytes - 2] || surrogate || code > 0x10FFFF ? Character{} : Character{code, bytes};
}

bool shown(const Character& c) {
  const bool control = c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0);
  return c.bytes > 0 && !control && c.code != 0xFFFE && c.code != 0xFFFF;
}

}  // namespace

std::string printable(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character(text, at);
    const std::size_t bytes = c.bytes > 0 ? c.bytes : 1;
    out += shown(c) ? text.substr(at, bytes) : "?";
    at += bytes;
  }
  return out;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace clbake::tool
