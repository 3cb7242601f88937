#include "release/key_file.hpp"

#include "process/text_file.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

namespace clbake::builder::release {
namespace {

constexpr char kSecret[] = "clbake-secret-key-1 ";
constexpr char kPublic[] = "clbake-public-key-1 ";
constexpr std::size_t kMostBytes = 256;  // of a key file

Status failure(const std::string& path, const char* step) {
  return {Code::io, path + ": " + step + ": " + std::strerror(errno)};
}

// A new file under a name of its own, which it loses with the object.
class NewFile {
 public:
  explicit NewFile(const std::string& path) : path_(path), name_(path + ".tmp." + std::to_string(::getpid())) {}
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (file_ >= 0) ::close(file_);
    if (created_) ::unlink(name_.c_str());
    if (linked_) ::unlink(path_.c_str());
  }

  Status write(const std::string& text, mode_t permissions) {
    file_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, permissions);
    if (file_ < 0) return failure(path_, "cannot be created");
    created_ = true;
    const ::ssize_t written = ::write(file_, text.data(), text.size());
    if (written >= 0 && static_cast<std::size_t>(written) != text.size()) errno = ENOSPC;
    if (written < 0 || static_cast<std::size_t>(written) != text.size()) return failure(path_, "write");
    return ::fsync(file_) == 0 ? Status() : failure(path_, "fsync");
  }

  // Gives the file its own name, unless there is one of this name. The destructor takes it back until keep().
  Status appear() {
    if (::link(name_.c_str(), path_.c_str()) != 0) {
      if (errno == EEXIST) return {Code::io, path_ + ": exists already, and a key is never replaced"};
      return failure(path_, "link");
    }
    linked_ = true;
    return {};
  }
  void keep() { linked_ = false; }

 private:
  std::string path_, name_;
  int file_ = -1;
  bool created_ = false, linked_ = false;
};

Status sync_directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int file = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return failure(directory, "cannot be opened");
  const bool synced = ::fsync(file) == 0 || errno == EINVAL;  // some file systems cannot
  const Status status = synced ? Status() : failure(directory, "fsync");
  ::close(file);
  return status;
}

// At most kMostBytes of a file that only its owner may use, of a pipe or, for "-", of standard input. Unlike read_input
// it leaves no copy in memory but `text`.
Status read_secret(const std::string& path, std::string& text) {
  const int file = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {errno == ENOENT ? Code::not_found : Code::io, failure(path, "cannot be opened").message()};
  struct stat info = {};
  Status status;
  if (::fstat(file, &info) != 0) {
    status = failure(path, "stat");
  } else if (S_ISREG(info.st_mode) && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    status = {Code::invalid_argument, path + ": others than its owner may use this secret key: chmod 600 it"};
  }
  text.assign(kMostBytes + 1, '\0');
  std::size_t bytes = 0;
  ::ssize_t got = 1;
  while (status && got > 0 && bytes < text.size()) {
    got = ::read(file, &text[bytes], text.size() - bytes);
    if (got < 0) status = failure(path, "read");
    bytes += static_cast<std::size_t>(std::max<::ssize_t>(got, 0));
  }
  if (file != STDIN_FILENO) ::close(file);
  text.resize(bytes);
  return status;
}

// The digits behind `begin` in a text of one line.
bool parse(const std::string& text, const std::string& begin, Digest& key) {
  if (text.compare(0, begin.size(), begin) != 0) return false;
  const std::size_t end = text.find('\n');
  if (end != std::string::npos && end + 1 != text.size()) return false;
  std::string digits = text.substr(begin.size(), end == std::string::npos ? end : end - begin.size());
  const bool read = read_hexadecimal(digits, key);
  forget(digits);
  return read;
}

}  // namespace

void forget(Digest& secret) { sodium_memzero(secret.data(), secret.size()); }
void forget(std::string& secret) { sodium_memzero(&secret[0], secret.size()); }

Status write_key_files(const std::string& path, const Digest& seed, const Digest& public_key) {
  NewFile secret_file(path), public_file(path + ".pub");
  std::string digits = hexadecimal(seed);
  std::string text = kSecret + digits + "\n";
  Status status = secret_file.write(text, 0600);
  forget(digits);
  forget(text);
  if (status) status = public_file.write(kPublic + hexadecimal(public_key) + "\n", 0644);
  if (status) status = secret_file.appear();
  if (status) status = public_file.appear();
  if (status) status = sync_directory_of(path);
  if (!status) return status;
  secret_file.keep();
  public_file.keep();
  return {};
}

Status read_secret_key(const std::string& path, Digest& seed) {
  std::string text;
  Status status = read_secret(path, text);
  if (status && !parse(text, kSecret, seed)) {
    status = {Code::invalid_argument, path + ": is no secret key of 'clbake keygen'"};
  }
  forget(text);
  return status;
}

Result<Digest> read_public_key(const std::string& digits_or_path) {
  Digest key{};
  if (read_hexadecimal(digits_or_path, key)) return key;
  Result<std::string> text = read_input(digits_or_path, kMostBytes);
  if (text.status().code() == Code::not_found) {
    return Status(Code::not_found, digits_or_path + ": neither a file nor a public key of 64 hexadecimal digits");
  }
  if (text.status().code() == Code::io) return text.status();
  if (!text || !parse(*text, kPublic, key)) {  // a larger file is none, either
    if (text) forget(*text);                   // it may be a secret one
    return Status(Code::invalid_argument, digits_or_path + ": is no public key of 'clbake keygen'");
  }
  return key;
}

}  // namespace clbake::builder::release
