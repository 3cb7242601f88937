// The directory of an overlay: its permissions, its files, and their eviction.
#pragma once

#include <clbake/status.hpp>

#include <cstdint>
#include <string>

namespace clbake {

// An open directory that belongs to the user of the process and that nobody else can write to. Its files are reached
// through the descriptor, so that they are those of the directory that was checked, whatever happens to its path.
// Move-only. All const members may be called from any number of threads at once.
class PrivateDirectory {
 public:
  // `create`: creates the directory and missing parents with permissions 0700, and requires that it is writable. Fails
  // with not_found or io; the message begins with the path.
  static Result<PrivateDirectory> open(const std::string& path, bool create);
  PrivateDirectory(PrivateDirectory&& other) noexcept;
  PrivateDirectory& operator=(PrivateDirectory&& other) noexcept;
  ~PrivateDirectory();

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }

  // True when `name` is a regular file of this user that nobody else can write to. `unused_seconds`, if not null, gets
  // the time since it was written or touched.
  bool holds(const std::string& name, std::int64_t* unused_seconds = nullptr) const;

  // Marks the file as used now. Best effort; failure is ignored.
  void touch(const std::string& name) const;

  // Best effort: another process may have removed the file already.
  void remove(const std::string& name) const;

 private:
  PrivateDirectory(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_ = -1;
};

// The names of an overlay's files. Other files in the directory are never read, counted or removed.
bool is_entry_name(const std::string& name);      // "<32 hexadecimal digits>.clbake"
bool is_mark_name(const std::string& name);       // "<32 hexadecimal digits>-<16 of them>.rejected"
bool is_temporary_name(const std::string& name);  // either, then ".tmp." and more: a write in progress

// Removes temporary files older than an hour, whose writers must have died; then the least recently used files until
// the rest, each rounded up to whole blocks of 4 KiB, takes no more than `max_bytes`. `newest` is never removed. Other
// processes may evict, write and read meanwhile.
Status evict(const PrivateDirectory& directory, std::uint64_t max_bytes, const std::string& newest);

}  // namespace clbake
