#include <clbake/os/libraries.hpp>

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

namespace clbake::os {

Result<LibraryHandle> open_library(const std::string& name) {
  void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library) return library;
  const char* const cause = ::dlerror();
  return {Code::not_found, cause ? std::string(cause) : name + ": cannot be opened"};
}

void* symbol(LibraryHandle library, const std::string& name) { return ::dlsym(library, name.c_str()); }

std::string path_of_module(const void* address) {
  Dl_info info = {};
  if (::dladdr(address, &info) == 0) return {};
  char* const real = ::realpath(info.dli_fname, nullptr);
  const std::string path = real ? real : "";
  ::free(real);
  return path;
}

std::string path_of_program() {
  char path[PATH_MAX];
  const ::ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return length > 0 && length < PATH_MAX ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

}  // namespace clbake::os
