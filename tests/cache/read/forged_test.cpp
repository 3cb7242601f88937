// Bundles with valid checksums and invalid fields: newer versions, and hostile files.
#include "allocation_watch.hpp"
#include "forge.hpp"

#include <clbake/cache/writer.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;
using format::SectionType;

BOOST_AUTO_TEST_CASE(ForgingNothingLeavesAValidBundle) {
  BOOST_TEST((Forge().seal().bytes == small_bundle()));
  Forge forge;
  forge.seal_record(SectionType::index, 1);
  forge.seal_blob(SectionType::variants, 0);
  BOOST_TEST((forge.seal().bytes == small_bundle()));
}

BOOST_AUTO_TEST_CASE(NewerMajorVersionIsUnsupported) {
  Forge forge;
  store16(forge.header() + format::header::kMajorAt, 2);
  forge.seal();
  BOOST_TEST(forge.open() == "unsupported version");
  BOOST_TEST(open_bytes(forge.bytes).status().message() == "format version 2.0, this reader knows version 1");
}

BOOST_AUTO_TEST_CASE(NewerMajorVersionWithAnotherHeaderSizeIsUnsupported) {
  Forge forge;
  store16(forge.header() + format::header::kMajorAt, 3);
  store32(forge.header() + format::header::kHeaderBytesAt, 256);
  store64(forge.header() + 248, xxh64(forge.header(), 248, 0));
  BOOST_TEST(forge.open() == "unsupported version");
}

BOOST_AUTO_TEST_CASE(AHeaderOfAnotherSizeIsMalformed) {
  Forge forge;
  constexpr std::size_t larger = format::header::kBytes + 8;
  store32(forge.header() + format::header::kHeaderBytesAt, larger);
  store64(forge.header() + larger - 8, xxh64(forge.header(), larger - 8, 0));
  BOOST_TEST(open_bytes(forge.bytes).status().message() == "header: its size is not that of version 1");
  BOOST_TEST(forge.open() == "malformed");
}

BOOST_AUTO_TEST_CASE(NewerMinorVersionIsRead) {
  Forge forge;
  store16(forge.header() + format::header::kMinorAt, 7);
  forge.seal();
  BOOST_TEST(forge.verify() == "ok");
  BOOST_TEST(open_bytes(forge.bytes)->version().minor == 7);
}

BOOST_AUTO_TEST_CASE(UnknownOptionalSectionIsSkippedAndStillVerified) {
  Forge forge;
  forge.add_section(77, 0, Bytes(100, 0xAB));
  BOOST_TEST(forge.verify() == "ok");
  BOOST_TEST((encoded(open_bytes(forge.bytes)->decode().value()) == small_bundle()));
  const Section section = read_layout(view_of(forge.bytes))->layout.sections.back();
  forge.bytes[section.offset + 50] ^= 1;
  BOOST_TEST(forge.open() == "ok");
  BOOST_TEST(forge.verify() == "checksum");
}

BOOST_AUTO_TEST_CASE(UnknownRequiredSectionIsUnsupported) {
  BOOST_TEST(Forge().add_section(77, 1, Bytes(100, 1)).open() == "unsupported version");
}

BOOST_AUTO_TEST_CASE(SecondSectionOfAKnownTypeIsMalformed) {
  BOOST_TEST(Forge().add_section(8, 1, Bytes(100, 1)).open() == "malformed");
}

BOOST_AUTO_TEST_CASE(LowerFlagBitsAreRefusedAndUpperOnesIgnored) {
  for (const unsigned bit : {4U, 15U, 16U, 31U}) {
    const std::string expected = bit < 16 ? "unsupported version" : "ok";
    Forge header, section;
    store32(header.header() + format::header::kFlagsAt, 1U << bit);
    BOOST_TEST(header.seal().verify() == expected);
    store32(section.section(SectionType::index) + format::section::kFlagsAt, 1U << bit | 1U);
    BOOST_TEST(section.seal().verify() == expected);
    BOOST_TEST(Forge().set32(SectionType::index, 0, format::blob::kFlagsAt, 1U << bit).verify() == expected);
    BOOST_TEST(Forge().set32(SectionType::sources, 0, format::blob::kFlagsAt, 1U << bit).verify() == expected);
    BOOST_TEST(
        Forge().set32(SectionType::proofs, 0, format::proof::kFlagsAt, 1U << bit | format::proof::kProven).verify() ==
        expected);
    Forge variant;
    store32(variant.blob(SectionType::variants, 0) + 4, 1U << bit);
    variant.seal_blob(SectionType::variants, 0);
    BOOST_TEST(variant.seal().verify() == expected);
  }
}

BOOST_AUTO_TEST_CASE(ReservedFieldsAreRefusedUnlessZero) {
  Forge header, section;
  header.header()[111] = 1;
  BOOST_TEST(header.seal().open() == "unsupported version");
  section.section(SectionType::targets)[format::section::kReservedAt] = 1;
  BOOST_TEST(section.seal().open() == "unsupported version");
  BOOST_TEST(Forge().set32(SectionType::index, 0, format::blob::kReservedAt, 1).verify() == "unsupported version");
}

BOOST_AUTO_TEST_CASE(FeatureOfOneEntryLeavesTheOthersReadable) {
  for (const std::size_t at : {format::blob::kKey2At, format::blob::kMethodAt}) {
    Forge forge;
    forge.record(SectionType::index, 2)[at] = 9;
    forge.seal_record(SectionType::index, 2);
    const Bundle bundle = open_bytes(forge.seal().bytes).value();
    BOOST_TEST(outcome(bundle.entry(2)) == "unsupported version");
    BOOST_TEST(outcome(bundle.entry(1)) == "ok");
    BOOST_TEST(outcome(bundle.entry(3)) == "ok");
  }
}

BOOST_AUTO_TEST_CASE(PrecisionOfANewerVersionIsUnsupported) {
  Forge forge;
  store32(forge.blob(SectionType::variants, 1), 5);
  forge.seal_blob(SectionType::variants, 1);
  const Bundle bundle = open_bytes(forge.seal().bytes).value();
  BOOST_TEST(outcome(bundle.variant(1)) == "unsupported version");
  BOOST_TEST(outcome(bundle.variant(0)) == "ok");
}

BOOST_AUTO_TEST_CASE(AProofThatContradictsItselfIsMalformed) {
  Forge unproven;
  unproven.set32(SectionType::proofs, 0, format::proof::kFlagsAt, 0);
  const Bundle bundle = open_bytes(unproven.bytes).value();
  BOOST_TEST(bundle.entry(0).status().message() == "proofs record 0: has a device, but is not proven");
  BOOST_TEST(bundle.entry(1).ok());

  // The name's bytes become the second half of an empty name and the first of the version.
  Forge nameless;
  std::uint8_t* record = nameless.record(SectionType::proofs, 0);
  std::uint8_t* texts = nameless.bytes.data() + nameless.section_offset(SectionType::bodies) +
                        load32(record + format::proof::kTextsOffsetAt);
  const std::uint32_t name_bytes = load32(texts + 4);
  const std::uint32_t version_bytes = load32(texts + 8 + name_bytes);
  store32(texts + 4, 0);
  store32(texts + 8, name_bytes + version_bytes);
  store64(record + format::proof::kTextsChecksumAt,
          xxh64(ByteView{texts, load32(record + format::proof::kTextsBytesAt)}, 0));
  nameless.seal_record(SectionType::proofs, 0);
  BOOST_TEST(open_bytes(nameless.seal().bytes)->entry(0).status().message() == "proofs record 0: tool 0 has no name");
}

BOOST_AUTO_TEST_CASE(HugeSizesAreRefusedWithoutAllocating) {
  const std::uint64_t huge[] = {UINT64_MAX, UINT64_MAX - 63, UINT64_MAX / 64, std::uint64_t{1} << 63,
                                1ULL << 40, 1ULL << 31};
  reset_largest_allocation();
  for (const std::uint64_t size : huge) {
    for (const std::size_t at : {format::header::kFileBytesAt, format::header::kTableOffsetAt}) {
      Forge forge;
      store64(forge.header() + at, size);
      BOOST_TEST(forge.seal().open() == (at == format::header::kFileBytesAt ? "truncated" : "malformed"));
    }
    for (const std::size_t at : {format::section::kOffsetAt, format::section::kBytesAt, format::section::kCountAt}) {
      Forge forge;
      store64(forge.section(SectionType::index) + at, size);
      forge.seal_header();
      BOOST_TEST(forge.open() == "malformed");
    }
    BOOST_TEST(Forge().set64(SectionType::index, 0, format::blob::kOffsetAt, size).verify() == "malformed");
    const auto narrow = static_cast<std::uint32_t>(size >> 1);
    BOOST_TEST(Forge().set32(SectionType::proofs, 0, format::proof::kTextsOffsetAt, narrow | 1U << 30).verify() ==
               "malformed");
    BOOST_TEST(Forge().set32(SectionType::index, 0, format::blob::kRawBytesAt, narrow).verify() == "malformed");
    BOOST_TEST(Forge().set32(SectionType::sources, 0, format::blob::kRawBytesAt, narrow).verify() == "malformed");
    BOOST_TEST(Forge().set32(SectionType::index, 0, format::blob::kStoredBytesAt, narrow).verify() == "malformed");
  }
  // Within the limits, but not the size that the frame declares.
  BOOST_TEST(Forge().set32(SectionType::index, 0, format::blob::kRawBytesAt, 256U << 20U).verify() == "malformed");
  BOOST_TEST(largest_allocation() < 65536U);
}

BOOST_AUTO_TEST_CASE(CountsInsideABodyAreBoundedByTheBody) {
  const Bytes plain = encode(small_contents(), Packing::plain).value();
  reset_largest_allocation();
  Forge launches;
  const std::uint8_t* record = launches.record(SectionType::variants, 0);
  const std::size_t size = load32(record + format::blob::kStoredBytesAt);
  // The count of launches lies before the only launch: its role, 4 bytes of size, the name "gemm", 5 numbers.
  store32(launches.blob(SectionType::variants, 0) + size - 32 - 4, UINT32_MAX);
  launches.seal_blob(SectionType::variants, 0);
  BOOST_TEST(launches.seal().verify() == "malformed");
  Forge text;
  store32(text.blob(SectionType::targets, 0) + 4, UINT32_MAX);
  text.seal_blob(SectionType::targets, 0);
  BOOST_TEST(text.seal().verify() == "malformed");
  for (const std::size_t count : {4U, 8U, 12U}) {  // of exceptions, cost models and defaults
    Forge profile(plain);
    store32(profile.blob(SectionType::profiles, 0) + count, UINT32_MAX);
    profile.seal_blob(SectionType::profiles, 0);
    BOOST_TEST(profile.seal().verify() == "malformed");
  }
  BOOST_TEST(largest_allocation() < 65536U);
}

BOOST_AUTO_TEST_CASE(SectionsThatOverlapOrAreMisalignedAreMalformed) {
  const std::uint64_t index = Forge().section_offset(SectionType::index);
  for (const std::uint64_t offset :
       {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{128}, index - 64, index + 64, index + 1}) {
    Forge forge;
    store64(forge.section(SectionType::index) + format::section::kOffsetAt, offset);
    forge.seal_header();
    BOOST_TEST(forge.open() == "malformed");
  }
}

BOOST_AUTO_TEST_CASE(MissingSectionIsMalformed) {
  Forge forge;
  std::uint8_t* programs = forge.section(SectionType::programs);
  store32(programs + format::section::kTypeAt, 77);
  store32(programs + format::section::kFlagsAt, 0);
  forge.seal_header();
  BOOST_TEST(forge.open() == "malformed");
}

BOOST_AUTO_TEST_CASE(EveryIndexRecordHasAProof) {
  namespace at = format::section;
  Forge forge;
  std::uint8_t* proofs = forge.section(SectionType::proofs);
  store64(proofs + at::kCountAt, load64(proofs + at::kCountAt) - 1);
  store64(proofs + at::kBytesAt, load64(proofs + at::kBytesAt) - format::kRecordBytes);
  const Status status = open_bytes(forge.seal().bytes).status();
  BOOST_TEST(status.message() == "the numbers of proofs and of index records differ");
  BOOST_TEST(outcome(status) == "malformed");
}

// A source whose text holds all of another one, to which that one's record points: both can be read.
BOOST_AUTO_TEST_CASE(BlobsThatOverlapAreMalformed) {
  Contents contents = small_contents();
  contents.sources = {{"within", "text"}, {"outer", ""}};
  const Bytes inner = {6, 0, 0, 0, 'w', 'i', 't', 'h', 'i', 'n', 4, 0, 0, 0, 't', 'e', 'x', 't'};
  contents.sources[1].text.assign(inner.begin(), inner.end());
  Forge forge(encode(contents, Packing::plain).value());
  const Bundle bundle = open_bytes(forge.bytes).value();
  BOOST_TEST(outcome(bundle.verify()) == "ok");
  const std::size_t i = bundle.source(0)->name == "within" ? 0 : 1;
  const std::uint8_t* outer = forge.record(SectionType::sources, 1 - i);
  const std::uint64_t end = load64(outer + format::blob::kOffsetAt) + load32(outer + format::blob::kStoredBytesAt);
  forge.set64(SectionType::sources, i, format::blob::kOffsetAt, end - inner.size());
  const Bundle forged = open_bytes(forge.bytes).value();
  BOOST_TEST(forged.source(static_cast<std::uint32_t>(i))->text == "text");
  const Status status = forged.verify();
  BOOST_TEST(outcome(status) == "malformed");
  BOOST_TEST(status.message() == "bodies: two blobs overlap at byte " + std::to_string(end - inner.size()));
}

BOOST_AUTO_TEST_CASE(RecordsOutOfOrderAreMalformed) {
  for (const SectionType type : {SectionType::targets, SectionType::variants, SectionType::index}) {
    Forge forge;
    std::swap_ranges(forge.record(type, 0), forge.record(type, 1), forge.record(type, 1));
    forge.seal_record(type, 0);
    forge.seal_record(type, 1);
    BOOST_TEST(forge.seal().verify() == "malformed");
  }
}

BOOST_AUTO_TEST_CASE(ProofOfAnotherProgramIsMalformed) {
  BOOST_TEST(Forge().set64(SectionType::proofs, 0, format::proof::kProgramChecksumAt, 1).verify() == "malformed");
}

BOOST_AUTO_TEST_CASE(IndexIntoNothingIsMalformed) {
  BOOST_TEST(Forge().set32(SectionType::index, 4, format::blob::kKey0At, 3).verify() == "malformed");
  BOOST_TEST(Forge().set32(SectionType::index, 4, format::blob::kKey1At, 3).verify() == "malformed");
  BOOST_TEST(Forge().set32(SectionType::profiles, 1, format::blob::kKey0At, 3).verify() == "malformed");
  Forge variant;
  store32(variant.blob(SectionType::variants, 0) + 12, 2);
  variant.seal_blob(SectionType::variants, 0);
  BOOST_TEST(variant.seal().verify() == "malformed");
}

BOOST_AUTO_TEST_CASE(PaddingAndUnusedBytesMustBeZero) {
  Forge padding;
  const Section programs = read_layout(view_of(padding.bytes))->layout.by_type[8];
  BOOST_REQUIRE_NE((programs.offset + programs.bytes) % 64, 0U);
  padding.bytes[programs.offset + programs.bytes] = 1;
  BOOST_TEST(padding.seal().verify() == "malformed");
  // An unused byte inside the programs.
  Forge unused;
  const Bundle bundle = open_bytes(unused.bytes).value();
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    if (bundle.entry(i)->program.raw_bytes != 9) continue;
    // Blob of 9 bytes: shorten it to 8 and leave the ninth.
    store32(unused.record(SectionType::index, i) + format::blob::kStoredBytesAt, 8);
    store32(unused.record(SectionType::index, i) + format::blob::kRawBytesAt, 8);
    unused.seal_blob(SectionType::index, i);
    unused.set64(SectionType::proofs, i, format::proof::kProgramChecksumAt,
                 load64(unused.record(SectionType::index, i) + format::blob::kRawChecksumAt));
  }
  BOOST_TEST(unused.seal().verify() == "malformed");
}

BOOST_AUTO_TEST_CASE(FrameThatZstdRefusesIsMalformed) {
  Forge forge;
  const std::uint8_t* record = forge.record(SectionType::sources, 0);
  BOOST_REQUIRE_EQUAL(load16(record + format::blob::kMethodAt), 1);
  const std::uint32_t size = load32(record + format::blob::kStoredBytesAt);
  std::uint8_t* stored = forge.blob(SectionType::sources, 0);
  std::fill(stored + 6, stored + size, std::uint8_t{0xFF});
  forge.set64(SectionType::sources, 0, format::blob::kStoredChecksumAt, xxh64(stored, size, 0));
  BOOST_TEST(forge.verify() == "malformed");
}

BOOST_AUTO_TEST_CASE(EntryInfoOfAnotherBundleNeverGivesBytes) {
  const Bundle bundle = open_bytes(small_bundle()).value();
  const EntryInfo good = bundle.entry(0).value();
  const auto outcome_of = [&](auto change) {
    EntryInfo info = good;
    change(info);
    return outcome(bundle.program(info));
  };
  BOOST_TEST(outcome_of([](EntryInfo&) {}) == "ok");
  BOOST_TEST(outcome_of([&](EntryInfo& e) { e.index = bundle.entry_count(); }) == "malformed");
  BOOST_TEST(outcome_of([](EntryInfo& e) { e.program.offset = UINT64_MAX; }) == "malformed");
  BOOST_TEST(outcome_of([](EntryInfo& e) { e.program.offset = 0; }) == "malformed");
  BOOST_TEST(outcome_of([](EntryInfo& e) { e.program.stored_bytes = UINT32_MAX; }) == "malformed");
  BOOST_TEST(outcome_of([](EntryInfo& e) { e.program.raw_bytes = UINT32_MAX; }) == "malformed");
  BOOST_TEST(outcome_of([](EntryInfo& e) { e.program.stored_checksum ^= 1; }) == "checksum");
  BOOST_TEST(outcome_of([](EntryInfo& e) { e.program.raw_checksum ^= 1; }) == "checksum");
  BOOST_TEST(outcome(bundle.program(EntryInfo())) == "malformed");
}

BOOST_AUTO_TEST_CASE(RandomlyForgedFieldsNeverCrash) {
  std::mt19937 random(5);
  for (int round = 0; round < 4000; ++round) {
    Forge forge;
    for (unsigned change = 0; change < 1 + random() % 3; ++change) {
      const auto type = static_cast<SectionType>(1 + random() % 6);
      const std::size_t count = load64(forge.section(type) + format::section::kCountAt);
      const std::size_t i = random() % count;
      const bool body = type <= SectionType::profiles && random() % 2 == 0;
      std::uint8_t* p = body ? forge.blob(type, i) : forge.record(type, i);
      const std::size_t size = body ? load32(forge.record(type, i) + format::blob::kStoredBytesAt) : 56;
      p[random() % size] = static_cast<std::uint8_t>(random() % 2 == 0 ? random() : random() % 4);
      if (body && load16(forge.record(type, i) + format::blob::kMethodAt) == 0) {
        forge.seal_blob(type, i);
      } else if (body) {
        store64(forge.record(type, i) + format::blob::kStoredChecksumAt, xxh64(p, size, 0));
      }
      forge.seal_record(type, i);
      // A changed record may point anywhere: later changes would not find their blob.
      if (!body) break;
    }
    forge.seal();
    BOOST_REQUIRE(forge.open() == "ok");
    BOOST_REQUIRE(forge.verify() != "out of memory");
    BOOST_REQUIRE(forge.decode() != "out of memory");
  }
}
