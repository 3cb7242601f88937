// Files that a library writes inside a program that knows nothing of it, for the user of the process alone. Messages of
// failures begin with the path.
#pragma once

#include <clbake/status.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace clbake::os {

// A file that grows. The program may close it, and open a file of its own with that number. One thread at a time.
class GuestFile {
 public:
  GuestFile();
  GuestFile(const GuestFile&) = delete;
  GuestFile& operator=(const GuestFile&) = delete;
  ~GuestFile();

  // Creates the file, and holds it as is_held tells. Fails with invalid_argument when there is one already, and with
  // io.
  Status create(const std::string& path);

  // False before create, and when the program has closed it.
  bool is_open() const noexcept;

  // Fails with io.
  Status append(std::string_view bytes) const;

 private:
  struct File;
  std::unique_ptr<File> file_;
  std::string path_;
};

// Makes the directory unless something is there; not its parents. Best effort.
void make_guest_directory(const std::string& path);

// Creates or replaces a file, which appears whole or not at all, but may be lost with the machine's power. Zeros at its
// end take no room. Fails with io.
Status write_guest_file(const std::string& path, std::string_view bytes);

// Bytes that the files right in a directory take on the disk; 0 where there is none.
std::uint64_t room_of_files(const std::string& directory);

}  // namespace clbake::os
