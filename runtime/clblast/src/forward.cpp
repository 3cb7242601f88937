#include "forward.hpp"

#include "log.hpp"

#include <dlfcn.h>

#include <string>

namespace clbake::door {
namespace {

bool is_of_this_library(const void* address) {
  static const char own = 0;
  Dl_info found, here;
  return dladdr(address, &found) != 0 && dladdr(&own, &here) != 0 && found.dli_fbase == here.dli_fbase;
}

// Never closed: programs may hold pointers into it. Null where it is not there, or the name leads to this library.
void* open_by_name(const char* name, bool only_present) {
  void* const handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL | (only_present ? RTLD_NOLOAD : 0));
  const char* const failure = handle ? nullptr : dlerror();
  const bool own = handle && is_of_this_library(dlsym(handle, "CLBlastClearCache"));
  if (!only_present) {
    log(own      ? std::string("CLBlast: ") + name + " is this library; CLBAKE_CLBLAST_LIBRARY names another file"
        : handle ? std::string("CLBlast: opened ") + name
                 : std::string("CLBlast: ") + (failure ? failure : name));
  }
  return own ? nullptr : handle;
}

void* open_original(bool only_present) {
  const std::string named = environment("CLBAKE_CLBLAST_LIBRARY");
  if (!named.empty()) return open_by_name(named.c_str(), only_present);
  void* const handle = open_by_name("libclblast.so.1", only_present);
  return handle ? handle : open_by_name("libclblast.so", only_present);
}

void* opened_original() {
  static void* const handle = open_original(false);
  return handle;
}

}  // namespace

void* original_of(const void* same, bool may_open) noexcept {
  try {
    Dl_info found;
    if (dladdr(same, &found) == 0 || !found.dli_sname) return nullptr;
    void* function = dlsym(RTLD_NEXT, found.dli_sname);
    if (!function) {
      void* const handle = may_open ? opened_original() : open_original(true);
      function = handle ? dlsym(handle, found.dli_sname) : nullptr;
    }
    if (is_of_this_library(function)) function = nullptr;
    if (!function && may_open) log(std::string("CLBlast: none that has ") + found.dli_sname);
    return function;
  } catch (...) {  // for lack of memory
    return nullptr;
  }
}

}  // namespace clbake::door
