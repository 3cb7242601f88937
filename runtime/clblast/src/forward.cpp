#include "forward.hpp"

#include "log.hpp"

#include <dlfcn.h>

#include <atomic>
#include <string>

namespace clbake::door {
namespace {

std::atomic<bool> is_open{false};

void* open_by_name(const char* name) {
  void* const handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  const char* const failure = handle ? nullptr : dlerror();
  log(std::string("CLBlast: ") + (handle ? std::string("opened ") + name : failure ? failure : name));
  is_open.store(handle, std::memory_order_relaxed);
  return handle;
}

void* open_original() {
  const std::string named = environment("CLBAKE_CLBLAST_LIBRARY");
  if (!named.empty()) return open_by_name(named.c_str());
  void* const handle = open_by_name("libclblast.so.1");
  return handle ? handle : open_by_name("libclblast.so");
}

}  // namespace

void* original_of(const void* same, bool may_open) noexcept {
  try {
    Dl_info found;
    if (dladdr(same, &found) == 0 || !found.dli_sname) return nullptr;
    void* function = dlsym(RTLD_NEXT, found.dli_sname);
    if (!function && (may_open || is_open.load(std::memory_order_relaxed))) {
      static void* const handle = open_original();  // never closed: programs may hold pointers into it
      function = handle ? dlsym(handle, found.dli_sname) : nullptr;
    }
    return function == same ? nullptr : function;  // where a name of CLBlast leads to this library
  } catch (...) {                                  // for lack of memory
    return nullptr;
  }
}

}  // namespace clbake::door
