// An object file that holds one array of bytes, made without a compiler.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

#include <string>

namespace clbake::tool {

// The bytes of an ELF object for this machine that defines, hidden and read-only,
//   const unsigned char name[]   the bytes, aligned to 64
//   const size_t name_size       how many
// Fails with io when this process cannot read its own executable, which tells the machine.
Result<cache::Bytes> elf_object(const std::string& name, cache::ByteView bytes);

}  // namespace clbake::tool
