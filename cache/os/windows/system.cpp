#include "windows/system.hpp"

#include <algorithm>

namespace clbake::os::windows {
namespace {

constexpr std::size_t kLong = 240;  // a file right in a directory of MAX_PATH, 260, must be possible, too

std::wstring converted(std::string_view text, DWORD flags) {
  const int size = static_cast<int>(text.size());
  std::wstring result(text.size(), L'\0');
  const int got = size == 0 ? 0 : ::MultiByteToWideChar(CP_UTF8, flags, text.data(), size, result.data(), size);
  result.resize(static_cast<std::size_t>(std::max(got, 0)));
  return result;
}

bool begins(const std::wstring& text, const wchar_t* with) { return text.rfind(with, 0) == 0; }

}  // namespace

std::wstring full_path(const std::wstring& path) {
  std::wstring full(32768, L'\0');
  full.resize(::GetFullPathNameW(path.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr));
  return full;
}

std::wstring wide(std::string_view text) { return converted(text, 0); }

Result<std::wstring> utf16(std::string_view text) {
  if (text.find('\0') != text.npos) return {Code::invalid_argument, "holds a NUL"};
  std::wstring result = converted(text, MB_ERR_INVALID_CHARS);
  if (result.empty() && !text.empty()) return {Code::invalid_argument, "is not UTF-8"};
  return result;
}

Result<std::wstring> wide_path(std::string_view path) {
  Result<std::wstring> result = utf16(path);
  if (!result || result->size() < kLong || begins(*result, L"\\\\?\\")) return result;
  const std::wstring full = full_path(*result);
  if (full.empty()) return result;
  return begins(full, L"\\\\") ? L"\\\\?\\UNC" + full.substr(1) : L"\\\\?\\" + full;
}

std::string narrow(std::wstring_view text) {
  if (text.empty()) return {};
  const int size = static_cast<int>(text.size());
  std::string result(text.size() * 3, '\0');
  const int got = ::WideCharToMultiByte(CP_UTF8, 0, text.data(), size, result.data(), size * 3, nullptr, nullptr);
  result.resize(static_cast<std::size_t>(std::max(got, 0)));
  return result;
}

std::string exact(std::wstring_view text) {
  std::string result;
  std::size_t done = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && IS_SURROGATE_PAIR(text[i], text[i + 1])) {
      ++i;
    } else if (IS_HIGH_SURROGATE(text[i]) || IS_LOW_SURROGATE(text[i])) {
      result += narrow(text.substr(done, i - done));
      result += static_cast<char>(0xE0 | text[i] >> 12);
      result += static_cast<char>(0x80 | (text[i] >> 6 & 0x3F));
      result += static_cast<char>(0x80 | (text[i] & 0x3F));
      done = i + 1;
    }
  }
  return result + narrow(text.substr(done));
}

std::string narrow_path(std::wstring path) {
  std::replace(path.begin(), path.end(), L'\\', L'/');
  if (begins(path, L"//?/UNC/")) path.erase(2, 6);
  if (begins(path, L"//?/")) path.erase(0, 4);
  return narrow(path);
}

std::string message_of(DWORD error) {
  wchar_t text[512];
  const DWORD size =
      ::FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK,
                       nullptr, error, 0, text, 512, nullptr);
  std::string result = narrow({text, size});
  result.erase(result.find_last_not_of(" .\r\n") + 1);
  return result.empty() ? "error " + std::to_string(error) : result;
}

Code code_of(DWORD error) {
  const bool is_missing = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND ||
                          error == ERROR_BAD_NETPATH || error == ERROR_BAD_NET_NAME || error == ERROR_INVALID_DRIVE;
  return is_missing ? Code::not_found : Code::io;
}

Status io_failure(const char* step, DWORD error) { return {Code::io, std::string(step) + ": " + message_of(error)}; }

bool is_passing(DWORD error) {
  return error == ERROR_SHARING_VIOLATION || error == ERROR_LOCK_VIOLATION || error == ERROR_DELETE_PENDING;
}

}  // namespace clbake::os::windows
