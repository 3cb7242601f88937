// Bundles with valid checksums and invalid fields: newer versions, and hostile files.
#include "allocation_watch.hpp"
#include "forge.hpp"

#include <clbake/cache/writer.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <tuple>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;
using format::SectionType;

namespace {

// Gives the header another size, with its checksum.
void resize_header(Forge& f, std::uint32_t bytes) {
  store32(f.header() + format::header::kHeaderBytesAt, bytes);
  store64(f.header() + bytes - 8, xxh64(f.header(), bytes - 8, 0));
}

void move_index(Forge& f, std::uint64_t offset) {
  store64(f.section(SectionType::index) + format::section::kOffsetAt, offset);
  f.seal_header();
}

void swap_first_records(Forge& f, SectionType type) {
  std::swap_ranges(f.record(type, 0), f.record(type, 1), f.record(type, 1));
  for (const std::size_t i : {0U, 1U}) f.seal_record(type, i);
  f.seal();
}

}  // namespace

BOOST_AUTO_TEST_CASE(FieldsAgainstTheFormatAreReportedAsSpecified) {
  namespace header = format::header;
  namespace section = format::section;
  const std::uint64_t index = Forge().section_offset(SectionType::index);
  const std::string newer = "unsupported version", bad = "malformed";
  const std::tuple<const char*, std::string, std::function<void(Forge&)>> cases[] = {
      {"another major version", newer, [](Forge& f) { store16(f.header() + header::kMajorAt, 2), f.seal(); }},
      {"the same with a larger header", newer,
       [](Forge& f) { store16(f.header() + header::kMajorAt, 3), resize_header(f, 256); }},
      {"a larger header of this version", bad, [](Forge& f) { resize_header(f, header::kBytes + 8); }},
      {"a reserved field of the header", newer, [](Forge& f) { f.header()[111] = 1, f.seal(); }},
      {"a reserved field of a section", newer,
       [](Forge& f) { f.section(SectionType::targets)[section::kReservedAt] = 1, f.seal(); }},
      {"a reserved field of a record", newer,
       [](Forge& f) { f.set32(SectionType::index, 0, format::blob::kReservedAt, 1); }},
      {"an unknown required section", newer, [](Forge& f) { f.add_section(77, 1, Bytes(100, 1)); }},
      {"a second section of a type", bad, [](Forge& f) { f.add_section(8, 1, Bytes(100, 1)); }},
      {"a missing section", bad,
       [](Forge& f) {
         store32(f.section(SectionType::programs) + section::kFlagsAt, 0);
         store32(f.section(SectionType::programs) + section::kTypeAt, 77);
         f.seal_header();
       }},
      {"a section in the header", bad, [](Forge& f) { move_index(f, 0); }},
      {"a section in the table", bad, [](Forge& f) { move_index(f, 128); }},
      {"a section in the one before", bad, [&](Forge& f) { move_index(f, index - 64); }},
      {"a section in the one after", bad, [&](Forge& f) { move_index(f, index + 64); }},
      {"a misaligned section", bad, [&](Forge& f) { move_index(f, index + 1); }},
      {"fewer proofs than entries", bad,
       [](Forge& f) {
         std::uint8_t* proofs = f.section(SectionType::proofs);
         store64(proofs + section::kCountAt, load64(proofs + section::kCountAt) - 1);
         store64(proofs + section::kBytesAt, load64(proofs + section::kBytesAt) - format::kRecordBytes);
         f.seal();
       }},
      {"targets out of order", bad, [](Forge& f) { swap_first_records(f, SectionType::targets); }},
      {"variants out of order", bad, [](Forge& f) { swap_first_records(f, SectionType::variants); }},
      {"entries out of order", bad, [](Forge& f) { swap_first_records(f, SectionType::index); }},
      {"a proof of another program", bad,
       [](Forge& f) { f.set64(SectionType::proofs, 0, format::proof::kProgramChecksumAt, 1); }},
      {"an entry of no target", bad, [](Forge& f) { f.set32(SectionType::index, 4, format::blob::kKey0At, 3); }},
      {"an entry of no variant", bad, [](Forge& f) { f.set32(SectionType::index, 4, format::blob::kKey1At, 3); }},
      {"a profile of no target", bad, [](Forge& f) { f.set32(SectionType::profiles, 1, format::blob::kKey0At, 3); }},
      {"a variant of no source", bad, [](Forge& f) { f.set_body32(SectionType::variants, 0, 12, 2); }}};
  for (const auto& [what, expected, change] : cases) {
    Forge forge;
    change(forge);
    BOOST_TEST(forge.verify() == expected, what << ": " << forge.verify());
  }
}

BOOST_AUTO_TEST_CASE(AKeyThatMustBeZeroIsNamedAsSuch) {
  const std::pair<SectionType, std::size_t> keys[] = {{SectionType::variants, format::blob::kKey2At},
                                                      {SectionType::sources, format::blob::kKey0At},
                                                      {SectionType::profiles, format::blob::kKey1At}};
  for (const auto& [type, at] : keys) {
    Forge forge;
    forge.record(type, 0)[at] = 9;
    forge.seal_record(type, 0);
    const Result<Bundle> bundle = open_bytes(forge.seal().bytes);
    const std::string message = bundle ? bundle->verify().message() : bundle.status().message();
    BOOST_TEST(message.find("has a key that must be 0") != message.npos, message);
  }
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
    BOOST_TEST(Forge().set_body32(SectionType::variants, 0, 4, 1U << bit).verify() == expected);
  }
}

BOOST_AUTO_TEST_CASE(AFeatureOfOneRecordLeavesTheOthersReadable) {
  Forge variant;
  variant.set_body32(SectionType::variants, 1, 32, UINT32_MAX);  // the name's size: another layout of a newer version
  const Bundle variants = open_bytes(variant.set_body32(SectionType::variants, 1, 0, 5).bytes).value();  // precision
  BOOST_TEST(outcome(variants.variant(1)) == "unsupported version");
  BOOST_TEST(outcome(variants.variant(0)) == "ok");
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

BOOST_AUTO_TEST_CASE(AProofThatContradictsItselfIsMalformed) {
  Forge unproven;
  unproven.set32(SectionType::proofs, 0, format::proof::kFlagsAt, 0);
  const Bundle bundle = open_bytes(unproven.bytes).value();
  BOOST_TEST(bundle.entry(0).status().message() == "proofs record 0: has a device, but is not proven");
  BOOST_TEST(bundle.entry(1).ok());
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
  BOOST_TEST(launches.set_body32(SectionType::variants, 0, size - 32 - 4, UINT32_MAX).verify() == "malformed");
  BOOST_TEST(Forge().set_body32(SectionType::targets, 0, 4, UINT32_MAX).verify() == "malformed");
  for (const std::size_t count : {4U, 8U, 12U}) {  // of exceptions, cost models and defaults
    BOOST_TEST(Forge(plain).set_body32(SectionType::profiles, 0, count, UINT32_MAX).verify() == "malformed");
  }
  BOOST_TEST(largest_allocation() < 65536U);
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
