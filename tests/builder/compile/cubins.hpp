// Stand-ins for NVIDIA's programs in tests without NVIDIA's hardware.
#pragma once

#include <clbake/cache/model.hpp>

#include <string>

namespace clbake::builder::test {

// An ELF file that says it is machine code for a compute capability, in the flags' layout of ABI version 7 or 8, and
// ends with a table of two sections, as real ones end with a table.
inline cache::Bytes handmade_cubin(std::uint8_t capability, std::uint8_t abi = 8) {
  cache::Bytes bytes(64 + 2 * 64);
  const std::uint8_t start[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, static_cast<std::uint8_t>(abi == 7 ? 0x33 : 0x41), abi};
  for (std::size_t i = 0; i < sizeof start; ++i) bytes[i] = start[i];
  bytes[18] = 190;
  bytes[40] = 64;  // where the sections' table begins; no program headers
  const std::uint8_t flags[2][3] = {{capability, 0x05, capability}, {0x04, capability, 0x00}};
  for (std::size_t i = 0; i < 3; ++i) bytes[48 + i] = flags[abi == 7 ? 0 : 1][i];
  bytes[52] = 64;  // bytes of the header
  bytes[58] = 64;  // bytes of a section's header
  bytes[60] = 2;   // sections
  return bytes;
}

// PTX that real assemblers take from CUDA 11 on; it ends in a zero, as what the OpenCL driver gives does.
inline std::string small_ptx(const std::string& target = "sm_80") {
  return ".version 7.0\n.target " + target +
         "\n.address_size 64\n.visible .entry small(.param .u64 p) .reqntid 32, 1, 1\n{\n  ret;\n}\n" + '\0';
}

}  // namespace clbake::builder::test
