#include <clbake/os/guest.hpp>

#include <dlfcn.h>

namespace clbake::os {

const bool kInterposes = true;

std::string exported_name(const void* address) {
  Dl_info info = {};
  return ::dladdr(address, &info) != 0 && info.dli_sname ? info.dli_sname : "";
}

void* next_function(const std::string& name) { return ::dlsym(RTLD_NEXT, name.c_str()); }

LibraryHandle find_library(const std::string& name) {
  return ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
}

bool in_one_module(const void* address, const void* other) {
  Dl_info one = {}, two = {};
  return ::dladdr(address, &one) != 0 && ::dladdr(other, &two) != 0 && one.dli_fbase == two.dli_fbase;
}

}  // namespace clbake::os
