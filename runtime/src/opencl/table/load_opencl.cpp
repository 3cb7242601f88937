#include <clbake/opencl/load.hpp>

#include <clbake/exceptions_to_status.hpp>
#include <clbake/joined.hpp>
#include <clbake/os/libraries.hpp>

#include "opencl/table/functions.hpp"
#include "opencl/table/table.hpp"

#include <cstddef>
#include <cstring>

namespace clbake {
namespace {

// The names of OpenCL's loaders, or of the driver where there is one at most. No system has two of them.
constexpr const char* kLibraries[] = {"libOpenCL.so.1", "libOpenCL.so", "OpenCL.dll",
                                      "/System/Library/Frameworks/OpenCL.framework/OpenCL"};

struct Entry {
  const char* name;
  std::size_t place;  // bytes from the table's start
  bool required;
};
constexpr Entry kEntries[] = {
#define CLBAKE_REQUIRED(n, name) {#name, offsetof(cl_icd_dispatch, name), true},
#define CLBAKE_OPTIONAL(n, name) {#name, offsetof(cl_icd_dispatch, name), false},
    CLBAKE_RUNTIME_FUNCTIONS(CLBAKE_REQUIRED) CLBAKE_MORE_FUNCTIONS(CLBAKE_OPTIONAL)
#undef CLBAKE_REQUIRED
#undef CLBAKE_OPTIONAL
};

Status use_functions(OpenclLookup lookup, void* data) {
  if (!lookup) return {Argument::other, "lookup is null"};
  cl_icd_dispatch found = {};
  for (const Entry& entry : kEntries) {
    const OpenclFunction function = lookup(entry.name, data);
    if (!function && entry.required) {
      return {Argument::other, joined({entry.name, " is missing: clbake needs all of OpenCL 1.2"})};
    }
    std::memcpy(reinterpret_cast<char*>(&found) + entry.place, &function, sizeof function);
  }
  const cl_icd_dispatch& used = opencl::functions();
  if (!used.clGetPlatformInfo) {
    opencl::set_functions(&found, sizeof found / sizeof(void*));
  } else if (std::memcmp(&used, &found, sizeof found) != 0) {
    return {Argument::other, "other functions of OpenCL are in use already"};
  }
  return {};
}

OpenclFunction function_of(const char* name, void* library) {
  return reinterpret_cast<OpenclFunction>(os::symbol(library, name));
}

// The first that can be opened; else why the first one cannot.
Result<os::LibraryHandle> open_usual() {
  Result<os::LibraryHandle> first = os::open_library(kLibraries[0]);
  if (first) return first;
  for (const char* name : kLibraries) {
    Result<os::LibraryHandle> other = os::open_library(name);
    if (other) return other;
  }
  return first;
}

Status open_and_use(const std::string& path) {
  const Result<os::LibraryHandle> library = path.empty() ? open_usual() : os::open_library(path);
  if (!library) return library.status().within("no OpenCL");
  const Status used = use_functions(function_of, *library);
  return used ? used : used.within(path.empty() ? "the system's OpenCL" : path);
}

}  // namespace

Status use_opencl(OpenclLookup lookup, void* data) {
  return exceptions_to_status([&] { return use_functions(lookup, data); });
}

Status load_opencl(const std::string& path) {
  return exceptions_to_status([&] { return open_and_use(path); });
}

}  // namespace clbake
