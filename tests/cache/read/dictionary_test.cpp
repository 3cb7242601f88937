// Entries whose program needs another one to be decompressed: damaged and forged dictionaries.
#include "allocation_watch.hpp"
#include "forge.hpp"

#include <boost/test/unit_test.hpp>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;
using format::SectionType;

namespace {

// The index records with and without a dictionary that the tests change.
struct Example {
  std::uint32_t user = 0;        // has `dictionary`
  std::uint32_t dictionary = 0;  // compressed by zstd
  std::uint32_t other_user = 0;  // has another dictionary
  std::uint32_t plain = 0;       // a dictionary that is stored as it is
};

Example example() {
  const Bundle bundle = open_bytes(packed_bundle()).value();
  Example found;
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    const Blob blob = bundle.entry(i)->program;
    if (blob.dictionary == 0) continue;
    const bool compressed = bundle.entry(blob.dictionary - 1)->program.method != 0;
    (compressed ? found.user : found.other_user) = i;
    (compressed ? found.dictionary : found.plain) = blob.dictionary - 1;
  }
  return found;
}

// Outcomes of verifying, and of reading the program of entry i.
std::string outcomes(const Bytes& bytes, std::uint32_t i) {
  const Result<Bundle> bundle = open_bytes(bytes);
  if (!bundle) return outcome(bundle);
  const Result<EntryInfo> entry = bundle->entry(i);
  return outcome(bundle->verify()) + ", " + (entry ? outcome(bundle->program(*entry)) : outcome(entry));
}

Forge with_dictionary(std::uint32_t entry, std::uint32_t value) {
  return Forge(packed_bundle()).set32(SectionType::index, entry, format::blob::kDictionaryAt, value);
}

}  // namespace

BOOST_AUTO_TEST_CASE(BothMethodsOccurAmongTheDictionaries) {
  const Example e = example();
  BOOST_TEST(e.dictionary != e.plain);
  BOOST_TEST(outcomes(packed_bundle(), e.user) == "ok, ok");
  BOOST_TEST(outcomes(packed_bundle(), e.other_user) == "ok, ok");
}

// Its bytes are damaged after it was read, which only its next reader can find.
BOOST_AUTO_TEST_CASE(ADictionaryIsReadAgainOnceAnotherWasNeeded) {
  const Example e = example();
  Bytes bytes = packed_bundle();
  const Bundle bundle = Bundle::from_memory(view_of(bytes)).value();
  const auto read = [&](std::uint32_t entry) { return outcome(bundle.program(bundle.entry(entry).value())); };
  BOOST_TEST(read(e.user) == "ok");
  bytes[bundle.entry(e.dictionary)->program.offset] ^= 1U;
  BOOST_TEST(read(e.user) == "ok");
  BOOST_TEST(read(e.dictionary) == "checksum");
  BOOST_TEST(read(e.other_user) == "ok");
  BOOST_TEST(read(e.user) == "checksum");
}

BOOST_AUTO_TEST_CASE(ADictionaryWhereNoneMayBeIsRefused) {
  const Example e = example();
  for (const std::uint32_t value : {13U, 14U, UINT32_MAX}) {
    BOOST_TEST(outcomes(with_dictionary(e.user, value).bytes, e.user) == "malformed, malformed");
  }
  BOOST_TEST(outcomes(with_dictionary(e.plain, e.dictionary + 1).bytes, e.plain) == "malformed, malformed");
  Forge outside(packed_bundle());  // of the index
  outside.set32(SectionType::variants, 1, format::blob::kDictionaryAt, 1);
  BOOST_TEST(outcome(open_bytes(outside.bytes)->variant(1)) == "unsupported version");
}

BOOST_AUTO_TEST_CASE(DictionaryThatHasADictionaryIsMalformed) {
  const Example e = example();
  BOOST_TEST(outcomes(with_dictionary(e.user, e.user + 1).bytes, e.user) == "malformed, malformed");  // itself
  BOOST_TEST(outcomes(with_dictionary(e.user, e.other_user + 1).bytes, e.user) == "malformed, malformed");
}

BOOST_AUTO_TEST_CASE(AnotherDictionaryNeverGivesAnotherProgram) {
  const Example e = example();
  BOOST_TEST(outcomes(with_dictionary(e.user, e.plain + 1).bytes, e.user) == "checksum, checksum");
  const std::string none = outcomes(with_dictionary(e.user, 0).bytes, e.user);
  BOOST_TEST((none == "malformed, malformed" || none == "checksum, checksum"));  // as zstd finds it
}

BOOST_AUTO_TEST_CASE(DamageToADictionaryIsDamageToItsUsersOnly) {
  const Example e = example();
  for (const bool in_record : {false, true}) {
    Forge forge(packed_bundle());
    *(in_record ? forge.record(SectionType::index, e.dictionary) : forge.blob(SectionType::index, e.dictionary)) ^= 1;
    BOOST_TEST(outcomes(forge.bytes, e.user) == "checksum, checksum");
    BOOST_TEST(outcomes(forge.bytes, e.dictionary) == "checksum, checksum");
    BOOST_TEST(outcomes(forge.bytes, e.other_user) == "checksum, ok");
    const Bundle bundle = open_bytes(forge.bytes).value();
    const std::string message = bundle.program(*bundle.entry(e.user)).status().message();
    BOOST_TEST(message.find("its dictionary, index record " + std::to_string(e.dictionary)) != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(DictionaryThatIsTooLargeIsMalformedBeforeAnythingIsAllocated) {
  const Example e = example();
  Forge forge(packed_bundle());
  forge.set32(SectionType::index, e.dictionary, format::blob::kRawBytesAt, format::kMaxDictionaryBytes + 1);
  const Bundle bundle = open_bytes(forge.bytes).value();
  const EntryInfo user = bundle.entry(e.user).value();
  reset_largest_allocation();
  const Status status = bundle.program(user).status();
  BOOST_TEST(largest_allocation() < 4096U);
  BOOST_TEST(outcome(status) == "malformed");
  BOOST_TEST(status.message().find("too large for a dictionary") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(EntryInfoOfAnotherBundleNeverGivesBytes) {
  const Bundle bundle = open_bytes(packed_bundle()).value();
  const Example e = example();
  EntryInfo info = bundle.entry(e.user).value();
  info.program.dictionary = UINT32_MAX;
  BOOST_TEST(outcome(bundle.program(info)) == "malformed");
  info.program.dictionary = e.plain + 1;
  BOOST_TEST(outcome(bundle.program(info)) == "checksum");
}

BOOST_AUTO_TEST_CASE(AnyFlippedBitIsFoundByVerifyAndNeverGivesAWrongProgram) {
  const Bundle intact = open_bytes(packed_bundle()).value();
  std::vector<Bytes> programs;
  for (std::uint32_t i = 0; i < intact.entry_count(); ++i) {
    programs.push_back(intact.program(*intact.entry(i)).value());
  }
  Bytes bytes = packed_bundle();
  for (std::size_t bit = 0; bit < bytes.size() * 8; bit += 7) {
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    const Result<Bundle> damaged = open_bytes(bytes);
    BOOST_REQUIRE_MESSAGE(!damaged || !damaged->verify().ok(), "bit " << bit);
    for (std::uint32_t i = 0; damaged && i < programs.size(); ++i) {
      const Result<EntryInfo> entry = damaged->entry(i);
      const Result<Bytes> program = entry ? damaged->program(*entry) : entry.status();
      BOOST_REQUIRE_MESSAGE(!program || *program == programs[i], "bit " << bit << ": a wrong program");
    }
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
  }
}
