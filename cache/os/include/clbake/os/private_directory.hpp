// Directories of one user that nobody else can write to: of the user of the process, or of one who is trusted.
#pragma once

#include <clbake/os/files.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace clbake::os {

// An open directory that belongs to one user and that nobody else can write to. Its files are those of the directory
// that was checked, whatever happens to its path. Messages of failures begin with the name of the file. Move-only. All
// const members may be called from any number of threads at once.
class PrivateDirectory {
 public:
  struct File {
    std::uint64_t bytes = 0;
    std::int64_t used_ns = 0;         // when it was written or touched; comparable within a directory
    std::int64_t unused_seconds = 0;  // since then
  };

  // The process's user's own. `create`: creates the directory and missing parents for this user alone, and requires
  // that it is writable. Fails with not_found or io; the message begins with the path.
  static Result<PrivateDirectory> open(const std::string& path, bool create);

  // One that is only read, of the administrator (root; Windows: the system's own accounts) or of this user, by name or
  // number (Windows: SID); an empty name is nobody's. Fails with not_found where the directory is missing, else with
  // io.
  static Result<PrivateDirectory> open_shared(const std::string& path, const std::string& owner);

  PrivateDirectory(PrivateDirectory&& other) noexcept
      : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, -1)), owner_(std::move(other.owner_)) {}
  PrivateDirectory& operator=(PrivateDirectory&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(handle_, other.handle_);
    std::swap(owner_, other.owner_);
    return *this;
  }
  ~PrivateDirectory();

  const std::string& path() const { return path_; }

  // Nothing unless `name` is a regular file of the directory's user that nobody else can write to.
  std::optional<File> find(const std::string& name) const;

  // Names of everything in the directory. Fails with io; the message does not name the directory.
  Result<std::vector<std::string>> names() const;

  // Fails like map_file.
  Result<Mapping> map(const std::string& name) const;

  // Like write_file, for a file that only its user may read and write; replaces a pipe as well. The temporary file is
  // named "<name>.tmp." and a suffix; a killed process leaves it behind.
  Status write(const std::string& name, std::string_view bytes) const;

  // Marks the file as used now. Best effort; failure is ignored.
  void touch(const std::string& name) const;

  // Best effort: another process may have removed the file already.
  void remove(const std::string& name) const;

 private:
  PrivateDirectory(std::string path, std::intptr_t handle, std::string owner)
      : path_(std::move(path)), handle_(handle), owner_(std::move(owner)) {}
  std::string path_;
  std::intptr_t handle_ = -1;  // a descriptor or a HANDLE; -1 where the object was moved from
  std::string owner_;          // the number of its user; Windows: the SID, empty for the process's own user
};

}  // namespace clbake::os
