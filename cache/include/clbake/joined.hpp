// Messages: texts and numbers, one after another.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace clbake {

// A text, or a whole number that is not negative.
class Piece {
 public:
  Piece(const char* text) : Piece(std::string_view(text)) {}
  Piece(const std::string& text) : text_(text.data()), value_(text.size()) {}
  Piece(std::string_view text) : text_(text.empty() ? "" : text.data()), value_(text.size()) {}
  template <typename Number, typename = std::enable_if_t<std::is_integral_v<Number>>>
  Piece(Number number) : value_(static_cast<std::uint64_t>(number)) {}

  void append_to(std::string& message) const {
    if (text_) {
      message.append(text_, value_);
    } else {
      message += std::to_string(value_);
    }
  }

 private:
  const char* text_ = nullptr;  // null: a number
  std::uint64_t value_ = 0;     // the number, or the text's length
};

// joined({"m = ", m, " is too large"}). Less code than a chain of `+`, of which an embedded library has many.
inline std::string joined(std::initializer_list<Piece> pieces) {
  std::string message;
  for (const Piece& piece : pieces) piece.append_to(message);
  return message;
}

}  // namespace clbake
