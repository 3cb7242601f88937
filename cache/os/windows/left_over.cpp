#include <vector>

#include "windows/open.hpp"

namespace clbake::os::windows {
namespace {

constexpr std::int64_t kAbandonedSeconds = 3600;

bool is_of_kind(const std::wstring& item, const std::wstring& prefix) {
  return item.size() > prefix.size() && item.compare(0, prefix.size(), prefix) == 0 &&
         item.find_first_not_of(L"0123456789.", prefix.size()) == item.npos;
}

bool is_left_over(const WIN32_FIND_DATAW& item, const std::wstring& name) {
  const std::wstring file = item.cFileName;
  if (is_of_kind(file, name + L".tmp.")) return age_seconds(item.ftLastWriteTime) > kAbandonedSeconds;
  return is_of_kind(file, name + L".old.");
}

}  // namespace

// First looks which files lie aside, then for `path`: what a writer moves aside meanwhile, which may be all that is
// left of it, is not among them.
void remove_left_over(const std::wstring& path) {
  const std::size_t end = path.find_last_of(L"/\\") + 1;
  std::vector<std::wstring> found;
  WIN32_FIND_DATAW item = {};
  const HANDLE listing = ::FindFirstFileW((path + L".*").c_str(), &item);
  if (listing == INVALID_HANDLE_VALUE) return;
  do {
    if (is_left_over(item, path.substr(end))) found.push_back(path.substr(0, end) + item.cFileName);
  } while (::FindNextFileW(listing, &item));
  ::FindClose(listing);
  if (!is_file(path)) return;
  for (const std::wstring& file : found) ::DeleteFileW(file.c_str());
}

}  // namespace clbake::os::windows
