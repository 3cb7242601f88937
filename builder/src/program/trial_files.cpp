#include "program/trial_files.hpp"

#include <clbake/os/paths.hpp>

#include "process/text_file.hpp"

#include <algorithm>
#include <utility>

namespace clbake::builder::program {
using namespace process;
namespace {

constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 32;

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

Content content_of(cache::Bytes bytes) {
  const std::uint64_t size = bytes.size();
  return {std::move(bytes), size};
}

}  // namespace

SharedContent bytes_of_hex(const std::string& digits) {
  if (digits.size() % 2 != 0) return nullptr;
  const auto content = std::make_shared<Content>(content_of(cache::Bytes(digits.size() / 2)));
  for (std::size_t i = 0; i < content->begin.size(); ++i) {
    const int high = digit_value(digits[2 * i]), low = digit_value(digits[2 * i + 1]);
    if (high < 0 || low < 0) return nullptr;
    content->begin[i] = static_cast<std::uint8_t>(16 * high + low);
  }
  return content;
}

std::string hex_of(const std::uint8_t* bytes, std::size_t size) {
  std::string digits;
  digits.reserve(2 * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (const int part : {bytes[i] >> 4, bytes[i] & 15}) digits += "0123456789abcdef"[part];
  }
  return digits;
}

SharedContent TrialFiles::find(const std::string& name) {
  const auto known = files_.find(name);
  if (known != files_.end()) return known->second;
  const std::string path = os::joined_path(directory_, name);
  const Result<std::string> text = directory_.empty() ? Result<std::string>(Code::not_found, name + ": is not there")
                                                      : read_text_file(path, kMostFileBytes);
  if (!text && failure_.empty()) failure_ = text.status().message();
  if (!text) return nullptr;
  Content content = content_of({text->begin(), text->end()});
  return files_.emplace(name, std::make_shared<const Content>(std::move(content))).first->second;
}

std::vector<std::string> TrialFiles::names() const {
  std::vector<std::string> all;
  for (const auto& file : files_) all.push_back(file.first);
  return all;
}

Json TrialFiles::json(std::size_t kept) const {
  Json list = Json::array();
  for (const auto& [name, content] : files_) {
    const cache::Bytes& bytes = content->begin;
    const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
    const auto cut = bytes.rend() - static_cast<std::ptrdiff_t>(std::min(kept, bytes.size()));
    const auto end = std::find_if_not(cut, bytes.rend(), is_zero).base();
    list.push_back({name, content->size, hex_of(bytes.data(), static_cast<std::size_t>(end - bytes.begin()))});
  }
  return list;
}

bool TrialFiles::read(JsonReader& reader, const JsonValue& at, TrialFiles& files) {
  return reader.list(at, [&](const JsonValue& row) {
    std::string name, digits;
    std::uint64_t size = 0;
    const bool read =
        reader.row(row, reader.field("name", name), reader.field("bytes", size), reader.field("hex", digits));
    if (!read) return false;
    const SharedContent begin = bytes_of_hex(digits);
    if (!begin || begin->size > size || size > kMostFileBytes) return reader.fail(row, "is no file");
    files.files_[name] = std::make_shared<const Content>(Content{begin->begin, size});
    return true;
  });
}

}  // namespace clbake::builder::program
