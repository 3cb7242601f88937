#include "command/elf_object.hpp"

#include <elf.h>
#include <cstring>
#include <fstream>

namespace clbake::tool {
namespace {

// The sections in their order in the file; the names lie in kNames, the table of all strings.
enum Section : Elf64_Half { kNone, kData, kSymbols, kStrings, kStack, kSections };
constexpr char kNames[] = "\0.rodata\0.symtab\0.strtab\0.note.GNU-stack";
constexpr Elf64_Word kDataName = 1;
constexpr Elf64_Word kSymbolsName = 9;
constexpr Elf64_Word kStringsName = 17;
constexpr Elf64_Word kStackName = 25;
constexpr std::size_t kDataAt = 64;  // bytes from the start of the file, behind its header
constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t size) { return (size + 7) / 8 * 8; }

template <typename T>
void put(cache::Bytes& to, std::size_t at, const T& value) {
  std::memcpy(to.data() + at, &value, sizeof value);
}

Elf64_Sym symbol(Elf64_Word name, std::size_t at, std::size_t size) {
  Elf64_Sym made{};
  made.st_name = name;
  made.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
  made.st_other = STV_HIDDEN;
  made.st_shndx = kData;
  made.st_value = at;
  made.st_size = size;
  return made;
}

Elf64_Shdr section(Elf64_Word name, Elf64_Word type, std::size_t at, std::size_t size, std::size_t alignment) {
  Elf64_Shdr made{};
  made.sh_name = name;
  made.sh_type = type;
  made.sh_offset = at;
  made.sh_size = size;
  made.sh_addralign = alignment;
  return made;
}

}  // namespace

Result<cache::Bytes> elf_object(const std::string& name, cache::ByteView bytes) {
  Elf64_Ehdr header{};  // class, byte order, machine and its flags are those of this process
  std::ifstream self("/proc/self/exe", std::ios::binary);
  self.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!self || header.e_ident[EI_CLASS] != ELFCLASS64) return {Code::io, "/proc/self/exe is not a 64-bit ELF file"};

  const std::string strings = std::string(kNames, sizeof kNames) + name + '\0' + name + "_size" + '\0';
  const auto name_at = static_cast<Elf64_Word>(sizeof kNames);
  const auto size_name_at = static_cast<Elf64_Word>(sizeof kNames + name.size() + 1);
  const std::size_t size_at = aligned(bytes.size);  // in the data
  const std::size_t symbols_at = kDataAt + size_at + sizeof(std::uint64_t);
  const std::size_t strings_at = symbols_at + 3 * sizeof(Elf64_Sym);
  const std::size_t sections_at = aligned(strings_at + strings.size());

  header.e_type = ET_REL;
  header.e_entry = header.e_phoff = header.e_phentsize = header.e_phnum = 0;
  header.e_ehsize = sizeof header;
  header.e_shoff = sections_at;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSections;
  header.e_shstrndx = kStrings;

  Elf64_Shdr sections[kSections] = {};
  sections[kData] = section(kDataName, SHT_PROGBITS, kDataAt, symbols_at - kDataAt, kAlignment);
  sections[kData].sh_flags = SHF_ALLOC;
  sections[kSymbols] = section(kSymbolsName, SHT_SYMTAB, symbols_at, strings_at - symbols_at, 8);
  sections[kSymbols].sh_link = kStrings;
  sections[kSymbols].sh_info = 1;  // the first that is global
  sections[kSymbols].sh_entsize = sizeof(Elf64_Sym);
  sections[kStrings] = section(kStringsName, SHT_STRTAB, strings_at, strings.size(), 1);
  sections[kStack] = section(kStackName, SHT_PROGBITS, sections_at, 0, 1);

  cache::Bytes object(sections_at + sizeof sections);
  put(object, 0, header);
  if (bytes.size) std::memcpy(object.data() + kDataAt, bytes.data, bytes.size);
  put(object, kDataAt + size_at, std::uint64_t{bytes.size});
  put(object, symbols_at + sizeof(Elf64_Sym), symbol(name_at, 0, bytes.size));
  put(object, symbols_at + 2 * sizeof(Elf64_Sym), symbol(size_name_at, size_at, sizeof(std::uint64_t)));
  std::memcpy(object.data() + strings_at, strings.data(), strings.size());
  put(object, sections_at, sections);
  return object;
}

}  // namespace clbake::tool
