#include "forward.hpp"

#include "log.hpp"

#include <string>

namespace clbake::door {
namespace {

bool is_of_this_library(const void* address) {
  static const char own = 0;
  return os::in_one_module(address, &own);
}

// Never closed: programs may hold pointers into it. Null where it is not there, or the name leads to this library.
os::LibraryHandle open_by_name(const std::string& name) {
  const Result<os::LibraryHandle> opened = os::open_library(name);
  const bool own = opened && is_of_this_library(os::symbol(*opened, "CLBlastClearCache"));
  log("CLBlast: " + (own      ? name + " is this library; CLBAKE_CLBLAST_LIBRARY names another file"
                     : opened ? "opened " + name
                              : opened.status().message()));
  return opened && !own ? *opened : nullptr;
}

os::LibraryHandle present_by_name(const std::string& name) {
  const os::LibraryHandle found = os::find_library(name);
  return found && is_of_this_library(os::symbol(found, "CLBlastClearCache")) ? nullptr : found;
}

template <typename ByName>
os::LibraryHandle first_of_its_names(const ByName& by_name) {
  const std::string named = environment("CLBAKE_CLBLAST_LIBRARY");
  if (!named.empty()) return by_name(named);
  const os::LibraryHandle first = by_name(os::by_system("libclblast.so.1", "clblast.dll"));
  return first ? first : by_name(os::by_system("libclblast.so", "libclblast.dll"));
}

os::LibraryHandle opened_original() {
  static const os::LibraryHandle only = first_of_its_names(open_by_name);
  return only;
}

}  // namespace

void* original_of(const void* same, const char* name_in_c, bool may_open) noexcept {
  try {
    const std::string name = os::kInterposes ? os::exported_name(same) : name_in_c;
    if (name.empty()) return nullptr;
    void* function = os::kInterposes ? os::next_function(name) : nullptr;
    if (!function) {
      const os::LibraryHandle library = may_open ? opened_original() : first_of_its_names(present_by_name);
      function = library ? os::symbol(library, name) : nullptr;
    }
    if (is_of_this_library(function)) function = nullptr;
    if (!function && may_open) log("CLBlast: none that has " + name);
    return function;
  } catch (...) {  // for lack of memory
    return nullptr;
  }
}

}  // namespace clbake::door
