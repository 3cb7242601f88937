#include <clbake/os/files.hpp>
#include <clbake/os/guest.hpp>
#include <clbake/os/libraries.hpp>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace clbake::os {

void keep_loaded(const void* address) {
  const std::string path = path_of_module(address);
  if (!path.empty()) ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE);
}

bool in_forked_children(void (*child)()) { return ::pthread_atfork(nullptr, nullptr, child) == 0; }

std::uint64_t process_id() { return static_cast<std::uint64_t>(::getpid()); }

Result<std::string> read_trusted_file(const std::string& path, std::uintmax_t most_bytes) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return {Code::not_found, path + ": " + std::strerror(errno)};
  const bool ours = info.st_uid == 0 || info.st_uid == ::geteuid();
  if (!ours || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return {Code::not_trusted, path + ": users other than its owner can write to it, or it is another user's"};
  }
  return read_file(path, most_bytes);
}

}  // namespace clbake::os
