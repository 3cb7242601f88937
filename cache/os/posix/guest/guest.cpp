#include <clbake/os/files.hpp>
#include <clbake/os/guest.hpp>
#include <clbake/os/libraries.hpp>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace clbake::os {

void keep_loaded(const void* address) {
  const std::string path = path_of_module(address);
  if (!path.empty()) ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE);
}

bool in_forked_children(void (*child)()) { return ::pthread_atfork(nullptr, nullptr, child) == 0; }

// The end of the main thread precedes all exit handlers. A program that ends in another thread runs the latest handlers
// first.
void before_exit(void (*last)()) {
  struct AtEndOfThread {
    void (*last)();
    ~AtEndOfThread() { last(); }
  };
  if (::syscall(SYS_gettid) == ::getpid()) {
    thread_local const AtEndOfThread at_end{last};
    static_cast<void>(&at_end);
  }
  static_cast<void>(std::atexit(last));
}

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
