// The slices of a bundle that an index names: FORMAT.md, "Index of slices".
#pragma once

#include <clbake/cache/model.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace clbake::cache {

// Bits of Slice::kinds behind those of products, which are 1 << index_of(kind).
constexpr std::uint32_t kComplexSingle = 1U << 16;  // the kernels that complex single products need
constexpr std::uint32_t kComplexDouble = 1U << 17;  // beside those of single and double
constexpr std::uint32_t kOwnPrograms = 1U << 18;    // the application's own programs
constexpr std::uint32_t kMixed = 1U << 19;          // all mixed products
constexpr std::uint32_t kNoTarget = UINT32_MAX;     // of a slice that holds sources for every device

// How a slice has a program. None of them: it is not there.
constexpr std::uint32_t kNativeForm = 1;
constexpr std::uint32_t kPortableForm = 2;
constexpr std::uint32_t kNewerDriverForm = 4;  // native, and newer drivers load it, too
constexpr std::uint32_t kSourceForm = 8;       // of every program that is there
constexpr std::uint32_t kBakedForms = 7;       // those above, without the source

// The place in Slice::forms of a kind's baked forms.
constexpr unsigned forms_shift(std::uint32_t kind) { return kind <= 1 ? 0 : 3 + forms_shift(kind >> 1U); }

// A bundle for one target and some kinds of problems, or for programs.
struct Slice {
  ContentDigest digest{};    // blake2b_256 of its bytes
  std::uint64_t bytes = 0;   // of the whole slice
  std::uint32_t target = 0;  // an index into the targets, or kNoTarget
  std::uint32_t kinds = 0;   // that it serves; no two slices of a target share one
  std::uint64_t forms = 0;   // baked ones that a program of a kind has at least; forms_shift. Not of kOwnPrograms
  std::uint32_t set = 0;     // with kOwnPrograms: the number of its set of programs; else 0
};

// The name of a slice's file: the 64 hexadecimal digits of its digest, and ".clbake".
std::string slice_name(const ContentDigest& digest);

// An application's program, as slices are searched for it. Names and contents that only begin alike cost a fetch.
struct ProgramKey {
  std::uint64_t name = 0;     // xxh64, seed 0
  std::uint64_t content = 0;  // the first 8 bytes; 0: it has none

  bool operator==(const ProgramKey& other) const { return name == other.name && content == other.content; }
  bool operator<(const ProgramKey& other) const {
    return name != other.name ? name < other.name : content < other.content;
  }
};

struct SliceTable {
  std::uint64_t release = 0;  // the number of the release
  std::vector<Slice> slices;
  std::vector<ProgramKey> programs;
  std::vector<Bytes> sets;  // by Slice::set: the forms of program p are bits 4 * (p % 2) to + 3 of byte p / 2

  // Those of a program; 0 when the slice does not have it.
  std::uint32_t forms(const Slice& slice, std::size_t program) const {
    return (slice.kinds & kOwnPrograms) != 0 ? sets[slice.set][program / 2] >> (4 * (program % 2)) & 0xFU : 0;
  }

  // Those that a program of a kind has at least; 0 when the slice does not serve the kind, a bit of Slice::kinds.
  static std::uint32_t forms_of_kind(const Slice& slice, std::uint32_t kind) {
    const std::uint32_t baked = static_cast<std::uint32_t>(slice.forms >> forms_shift(kind)) & kBakedForms;
    return (slice.kinds & kind) != 0 ? kSourceForm | baked : 0;
  }
};

}  // namespace clbake::cache
