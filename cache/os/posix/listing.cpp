#include <clbake/os/listing.hpp>
#include <clbake/os/paths.hpp>

namespace clbake::os {

Result<std::vector<Item>> list_directory(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<Item> items;
  std::error_code error;
  for (fs::directory_iterator entry(native(path), error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;  // files may come and go meanwhile
    Item item{utf8(entry->path()), utf8(entry->path().filename())};
    item.is_file = entry->is_regular_file(gone);
    item.is_directory = fs::is_directory(entry->symlink_status(gone));
    if (item.is_file) item.bytes = entry->file_size(gone);
    if (!gone) items.push_back(std::move(item));
  }
  if (!error) return items;
  return {error == std::errc::no_such_file_or_directory ? Code::not_found : Code::io, path + ": " + error.message()};
}

}  // namespace clbake::os
