#include <clbake/os/libraries.hpp>

#include <clbake/os/directories.hpp>

#include "windows/system.hpp"

#include <cstdio>

namespace clbake::os {
namespace {

std::string path_of(HMODULE module) {
  std::wstring path(32768, L'\0');
  path.resize(::GetModuleFileNameW(module, path.data(), static_cast<DWORD>(path.size())));
  return windows::narrow_path(std::move(path));
}

// Null: no module holds the address.
HMODULE module_of(const void* address) {
  HMODULE module = nullptr;
  const DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  return ::GetModuleHandleExW(flags, static_cast<const wchar_t*>(address), &module) ? module : nullptr;
}

}  // namespace

// Neither in the working directory nor in PATH, where anybody may put a library of that name.
Result<LibraryHandle> open_library(const std::string& name) {
  Result<std::wstring> wide = windows::wide_path(name);
  if (!wide) return wide.status().within(name);
  for (wchar_t& c : *wide) c = c == L'/' ? L'\\' : c;
  const DWORD beside = is_absolute(name) ? LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR : 0;
  HMODULE const library = ::LoadLibraryExW(wide->c_str(), nullptr, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | beside);
  if (library) return LibraryHandle{library};
  return {Code::not_found, name + ": " + windows::message_of(::GetLastError())};
}

const char* by_system(const char* /*posix*/, const char* windows) { return windows; }

void* symbol(LibraryHandle library, const std::string& name) {
  const FARPROC found = ::GetProcAddress(static_cast<HMODULE>(library), name.c_str());
  return reinterpret_cast<void*>(found);
}

std::string path_of_module(const void* address) {
  HMODULE const module = module_of(address);
  return module ? path_of(module) : std::string();
}

std::string build_of_module(const void* address) {
  HMODULE const module = module_of(address);
  if (!module) return {};
  const auto* const image = reinterpret_cast<const unsigned char*>(module);
  const auto* const dos = reinterpret_cast<const IMAGE_DOS_HEADER*>(image);
  const auto* const headers = reinterpret_cast<const IMAGE_NT_HEADERS*>(image + dos->e_lfanew);
  char digits[17];
  std::snprintf(digits, sizeof digits, "%08lx%08lx", headers->FileHeader.TimeDateStamp,
                headers->OptionalHeader.SizeOfImage);
  return digits;
}

std::string path_of_program() { return path_of(nullptr); }

}  // namespace clbake::os
