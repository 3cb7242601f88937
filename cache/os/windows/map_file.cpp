#include "windows/open.hpp"

namespace clbake::os {
namespace windows {
namespace {

// A page of a mapped file that cannot be read any more ends the process, so a file on a drive that may go, such as one
// of another machine, is read instead.
bool may_vanish(const std::wstring& path) {
  wchar_t volume[MAX_PATH];
  if (!::GetVolumePathNameW(path.c_str(), volume, MAX_PATH)) return true;
  const UINT type = ::GetDriveTypeW(volume);
  return type != DRIVE_FIXED && type != DRIVE_RAMDISK;
}

Result<Mapping> read(HANDLE file, std::size_t size) {
  const std::shared_ptr<std::uint8_t> bytes(new std::uint8_t[size], std::default_delete<std::uint8_t[]>());
  for (std::size_t done = 0; done < size;) {
    const std::size_t left = size - done;
    DWORD got = 0;
    const auto step = static_cast<DWORD>(left < (1U << 30) ? left : 1U << 30);
    if (!::ReadFile(file, bytes.get() + done, step, &got, nullptr)) return {Code::io, message_of(::GetLastError())};
    if (got == 0) return {Code::io, "it became shorter"};
    done += got;
  }
  return Mapping{bytes, bytes.get(), size};
}

}  // namespace

Result<Mapping> map(const std::wstring& path) {
  const Result<Handle> file = open_existing(path, GENERIC_READ, FILE_FLAG_BACKUP_SEMANTICS);
  if (!file) return file.status();
  const Status regular = check_regular(file->get());
  if (!regular) return regular;
  LARGE_INTEGER bytes = {};
  if (!::GetFileSizeEx(file->get(), &bytes)) return {Code::io, message_of(::GetLastError())};
  if (bytes.QuadPart == 0) return Mapping{};
  const auto size = static_cast<std::size_t>(bytes.QuadPart);
  if (may_vanish(path)) return read(file->get(), size);
  const Handle mapping(::CreateFileMappingW(file->get(), nullptr, PAGE_READONLY, 0, 0, nullptr));
  const void* const view = mapping ? ::MapViewOfFile(mapping.get(), FILE_MAP_READ, 0, 0, size) : nullptr;
  if (!view) return {Code::io, message_of(::GetLastError())};
  return Mapping{
      {view, [](const void* mapped) { ::UnmapViewOfFile(mapped); }}, static_cast<const std::uint8_t*>(view), size};
}

}  // namespace windows

Result<Mapping> map_file(const std::string& path) {
  const Result<std::wstring> name = windows::wide_path(path);
  if (!name) return name.status().within(path);
  Result<Mapping> mapping = windows::map(*name);
  return mapping ? std::move(mapping) : mapping.status().within(path);
}

}  // namespace clbake::os
