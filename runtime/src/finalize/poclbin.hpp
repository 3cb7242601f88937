// PoCL's program binary, a "poclbin": what is in it, and the same program without what a load does not need.
// Versions 9 (PoCL 3.1) and 11 (4.0 to 7.1) of the container; every other version is refused.
//
// A poclbin holds files of PoCL's cache directory. A load writes each of them there, syncs it to the disk (about half a
// millisecond each), and parses program.bc, the LLVM bitcode (2 to 3 ms), whether or not anything is left to compile.
// Files that are there already are taken as they are.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

#include <array>
#include <string>
#include <vector>

namespace clbake {

// The program's place in PoCL's cache directory, "AB/CD..." and a final zero, as a part of every poclbin.
inline constexpr std::size_t kPoclPlaceAt = 8 + 8 + 4 + 4 + 8 + 4;
inline constexpr std::size_t kPoclPlaceBytes = 41;  // two digits for each byte of a SHA-1, written A to P, '/' and 0

// A kernel's machine code, as a shared object, for some shapes of launches: "<x>-<y>-<z>[-goffs0][-smallgrid]" names
// the local size, with goffs0 a global offset of zero, with smallgrid global sizes below 65,535; "0-0-0" serves every
// launch.
struct PoclFunction {
  std::string shape;
  cache::ByteView code;
};

struct PoclKernel {
  std::string name;
  std::array<std::uint64_t, 3> required_local = {};  // zeros: the kernel requires none
  bool has_local_memory = false;                     // variables or arguments in it
  std::vector<PoclFunction> functions;
  cache::ByteView description;  // the record up to its files: the sizes, then name, arguments and attributes
};

// Views into the bytes that were parsed.
struct PoclBinary {
  cache::ByteView header;
  bool holds_bitcode = false;  // program.bc, from which PoCL compiles functions for further shapes
  std::vector<PoclKernel> kernels;
};

// Nothing outside `bytes` is read, whatever they hold. Fails with unsupported_version for another version, and with
// malformed for damage, variables in program scope, libraries, and names of files that lead out of the directory.
Result<PoclBinary> parse_poclbin(cache::ByteView bytes);

// The same program without bitcode. Of a kernel whose work-groups have one item only the function for every launch is
// kept, which is as fast there as a specialised one; of other kernels all functions are. Without bitcode PoCL never
// compiles: a launch of a shape that no kept function was made for takes the one for every launch.
// The program gets a place of its own in PoCL's cache directory. There it would find the bitcode of an earlier build
// of the same source otherwise, parse that, and compile again.
// `program`: an application's own, of which functions for other launches than its own go as well, and all but the one
// for every launch where a kernel has no local memory: specialised ones are no faster there. Null for others.
// Fails like parse_poclbin, and with malformed for a kernel without a function for every launch.
Result<cache::Bytes> slim_poclbin(cache::ByteView bytes, const cache::Variant* program = nullptr);

// True for what slim_poclbin makes, as far as the beginning tells. `bytes` may be anything.
bool is_slim_poclbin(cache::ByteView bytes) noexcept;

}  // namespace clbake
