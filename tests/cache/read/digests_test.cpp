// Digests and signatures: where they may lie, what they cover, and that a guard sees each byte before anybody else.
#include "forge.hpp"

#include <clbake/cache/pack.hpp>

#include <boost/test/unit_test.hpp>
#include <functional>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;
using format::SectionType;

namespace {

// A fingerprint of everything that a runtime reads; a failure as its code.
std::string everything(const Bundle& bundle) {
  const Result<Contents> contents = bundle.decode();
  return contents ? fingerprint(*contents) : outcome(contents);
}

Bundle guarded(const Bundle& bundle) { return bundle.guarded_by(std::make_shared<const TestGuard>()).value(); }

// The reason why a bundle with changed digests or signatures is not opened, or not read.
std::string refusal(Forge& forge) {
  const Result<Bundle> bundle = open_bytes(forge.seal().bytes);
  return bundle ? bundle->signatures().status().message() : bundle.status().message();
}

void seal_signature(Forge& forge, std::size_t i) {
  namespace at = format::signature;
  std::uint8_t* p = forge.bytes.data() + forge.section_offset(SectionType::signatures) + i * at::kBytes;
  const std::uint64_t seed = format::record_seed(SectionType::signatures, static_cast<std::uint32_t>(i));
  store64(p + at::kChecksumAt, xxh64(p, at::kChecksumAt, seed));
}

}  // namespace

BOOST_AUTO_TEST_CASE(ASignedBundleHoldsTheSameContents) {
  const Bundle bundle = open_bytes(signed_bundle()).value();
  BOOST_TEST(bundle.verify().message() == "");
  BOOST_TEST(bundle.has_digests());
  BOOST_TEST(everything(bundle) == everything(open_bytes(small_bundle()).value()));
  const std::vector<Signature> signatures = bundle.signatures().value();
  BOOST_REQUIRE_EQUAL(signatures.size(), 2U);
  BOOST_TEST(unsigned{signatures[0].public_key[31]} == 5U);  // sorted
  BOOST_TEST(signatures[0].release == UINT64_MAX);
  BOOST_TEST(unsigned{signatures[1].public_key[0]} == 7U);
  BOOST_TEST(signatures[1].release == 3U);
  BOOST_TEST(unsigned{signatures[1].signature[63]} == 9U);
  BOOST_TEST(bundle.check_digests(TestGuard()).message() == "");
}

BOOST_AUTO_TEST_CASE(SigningMovesNothing) {
  PackOptions options;
  options.digest = test_digest;
  const Bytes plain = pack(small_contents(), options).value();
  BOOST_TEST(open_bytes(plain)->verify().message() == "");
  BOOST_TEST((with_signatures(view_of(signed_bundle()), {}).value() == plain));
  BOOST_TEST((*open_bytes(plain)->identified_bytes() == *open_bytes(signed_bundle())->identified_bytes()));
  BOOST_TEST(signed_bundle().size() == plain.size() + 2 * format::signature::kBytes);
}

BOOST_AUTO_TEST_CASE(ABundleWithoutDigestsOrWithBadKeysIsNotSigned) {
  BOOST_TEST(outcome(with_signatures(view_of(small_bundle()), {})) == "not trusted");
  BOOST_TEST(outcome(with_signatures(view_of(signed_bundle()), {Signature(), Signature()})) == "invalid argument");
  std::vector<Signature> many(65);
  for (std::size_t i = 0; i < many.size(); ++i) many[i].public_key[0] = static_cast<std::uint8_t>(i);
  BOOST_TEST(outcome(with_signatures(view_of(signed_bundle()), many)) == "invalid argument");
  many.pop_back();
  const Bytes most = with_signatures(view_of(signed_bundle()), many).value();
  BOOST_TEST(open_bytes(most)->signatures()->size() == 64U);
  BOOST_TEST(open_bytes(most)->verify().message() == "");
  const Bytes cut(signed_bundle().begin(), signed_bundle().end() - 1);
  BOOST_TEST(outcome(with_signatures(view_of(cut), {})) == "truncated");
}

BOOST_AUTO_TEST_CASE(WithoutDigestsNothingIsIdentified) {
  const Bundle bundle = open_bytes(small_bundle()).value();
  BOOST_TEST(!bundle.has_digests());
  BOOST_TEST(bundle.signatures()->empty());
  BOOST_TEST(outcome(bundle.identified_bytes()) == "not trusted");
  BOOST_TEST(outcome(bundle.guarded_by(std::make_shared<const TestGuard>())) == "not trusted");
}

BOOST_AUTO_TEST_CASE(AGuardSeesEveryBlobBeforeItIsRead) {
  const Bundle bundle = open_bytes(signed_bundle()).value();
  const auto guard = std::make_shared<const TestGuard>();
  const Bundle under_guard = bundle.guarded_by(guard).value();
  BOOST_TEST(guard->shown == 0U);
  BOOST_TEST(everything(under_guard) == everything(bundle));
  const std::size_t records = bundle.target_count() + bundle.source_count() + bundle.variant_count() +
                              bundle.profile_count() + 2 * bundle.entry_count();
  BOOST_TEST(guard->shown == records);
  BOOST_TEST(guard->admitted == records);
  BOOST_TEST(under_guard.verify().message() == "");
  for (std::uint32_t i = 0; i < bundle.target_count(); ++i) {
    BOOST_TEST(under_guard.find_target(*bundle.target(i)).value() == i);
  }
}

// Flips each byte in turn, with the checksums that are no secret made right again: what is read is right, or refused.
BOOST_AUTO_TEST_CASE(NoChangedByteIsReadUnderAGuard) {
  const std::string right = everything(open_bytes(signed_bundle()).value());
  const Bytes identity = open_bytes(signed_bundle())->identified_bytes().value();
  std::size_t other_identity = 0, refused = 0, not_opened = 0, unused = 0;
  for (std::size_t at = 0; at < signed_bundle().size(); ++at) {
    Forge forge(signed_bundle());
    forge.bytes[at] ^= 0x10;
    forge.seal_header();
    const Result<Bundle> bundle = open_bytes(forge.bytes);
    const Result<Bytes> identified = bundle ? bundle->identified_bytes() : bundle.status();
    if (!identified) {
      ++not_opened;
      continue;
    }
    if (*identified != identity) {
      ++other_identity;
      continue;
    }
    const std::string read = everything(guarded(*bundle));
    refused += read == "not trusted" ? 1 : 0;
    unused += read == right ? 1 : 0;  // padding, and the signatures, whose checksums show it
    BOOST_REQUIRE_MESSAGE(read == right || read == "not trusted", "byte " << at << ": " << read);
  }
  BOOST_TEST(not_opened > 0U);
  BOOST_TEST(other_identity > 0U);
  BOOST_TEST(refused > 0U);
  BOOST_TEST(unused < 2 * format::signature::kBytes + 10 * 64);
}

BOOST_AUTO_TEST_CASE(BytesThatChangeAfterOpeningAreNotRead) {
  Bytes bytes = signed_bundle();
  const Bundle bundle = guarded(open_bytes(bytes).value());
  const std::string right = everything(bundle);
  Forge forge(bytes);
  const std::size_t end = forge.section_offset(SectionType::programs);
  std::fill(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(end), std::uint8_t{0xEE});
  BOOST_TEST(everything(bundle) == right);  // records and digests are a copy
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(end), bytes.end(), std::uint8_t{0xEE});
  BOOST_TEST(everything(bundle) == "not trusted");
}

BOOST_AUTO_TEST_CASE(DigestsAndSignaturesOutOfPlaceAreMalformed) {
  namespace at = format::section;
  const auto set = [](SectionType type, std::size_t field, std::uint64_t value) {
    return [=](Forge& f) { store64(f.section(type) + field, value); };
  };
  const std::pair<const char*, std::function<void(Forge&)>> cases[] = {
      {"digests and signatures: one without the other",
       [](Forge& f) { store32(f.section(SectionType::signatures) + at::kTypeAt, 77); }},
      {"digests and signatures: one without the other",
       [](Forge& f) { store32(f.section(SectionType::digests) + at::kTypeAt, 77); }},
      {"the numbers of digests and of records differ",
       [](Forge& f) {
         std::uint8_t* digests = f.section(SectionType::digests);
         store64(digests + at::kCountAt, load64(digests + at::kCountAt) - 1);
         store64(digests + at::kBytesAt, load64(digests + at::kBytesAt) - format::kDigestBytes);
       }},
      {"section of type 10: wrong record size",
       [](Forge& f) { store32(f.section(SectionType::signatures) + at::kRecordBytesAt, 64); }},
      {"section of type 10: its size is not its number of records times 128",
       set(SectionType::signatures, at::kBytesAt, format::signature::kBytes / 2)},
      {"section of type 10: too many records", set(SectionType::signatures, at::kCountAt, 65)}};
  for (const auto& [cause, change] : cases) {
    Forge forge(signed_bundle());
    change(forge);
    BOOST_TEST(refusal(forge) == cause);
  }

  // Digests behind the blobs: the two sections exchange their types.
  Forge behind(signed_bundle());
  std::uint8_t* first = behind.section(SectionType::digests);
  std::uint8_t* second = behind.section(SectionType::bodies);
  std::uint8_t saved[24];
  std::copy(first + at::kCountAt, first + at::kCountAt + 12, saved);
  store32(first + at::kTypeAt, 7);
  store64(first + at::kCountAt, 0);
  store32(first + at::kRecordBytesAt, 0);
  store32(second + at::kTypeAt, 9);
  const std::uint64_t count = load64(saved);
  store64(second + at::kCountAt, count);
  store64(second + at::kBytesAt, count * format::kDigestBytes);
  store32(second + at::kRecordBytesAt, format::kDigestBytes);
  BOOST_TEST(refusal(behind) == "the digests do not lie between records and blobs");
  // A hole that a reader would copy, in a file that may be sparse.
  Forge hole(signed_bundle());
  const std::size_t begin = hole.section_offset(SectionType::digests);
  constexpr std::size_t kHole = 65536;
  hole.bytes.insert(hole.bytes.begin() + static_cast<std::ptrdiff_t>(begin), kHole, 0);
  for (std::uint32_t i = 0; i < load32(hole.header() + format::header::kSectionCountAt); ++i) {
    std::uint8_t* p = hole.bytes.data() + format::header::kBytes + i * format::section::kBytes;
    const std::uint64_t offset = load64(p + format::section::kOffsetAt);
    if (offset >= begin) store64(p + format::section::kOffsetAt, offset + kHole);
  }
  store64(hole.header() + format::header::kFileBytesAt, hole.bytes.size());
  BOOST_TEST(refusal(hole) == "there are gaps between records and digests");
}

// All other readers of digests fail with the same reason; nothing is read under a guard.
BOOST_AUTO_TEST_CASE(DigestsOutOfPlaceAreNotUsed) {
  namespace at = format::section;
  Forge forge(signed_bundle());
  std::uint8_t* signatures = forge.section(SectionType::signatures);
  store64(signatures + at::kCountAt, 1);
  store64(signatures + at::kBytesAt, format::signature::kBytes);
  const Bundle bundle = open_bytes(forge.seal().bytes).value();
  const auto guard = std::make_shared<const TestGuard>();
  const std::string words = "the signatures are not the end of the file";
  BOOST_TEST(bundle.check_digests(*guard).message() == words);
  BOOST_TEST(bundle.identified_bytes().status().message() == words);
  BOOST_TEST(bundle.guarded_by(guard).status().message() == words);
  BOOST_TEST(with_signatures(view_of(forge.bytes), {}).status().message() == words);
  BOOST_TEST(guard->shown == 0U);

  Forge table_behind(signed_bundle());
  table_behind.add_section(77, 0, Bytes(64, 1));
  BOOST_TEST(refusal(table_behind) == "the digests do not lie between records and blobs");
}

BOOST_AUTO_TEST_CASE(ADamagedRecordHasNoDigestToCheck) {
  for (const SectionType type : {SectionType::targets, SectionType::index, SectionType::proofs}) {
    Forge forge(signed_bundle());
    forge.record(type, 1)[0] ^= 1;
    const Status status = open_bytes(forge.seal().bytes)->check_digests(TestGuard());
    BOOST_TEST(outcome(status) == "checksum");
    const std::string record = std::string(name(type)) + " record 1: ";
    BOOST_TEST(status.message() == record + "checksum mismatch");
  }
}

// In the bytes that are copied there are no digests any more.
BOOST_AUTO_TEST_CASE(ABundleThatLostItsDigestsIsNotGuarded) {
  Forge forge(signed_bundle());
  const Bundle bundle = open_bytes(forge.bytes).value();
  store32(forge.section(SectionType::digests) + format::section::kTypeAt, 77);
  store32(forge.section(SectionType::signatures) + format::section::kTypeAt, 78);
  forge.seal();
  const Status status = bundle.guarded_by(std::make_shared<const TestGuard>()).status();
  BOOST_TEST(outcome(status) == "malformed");
  BOOST_TEST(status.message() == "the bundle was changed while it was opened");
}

BOOST_AUTO_TEST_CASE(DamagedOrRepeatedSignaturesAreRefused) {
  namespace at = format::signature;
  const auto record = [](Forge& forge, std::size_t i) {
    return forge.bytes.data() + forge.section_offset(SectionType::signatures) + i * at::kBytes;
  };
  Forge damaged(signed_bundle());
  record(damaged, 1)[at::kReleaseAt] ^= 1;
  BOOST_TEST(refusal(damaged) == "signatures record 1: checksum mismatch");
  BOOST_TEST(everything(open_bytes(damaged.bytes).value()) == everything(open_bytes(small_bundle()).value()));

  Forge twice(signed_bundle());
  std::copy(record(twice, 0), record(twice, 1), record(twice, 1));
  seal_signature(twice, 1);
  BOOST_TEST(refusal(twice) == "signatures record 1: its key is there twice, or out of order");
  BOOST_TEST(outcome(open_bytes(twice.bytes)->verify()) == "malformed");

  Forge exchanged(signed_bundle());
  std::swap_ranges(record(exchanged, 0), record(exchanged, 1), record(exchanged, 1));
  seal_signature(exchanged, 0);
  seal_signature(exchanged, 1);
  BOOST_TEST(refusal(exchanged) == "signatures record 1: its key is there twice, or out of order");

  for (const std::size_t field : {at::kFlagsAt, at::kReservedAt, at::kReservedAt + 11}) {
    Forge newer(signed_bundle());
    record(newer, 0)[field] = 1;
    seal_signature(newer, 0);
    BOOST_TEST(refusal(newer) == "signatures record 0: asks for a feature that this reader lacks");
  }
}

BOOST_AUTO_TEST_CASE(ABundleOfNothing) {
  const Bundle nothing = Bundle::nothing().value();
  BOOST_TEST(nothing.variant_count() == 0U);
  BOOST_TEST(outcome(nothing.find_target(Target())) == "no target");
  BOOST_TEST(outcome(nothing.variant(0)) == "invalid argument");
  BOOST_TEST(!nothing.has_digests());
}
