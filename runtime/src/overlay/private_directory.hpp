// The directory of an overlay: who may use it, and what lies in it.
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
  // `create`: makes the directory and its parents, with permissions 0700, where they are not there, and asks that it
  // can be written to. Fails with not_found or io; the message begins with the path.
  static Result<PrivateDirectory> open(const std::string& path, bool create);
  PrivateDirectory(PrivateDirectory&& other) noexcept;
  PrivateDirectory& operator=(PrivateDirectory&& other) noexcept;
  ~PrivateDirectory();

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }

  // Whether `name` is a regular file of this user that nobody else can write to. `used`, if not null, gets the seconds
  // since its last use: how long ago it was written or touched.
  bool holds(const std::string& name, std::int64_t* used = nullptr) const;

  // Makes now the file's last use. That this may fail is no loss worth a word.
  void touch(const std::string& name) const;

  // A file that is not there any more was removed by somebody else, which is as good.
  void remove(const std::string& name) const;

 private:
  PrivateDirectory(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_ = -1;
};

// The names of an overlay's files. Whatever else lies in the directory is none of ours: never read, counted or removed.
bool is_entry_name(const std::string& name);      // "<32 hexadecimal digits>.clbake"
bool is_mark_name(const std::string& name);       // "<32 hexadecimal digits>-<16 of them>.rejected"
bool is_temporary_name(const std::string& name);  // either, and ".tmp." and more: of a write that is not done

// Removes the temporary files of writers that must have died, and then the files that were not used for the longest
// time until those that are left, each rounded up to whole blocks of 4 KiB, take no more than `max_bytes`; `newest` is
// spared. Other processes may do the same, and write and read, meanwhile.
Status evict(const PrivateDirectory& directory, std::uint64_t max_bytes, const std::string& newest);

}  // namespace clbake
