#include <clbake/os/guest.hpp>

#include "windows/open.hpp"
#include "windows/security.hpp"

namespace clbake::os {
namespace {

void write_line(HANDLE file, std::string_view line) {
  DWORD written = 0;
  ::WriteFile(file, line.data(), static_cast<DWORD>(line.size()), &written, nullptr);
}

}  // namespace

struct LogFile::Stream {
  windows::Handle copy;  // as programs close their standard streams
};

Result<LogFile> LogFile::to_stderr() {
  HANDLE copy = nullptr;
  HANDLE const process = ::GetCurrentProcess();
  HANDLE const shown = ::GetStdHandle(STD_ERROR_HANDLE);
  if (!shown || !::DuplicateHandle(process, shown, process, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS)) {
    return windows::io_failure("stderr");
  }
  auto stream = std::make_unique<Stream>();
  stream->copy = windows::Handle(copy);
  return LogFile({}, std::move(stream));
}

void LogFile::write(std::string_view line) const noexcept {
  if (stream_) return write_line(stream_->copy.get(), line);
  try {
    const Result<std::wstring> wide = windows::wide_path(path_);
    if (!wide) return;
    windows::PrivateAccess access;
    constexpr DWORD kShare = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    const windows::Handle file(::CreateFileW(wide->c_str(), FILE_APPEND_DATA, kShare, access.get(), OPEN_ALWAYS,
                                             FILE_ATTRIBUTE_NORMAL, nullptr));
    if (file) write_line(file.get(), line);
  } catch (...) {  // no memory for a path
  }
}

}  // namespace clbake::os
