#include <clbake/os/libraries.hpp>

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>
#if __has_include(<link.h>)
#include <link.h>
#endif
#if __has_include(<mach-o/dyld.h>)
#include <mach-o/dyld.h>
#endif
#include <cstdint>
#include <cstring>

namespace clbake::os {
namespace {

// At least 8 bytes of the note of type NT_GNU_BUILD_ID in this segment; null: there is none.
#if __has_include(<link.h>)
const std::uint8_t* build_id_in(const std::uint8_t* at, std::size_t left) {
  constexpr std::size_t header = sizeof(ElfW(Nhdr));
  const auto padded = [](std::size_t bytes) { return (bytes + 3) / 4 * 4; };
  while (left >= header) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, header);
    const std::size_t name = padded(note.n_namesz), whole = header + name + padded(note.n_descsz);
    if (whole > left) break;
    const bool gnu = note.n_namesz == 4 && std::memcmp(at + header, "GNU", 4) == 0;
    if (gnu && note.n_type == NT_GNU_BUILD_ID && note.n_descsz >= 8) return at + header + name;
    at += whole;
    left -= whole;
  }
  return nullptr;
}

const std::uint8_t* build_id_of(const void* image) {
  const auto* const base = static_cast<const std::uint8_t*>(image);
  ElfW(Ehdr) elf;
  std::memcpy(&elf, base, sizeof elf);
  const std::uint8_t* found = nullptr;
  for (std::size_t i = 0; !found && elf.e_type == ET_DYN && i < elf.e_phnum; ++i) {  // else not at its addresses
    ElfW(Phdr) segment;
    std::memcpy(&segment, base + elf.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type == PT_NOTE) found = build_id_in(base + segment.p_vaddr, segment.p_memsz);
  }
  return found;
}
#else
const std::uint8_t* build_id_of(const void*) { return nullptr; }
#endif

}  // namespace

Result<LibraryHandle> open_library(const std::string& name) {
  void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library) return library;
  const char* const cause = ::dlerror();
  return {Code::not_found, cause ? std::string(cause) : name + ": cannot be opened"};
}

const char* by_system(const char* posix, const char* /*windows*/) { return posix; }

void* symbol(LibraryHandle library, const std::string& name) { return ::dlsym(library, name.c_str()); }

std::string path_of_module(const void* address) {
  Dl_info info = {};
  if (::dladdr(address, &info) == 0) return {};
  char* const real = ::realpath(info.dli_fname, nullptr);
  const std::string path = real ? real : "";
  ::free(real);
  return path;
}

std::string build_of_module(const void* address) {
  Dl_info info = {};
  const std::uint8_t* const id = ::dladdr(address, &info) != 0 ? build_id_of(info.dli_fbase) : nullptr;
  std::string digits;
  for (std::size_t i = 0; id && i < 16; ++i) digits += "0123456789abcdef"[id[i / 2] >> (i % 2 == 0 ? 4U : 0U) & 0xfU];
  return digits;
}

std::string path_of_program() {
  char path[PATH_MAX];
#if __has_include(<mach-o/dyld.h>)
  std::uint32_t size = sizeof path;
  return ::_NSGetExecutablePath(path, &size) == 0 ? std::string(path) : std::string();
#else
  const ::ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return length > 0 && length < PATH_MAX ? std::string(path, static_cast<std::size_t>(length)) : std::string();
#endif
}

}  // namespace clbake::os
