// The constants of FORMAT.md, version 1.0, and the reasons for the layout of bundles.
//
// A bundle is opened in every process that multiplies matrices, and most processes use a few of its entries. So opening
// reads a header and a table of at most ten sections, whatever the number of entries; records have a fixed size and are
// used in place, in a mapped file or in memory of any alignment; and each piece is verified when it is used, not
// before.
//
//   records (targets ... proofs)    64 bytes each, sorted: searched in place, one cache line each in a mapped file
//   programs, bodies                the variable part, after all records: a search touches none of it
//
// - Every record has its own checksum, seeded with its section and index: a record in another position is damage. It
//   also holds the checksums of its blob. So a lookup verifies what it returns and hardly anything else, and damage to
//   one entry leaves the others usable.
// - Small and hot bodies are stored as they are: targets are compared in place, and the first use of a variant must not
//   pay for decompression. Sources, profiles and programs are zstd frames.
// - The keys of the index grow almost evenly, because most variants are baked for most targets. Interpolation finds an
//   entry in 2 to 4 probes; bisection alone takes 20 in a bundle of a million, each a cache miss. See read/search.cpp.
// - The dictionary of a program is another program of the bundle, so it costs no bytes. It has none itself: one entry
//   takes at most two decompressions.
// - The writer sorts, removes duplicates and renumbers: equal contents are equal bytes, and programs that entries share
//   are stored once.
// - XXH64 finds damage, not malice. A reader nevertheless checks every size and offset before it uses it.
// - Against malice there are digests and signatures. All that is signed is the index, which lies in front; each blob is
//   compared with its digest when it is used. So trust costs one signature at opening, and nothing for what is not
//   used.
#pragma once

#include <clbake/gemm_kind.hpp>

#include <cstddef>
#include <cstdint>

namespace clbake::cache::format {

constexpr std::uint8_t kMagic[8] = {0x8B, 'C', 'L', 'B', '\r', '\n', 0x1A, '\n'};
constexpr std::uint16_t kMajor = 1;
constexpr std::uint16_t kMinor = 0;

// Flags: undefined bits of the lower half are refused, those of the upper half ignored.
constexpr std::uint32_t kRefusedFlags = 0x0000FFFF;

namespace header {
constexpr std::size_t kMajorAt = 8, kMinorAt = 10, kHeaderBytesAt = 12, kFileBytesAt = 16, kTableOffsetAt = 24,
                      kSectionCountAt = 32, kFlagsAt = 36, kReservedAt = 40, kTableChecksumAt = 112, kChecksumAt = 120;
constexpr std::size_t kBytes = 128;
constexpr std::size_t kFixedBytes = 16;  // magic to header_bytes: the same in every version
constexpr std::size_t kMinBytes = 64, kMaxBytes = 4096;
}  // namespace header

namespace section {
constexpr std::size_t kTypeAt = 0, kFlagsAt = 4, kOffsetAt = 8, kBytesAt = 16, kCountAt = 24, kRecordBytesAt = 32,
                      kReservedAt = 36, kChecksumAt = 40;
constexpr std::size_t kBytes = 48;
constexpr std::uint64_t kAlignment = 64;
constexpr std::uint32_t kRequired = 1;
}  // namespace section

enum class SectionType : std::uint32_t {
  targets = 1,
  sources = 2,
  variants = 3,
  profiles = 4,
  index = 5,
  proofs = 6,
  bodies = 7,
  programs = 8,
  digests = 9,
  signatures = 10,
};
constexpr std::size_t kRequiredTypes = 8;  // 1 to 8: in every bundle
constexpr std::size_t kSectionTypes = 10;

constexpr std::size_t kRecordBytes = 64;  // in sections 1 to 6
constexpr std::size_t kDigestBytes = 32;
// Types 1 to 6, whose records each have a digest, in this order.
constexpr std::uint32_t kLastDigested = static_cast<std::uint32_t>(SectionType::proofs);
constexpr std::size_t kRecordChecksumAt = 56;

// The seed of a record's checksum: it makes the record valid at its own position only.
constexpr std::uint64_t record_seed(SectionType type, std::uint32_t i) {
  return static_cast<std::uint64_t>(type) << 32 | i;
}

namespace blob {
constexpr std::size_t kKey0At = 0, kKey1At = 4, kKey2At = 8, kMethodAt = 10, kDictionaryAt = 12, kOffsetAt = 16,
                      kStoredBytesAt = 24, kRawBytesAt = 28, kStoredChecksumAt = 32, kRawChecksumAt = 40, kFlagsAt = 48,
                      kReservedAt = 52;
constexpr std::uint32_t kNewerDriver = 1;  // flag of index records
}  // namespace blob

namespace proof {
constexpr std::size_t kFlagsAt = 0, kCreateAt = 4, kBuildAt = 8, kKernelAt = 12, kFirstAt = 16, kSteadyAt = 20,
                      kMaxErrorAt = 24, kToleranceAt = 28, kTextsBytesAt = 32, kTextsOffsetAt = 36,
                      kTextsChecksumAt = 40, kProgramChecksumAt = 48;
constexpr std::uint32_t kProven = 1, kJitFree = 2;
}  // namespace proof

namespace signature {
constexpr std::size_t kPublicKeyAt = 0, kSignatureAt = 32, kReleaseAt = 96, kFlagsAt = 104, kReservedAt = 108,
                      kChecksumAt = 120;
constexpr std::size_t kBytes = 128;
}  // namespace signature

// 0: the section has no records.
constexpr std::uint32_t record_bytes_of(SectionType type) {
  switch (type) {
    case SectionType::bodies:
    case SectionType::programs: return 0;
    case SectionType::digests: return kDigestBytes;
    case SectionType::signatures: return signature::kBytes;
    default: return kRecordBytes;
  }
}

constexpr std::uint32_t kTransA = 1, kTransB = 2;  // flags of variants, rules and cost models
constexpr std::uint32_t kImageA = 4, kImageB = 8;  // flags of variants
constexpr bool known_precision(std::uint32_t value) { return 1 <= value && value <= 4; }
constexpr bool known_role(std::uint32_t value) { return 1 <= value && value <= 5; }
constexpr std::size_t kRuleBytes = 44;
constexpr std::size_t kCostModelBytes = 80;

enum class Method : std::uint32_t { none = 0, zstd = 1 };

constexpr std::uint64_t kMaxSections = 64;
constexpr std::uint64_t kMaxSignatures = 64;
constexpr std::uint64_t kMaxTargets = 65536, kMaxSources = 65536, kMaxProfiles = 65536;
constexpr std::uint64_t kMaxVariants = 1048576;
constexpr std::uint64_t kMaxEntries = 16777216;
constexpr std::uint64_t kMaxLaunches = 1024;
constexpr std::uint64_t kMaxRulesOfKind = 32, kMaxModelsOfKind = 256;
constexpr std::uint64_t kMaxTargetBytes = 65536, kMaxVariantBytes = 1048576, kMaxTextsBytes = 65536;
constexpr std::uint64_t kMaxSourceBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kMaxProfileBytes =
    16 + clbake::kKinds * (2 * kMaxRulesOfKind * kRuleBytes + kMaxModelsOfKind * kCostModelBytes);
constexpr std::uint64_t kMaxProgramBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMaxDictionaryBytes = std::uint64_t{8} << 20;  // a program that is a dictionary

}  // namespace clbake::cache::format
