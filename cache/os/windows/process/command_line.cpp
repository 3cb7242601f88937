#include "windows/process/child.hpp"

#include <algorithm>
#include <random>

namespace clbake::os::windows {
namespace {

// A backslash means itself, unless a quotation mark follows.
std::wstring quoted(const std::wstring& word) {
  if (!word.empty() && word.find_first_of(L" \t\n\v\"") == std::wstring::npos) return word;
  std::wstring text = L"\"";
  std::size_t backslashes = 0;
  for (const wchar_t unit : word) {
    if (unit == L'"') text.append(backslashes + 1, L'\\');
    backslashes = unit == L'\\' ? backslashes + 1 : 0;
    text += unit;
  }
  return text.append(backslashes, L'\\') + L"\"";
}

// As the system compares names of variables, and orders its blocks.
struct ByName {
  bool operator()(const std::wstring& a, const std::wstring& b) const {
    return ::CompareStringOrdinal(a.c_str(), -1, b.c_str(), -1, TRUE) == CSTR_LESS_THAN;
  }
};

}  // namespace

Result<std::wstring> command_line(const std::vector<std::string>& arguments) {
  std::wstring line;
  for (const std::string& argument : arguments) {
    const Result<std::wstring> word = utf16(argument);
    if (!word) return word.status().within("an argument");
    line += (line.empty() ? L"" : L" ") + quoted(*word);
  }
  return line;
}

std::wstring environment_block(const std::map<std::string, std::string>& variables) {
  std::map<std::wstring, std::wstring, ByName> ordered;
  for (const auto& [name, value] : variables) {
    Result<std::wstring> wide_name = utf16(name);
    Result<std::wstring> wide_value = utf16(value);
    if (wide_name && wide_value) ordered.emplace(std::move(*wide_name), std::move(*wide_value));
  }
  std::wstring block;
  for (const auto& [name, value] : ordered) block += name + L"=" + value + L'\0';
  if (block.empty()) block += L'\0';
  return block += L'\0';
}

Result<std::wstring> with_backslashes(Result<std::wstring> path) {
  if (path) std::replace(path->begin(), path->end(), L'/', L'\\');
  return path;
}

// Two libraries of one process may hold this code, and strangers may know its number.
std::wstring new_pipe_name() {
  std::random_device random;
  std::wstring name = L"\\\\.\\pipe\\clbake";
  for (int i = 0; i < 4; ++i) name += L"-" + std::to_wstring(random());
  return name;
}

}  // namespace clbake::os::windows
