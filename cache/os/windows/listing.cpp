#include <clbake/os/listing.hpp>

#include "windows/open.hpp"

namespace clbake::os {
namespace {

Item item_of(const std::string& directory, const WIN32_FIND_DATAW& found) {
  Item item;
  item.name = windows::narrow(found.cFileName);
  item.path = directory + (directory.empty() || directory.back() == '/' ? "" : "/") + item.name;
  const bool is_link = (found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
  const bool is_directory = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  item.is_directory = is_directory && !is_link;
  item.is_file = !is_directory;
  if (item.is_file) item.bytes = std::uint64_t{found.nFileSizeHigh} << 32U | found.nFileSizeLow;
  return item;
}

}  // namespace

Result<std::vector<Item>> list_directory(const std::string& path) {
  const Result<std::wstring> all = windows::wide_path(path + "/*");
  if (!all) return all.status().within(path);
  WIN32_FIND_DATAW found = {};
  const HANDLE listing = ::FindFirstFileW(all->c_str(), &found);
  const DWORD error = listing == INVALID_HANDLE_VALUE ? ::GetLastError() : ERROR_SUCCESS;
  std::vector<Item> items;
  if (error == ERROR_FILE_NOT_FOUND) return items;  // the root of an empty drive
  if (error != ERROR_SUCCESS) return {windows::code_of(error), path + ": " + windows::message_of(error)};
  do {
    const std::wstring_view name = found.cFileName;
    if (name != L"." && name != L"..") items.push_back(item_of(path, found));
  } while (::FindNextFileW(listing, &found));
  ::FindClose(listing);
  return items;
}

}  // namespace clbake::os
