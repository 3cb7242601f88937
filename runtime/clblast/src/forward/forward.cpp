#include "forward/forward.hpp"

#include "log.hpp"

#include <dlfcn.h>

#include <atomic>
#include <string>

namespace clbake::door {
namespace {

std::atomic<bool> is_open{false};

// A name of CLBlast may lead to this library, where it is installed in the place of CLBlast.
bool is_this_library(void* handle) {
  Dl_info here;
  Dl_info there;
  void* const found = dlsym(handle, "CLBlastClearCache");
  return found && dladdr(found, &there) != 0 && dladdr(reinterpret_cast<void*>(&original), &here) != 0 &&
         here.dli_fbase == there.dli_fbase;
}

void* open_by_name(const char* name) {
  void* const handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) {
    const char* const cause = dlerror();
    log(std::string("CLBlast: ") + (cause ? cause : name));
    return nullptr;
  }
  if (is_this_library(handle)) {
    log(std::string("CLBlast: ") + name + " is this library; CLBAKE_CLBLAST_LIBRARY names another file");
    return nullptr;
  }
  is_open.store(true, std::memory_order_relaxed);
  log(std::string("CLBlast: opened ") + name);
  return handle;
}

void* open_original() {
  const std::string named = environment("CLBAKE_CLBLAST_LIBRARY");
  if (!named.empty()) return open_by_name(named.c_str());
  void* const handle = open_by_name("libclblast.so.1");
  return handle ? handle : open_by_name("libclblast.so");
}

}  // namespace

void* original(const char* symbol) noexcept {
  try {
    static void* const handle = open_original();  // never closed: programs may hold pointers into it
    void* const function = handle ? dlsym(handle, symbol) : nullptr;
    log(std::string(symbol) + (function ? " goes to CLBlast" : " is not there: no CLBlast that has it"));
    return function;
  } catch (...) {  // for lack of memory
    return nullptr;
  }
}

void* original_of(const void* same) noexcept {
  Dl_info found;
  return dladdr(same, &found) != 0 && found.dli_sname ? original(found.dli_sname) : nullptr;
}

bool original_is_open() noexcept { return is_open.load(std::memory_order_relaxed); }

}  // namespace clbake::door
