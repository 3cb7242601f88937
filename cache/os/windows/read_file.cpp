#include "windows/open.hpp"

namespace clbake::os {
namespace windows {
namespace {

std::string size_text(std::uintmax_t bytes) {
  return bytes >> 20U ? std::to_string(bytes >> 20U) + " MiB" : std::to_string(bytes) + " bytes";
}

Result<std::string> read_all(HANDLE file, std::uintmax_t most_bytes) {
  constexpr DWORD kStep = DWORD{1} << 16;
  std::string text;
  while (text.size() <= most_bytes) {
    const std::size_t size = text.size();
    text.resize(size + kStep);
    DWORD got = 0;
    const DWORD error = ::ReadFile(file, &text[size], kStep, &got, nullptr) ? ERROR_SUCCESS : ::GetLastError();
    const bool ended = error == ERROR_BROKEN_PIPE || error == ERROR_HANDLE_EOF;
    if (error != ERROR_SUCCESS && !ended) return {Code::io, message_of(error)};
    text.resize(size + got);
    if (got == 0) return text;
  }
  return {Code::malformed, "it has more than " + size_text(most_bytes)};
}

Result<std::string> read_path(const std::string& path, std::uintmax_t most_bytes, bool only_regular) {
  const Result<std::wstring> name = wide_path(path);
  if (!name) return name.status();
  const Result<Handle> file = open_existing(*name, GENERIC_READ, FILE_FLAG_BACKUP_SEMANTICS);
  if (!file) return file.status();
  const bool is_pipe = ::GetFileType(file->get()) == FILE_TYPE_PIPE;
  const Status regular = is_pipe && !only_regular ? Status() : check_regular(file->get());
  return regular ? read_all(file->get(), most_bytes) : regular;
}

Result<std::string> named(Result<std::string> text, const std::string& name) {
  return text ? std::move(text) : text.status().within(name);
}

}  // namespace
}  // namespace windows

Result<std::string> read_file(const std::string& path, std::uintmax_t most_bytes) {
  return windows::named(windows::read_path(path, most_bytes, true), path);
}

Result<std::string> read_file_or_pipe(const std::string& path, std::uintmax_t most_bytes) {
  return windows::named(windows::read_path(path, most_bytes, false), path);
}

Result<std::string> read_standard_input(std::uintmax_t most_bytes) {
  return windows::named(windows::read_all(::GetStdHandle(STD_INPUT_HANDLE), most_bytes), "standard input");
}

}  // namespace clbake::os
