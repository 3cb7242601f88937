// The constants of FORMAT.md, version 1.0, and the reasons for the layout of bundles.
//
// A bundle is opened in every process that multiplies matrices, and most processes use a few of its entries. So opening
// reads a header and a table of a few sections; records have a fixed size, are used in place and verified when
// they are used, not before.
//
// - All records lie in front of what they point to: a search touches one cache line of each record, and nothing else.
// - Small and hot bodies are stored as they are: targets are compared in place, and the first use of a variant must not
//   pay for decompression. Sources, profiles and programs are zstd frames.
// - The dictionary of a program is another program of the bundle, so it costs no bytes. It has none itself: one entry
//   takes at most two decompressions.
// - XXH64 finds damage, not malice. A reader nevertheless checks every size and offset before it uses it. Against
//   malice the index, which lies in front, is signed, and each blob is compared with its digest when it is used.
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
  slices = 11,
};
constexpr std::size_t kRequiredTypes = 8;  // 1 to 8: in every bundle
constexpr std::size_t kSectionTypes = 11;

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

// Section 11, of an index of slices: FORMAT.md, "Index of slices".
namespace slices {
constexpr std::size_t kReleaseAt = 0, kCountAt = 8, kProgramsAt = 12, kHeaderBytes = 16;
constexpr std::size_t kDigestAt = 0, kBytesAt = 32, kTargetAt = 40, kKindsAt = 44, kFormsAt = 48;
constexpr std::size_t kSliceBytes = 56;
constexpr std::size_t kProgramBytes = 16;
constexpr std::uint32_t kKnownKinds = (1U << 20) - 1;
constexpr unsigned kFormsOfKinds = 20;  // each of 3 bits
}  // namespace slices

constexpr std::uint32_t kTransA = 1, kTransB = 2;  // flags of variants, rules and cost models
constexpr std::uint32_t kImageA = 4, kImageB = 8;  // flags of variants
constexpr bool known_precision(std::uint32_t value) {
  for (const Precision mixed : mixed_precisions) {
    if (value == static_cast<std::uint32_t>(mixed)) return true;
  }
  return 1 <= value && value <= 4;
}
constexpr bool known_role(std::uint32_t value) { return 1 <= value && value <= 8; }
constexpr std::size_t kRuleBytes = 44;
constexpr std::size_t kCostModelBytes = 96;

enum class Method : std::uint32_t { none = 0, zstd = 1 };

constexpr std::uint64_t kMaxSections = 64;
constexpr std::uint64_t kMaxSignatures = 64;
constexpr std::uint64_t kMaxSlicesSection = std::uint64_t{16} << 20;  // bytes
constexpr std::uint64_t kMaxSliceBytes = std::uint64_t{1} << 40;      // so that sums do not overflow
constexpr std::uint64_t kMaxTargets = 65536, kMaxSources = 65536, kMaxProfiles = 65536;
constexpr std::uint64_t kMaxVariants = 1048576;
constexpr std::uint64_t kMaxEntries = 16777216;
constexpr std::uint64_t kMaxRulesOfKind = 32, kMaxModelsOfKind = 256;
constexpr std::uint64_t kMaxTargetBytes = 65536, kMaxVariantBytes = 1048576, kMaxTextsBytes = 65536;
constexpr std::uint64_t kMaxSourceBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kMaxProfileBytes =
    16 + clbake::kKinds * (2 * kMaxRulesOfKind * kRuleBytes + kMaxModelsOfKind * kCostModelBytes);
constexpr std::uint64_t kMaxProgramBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMaxDictionaryBytes = std::uint64_t{8} << 20;  // a program that is a dictionary

// A section of a known type: its name in messages, bytes of a record (0: it has none), the most records, and the most
// raw bytes of a record's blob. Characters instead of pointers: the loader has nothing to relocate.
struct Known {
  char name[12];
  std::uint32_t record_bytes;
  std::uint64_t max_count, max_raw_bytes;
};
constexpr Known kSections[kSectionTypes] = {{"targets", kRecordBytes, kMaxTargets, kMaxTargetBytes},
                                            {"sources", kRecordBytes, kMaxSources, kMaxSourceBytes},
                                            {"variants", kRecordBytes, kMaxVariants, kMaxVariantBytes},
                                            {"profiles", kRecordBytes, kMaxProfiles, kMaxProfileBytes},
                                            {"index", kRecordBytes, kMaxEntries, kMaxProgramBytes},
                                            {"proofs", kRecordBytes, kMaxEntries, 0},
                                            {"bodies", 0, 0, 0},
                                            {"programs", 0, 0, 0},
                                            {"digests", kDigestBytes, UINT32_MAX, 0},
                                            {"signatures", signature::kBytes, kMaxSignatures, 0},
                                            {"slices", 0, 0, 0}};
constexpr const Known& known(SectionType type) { return kSections[static_cast<std::size_t>(type) - 1]; }

}  // namespace clbake::cache::format
