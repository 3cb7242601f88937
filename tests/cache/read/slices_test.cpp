// The index of slices: how it is written, read and refused; and slices by their digests.
#include "forge.hpp"

#include <clbake/cache/blake2b.hpp>
#include <clbake/cache/pack.hpp>
#include <clbake/cache/slices.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;
using format::SectionType;
namespace field = format::slices;

namespace {

Slice slice(std::uint8_t digest, std::uint32_t target, std::uint32_t kinds, std::uint32_t set = 0) {
  Slice made;
  made.digest.fill(digest);
  made.bytes = 1000U + digest;
  made.target = target;
  made.kinds = kinds;
  if (target != kNoTarget && kinds != kOwnPrograms) made.forms = kNativeForm;  // of its first kind
  made.set = set;
  return made;
}

std::vector<Target> targets() { return small_contents().targets; }

// Three targets with a slice of single precision each, one with programs, and the source of all programs.
SliceTable table() {
  SliceTable all;
  all.release = 7;
  all.slices = {slice(1, 0, 0xF), slice(2, 1, 0xF), slice(3, 2, 0xF), slice(4, 1, kOwnPrograms, 0),
                slice(5, kNoTarget, kOwnPrograms, 1)};
  for (std::uint64_t i = 0; i < 9; ++i) all.programs.push_back({100 - i, i});
  all.sets = {{0x00, 0x0B, 0x00, 0x00, 0x00}, {0x88, 0x88, 0x88, 0x88, 0x08}};
  return all;
}

Bytes written(const SliceTable& from = table()) { return pack_index(targets(), from).value(); }

// A line for each slice: what a reader learns of it.
std::string text_of(const Bundle& index) {
  const SliceTable read = index.slices().value();
  std::vector<std::string> lines;
  for (const Slice& s : read.slices) {
    std::string line = std::to_string(s.digest[31]) + " " + std::to_string(s.bytes) + " " + std::to_string(s.kinds);
    line += ":" + std::to_string(s.forms);
    line += " " + (s.target == kNoTarget ? "any" : index.target(s.target)->driver_version);
    for (std::size_t p = 0; p < read.programs.size(); ++p) {
      const std::uint32_t forms = read.forms(s, p);
      if (forms != 0) line += " " + std::to_string(read.programs[p].content) + ":" + std::to_string(forms);
    }
    lines.push_back(line + "\n");
  }
  std::sort(lines.begin(), lines.end());
  std::string text = "release " + std::to_string(read.release) + "\n";
  for (const std::string& line : lines) text += line;
  return text;
}

std::uint8_t* section(Forge& forge) { return forge.bytes.data() + forge.section_offset(SectionType::slices); }

}  // namespace

BOOST_AUTO_TEST_CASE(AnIndexNamesWhatItWasGiven) {
  const Bytes bytes = written();
  const Bundle index = open_bytes(bytes).value();
  BOOST_TEST(index.is_index());
  BOOST_TEST(index.verify().message() == "");
  BOOST_TEST(index.has_digests());
  BOOST_TEST(index.entry_count() == 0U);
  std::string expected = "release 7\n";
  expected += "1 1001 15:1 " + targets()[0].driver_version + "\n2 1002 15:1 " + targets()[1].driver_version + "\n";
  expected +=
      "3 1003 15:1 " + targets()[2].driver_version + "\n4 1004 262144:0 " + targets()[1].driver_version + " 2:11\n";
  expected += "5 1005 262144:0 any 8:8 7:8 6:8 5:8 4:8 3:8 2:8 1:8 0:8\n";
  BOOST_TEST(text_of(index) == expected);
  BOOST_TEST(!open_bytes(small_bundle())->is_index());
  BOOST_TEST(outcome(open_bytes(small_bundle())->slices()) == "not a bundle");
}

// A hundred drivers, each with a slice of products and one of a hundred programs.
BOOST_AUTO_TEST_CASE(AnIndexOfTenThousandEntriesIsSmall) {
  std::vector<Target> drivers(100, targets()[0]);
  SliceTable all;
  for (std::uint32_t t = 0; t < 100; ++t) {
    drivers[t].driver_version = "535." + std::to_string(t);
    const auto digest = static_cast<std::uint8_t>(t);
    all.slices.push_back(slice(digest, t, 0xFFFF));
    all.slices.push_back(slice(digest, t, kOwnPrograms, t));
    all.programs.push_back({t, t});
  }
  all.sets.assign(100, Bytes(50, 0x99));
  const Result<Bytes> bytes = pack_index(drivers, all);
  BOOST_TEST(bytes.status().message() == "");
  BOOST_TEST(bytes->size() <= 64U * 1024);
}

BOOST_AUTO_TEST_CASE(EqualTablesGiveEqualBytesInAnyOrder) {
  SliceTable other = table();
  std::reverse(other.slices.begin(), other.slices.end());
  BOOST_TEST((written(other) == written()));
  std::vector<Target> reversed = targets();
  std::reverse(reversed.begin(), reversed.end());
  other = table();
  for (Slice& s : other.slices) s.target = s.target == kNoTarget ? kNoTarget : 2 - s.target;
  BOOST_TEST((pack_index(reversed, other).value() == written()));
  other.release = 8;
  BOOST_TEST((pack_index(reversed, other).value() != written()));
}

BOOST_AUTO_TEST_CASE(AGuardSeesTheSlicesThatWereSigned) {
  const Bytes bytes = written();
  const Bundle index = open_bytes(bytes).value();
  // The identity covers the section: with another release it is another one.
  SliceTable other = table();
  other.release = 8;
  const Bytes newer = written(other);
  BOOST_TEST((*index.identified_bytes() != *open_bytes(newer)->identified_bytes()));
  // A guarded index reads its own copy.
  Bytes changing = bytes;
  const Bundle guarded =
      Bundle::from_memory(view_of(changing))->guarded_by(std::make_shared<const TestGuard>()).value();
  std::fill(changing.begin(), changing.end(), std::uint8_t{0});
  BOOST_TEST(guarded.slices()->release == 7U);
}

BOOST_AUTO_TEST_CASE(TablesAgainstTheRulesAreNotWritten) {
  const std::pair<const char*, std::function<void(SliceTable&)>> cases[] = {
      {"same kind", [](SliceTable& t) { t.slices[3] = slice(9, 1, 0x13); }},  // two drivers would share a key
      {"out of order", [](SliceTable& t) { t.slices[1] = t.slices[0]; }},
      {"target that does not exist", [](SliceTable& t) { t.slices[0].target = 3; }},
      {"serves nothing", [](SliceTable& t) { t.slices[0].kinds = 0; }},
      {"no bytes", [](SliceTable& t) { t.slices[0].bytes = 0; }},
      {"impossible size", [](SliceTable& t) { t.slices[0].bytes = (std::uint64_t{1} << 40) + 1; }},
      {"does not know", [](SliceTable& t) { t.slices[0].kinds = 1U << 20; }},
      {"does not know", [](SliceTable& t) { t.slices[0].forms = std::uint64_t{1} << 60; }},
      {"cannot have", [](SliceTable& t) { t.slices[0].forms = kNewerDriverForm; }},  // without native
      {"cannot have", [](SliceTable& t) { t.slices[0].forms |= std::uint64_t{1} << forms_shift(16); }},  // not served
      {"cannot have", [](SliceTable& t) { t.sets[0][0] = kNativeForm; }},     // of no program
      {"cannot have", [](SliceTable& t) { t.sets[1][0] |= kPortableForm; }},  // without a target
      {"programs out of order", [](SliceTable& t) { t.programs[1] = t.programs[0]; }}};
  for (const auto& [why, change] : cases) {
    SliceTable wrong = table();
    change(wrong);
    const Result<Bytes> bytes = pack_index(targets(), wrong);
    BOOST_TEST(outcome(bytes) == "invalid argument", why);
    BOOST_TEST(bytes.status().message().find(why) != std::string::npos, bytes.status().message());
  }
}

BOOST_AUTO_TEST_CASE(ForgedIndexesAreRefused) {
  const std::size_t programs = field::kHeaderBytes + 5 * field::kSliceBytes;
  const std::tuple<const char*, const char*, std::function<void(std::uint8_t*)>> cases[] = {
      {"malformed", "end inside", [](auto* p) { store32(p + field::kCountAt, 0xFFFFFFFF); }},
      {"malformed", "size", [](auto* p) { store32(p + field::kProgramsAt, 8); }},
      {"malformed", "end inside", [](auto* p) { store32(p + field::kProgramsAt, 0xFFFFFFFF); }},
      {"malformed", "order", [](auto* p) { store32(p + 16 + field::kTargetAt, 2); }},
      {"malformed", "target", [](auto* p) { store32(p + 16 + 4 * field::kSliceBytes + field::kTargetAt, 3); }},
      {"unsupported version", "know", [](auto* p) { store64(p + 16 + field::kFormsAt, ~std::uint64_t{0}); }},
      {"malformed", "order", [=](auto* p) { store64(p + programs, 1000); }},
      {"malformed", "program", [=](auto* p) { p[programs + 9 * field::kProgramBytes + 4] |= 0x80; }}};
  for (const auto& [code, why, change] : cases) {
    Forge forge(written());
    change(section(forge));
    forge.seal();
    const Bundle index = open_bytes(forge.bytes).value();
    BOOST_TEST(outcome(index.slices()) == code, why);
    BOOST_TEST(index.slices().status().message().find(why) != std::string::npos, index.slices().status().message());
    BOOST_TEST(outcome(index.verify()) == code);
  }
  Forge damaged(written());
  section(damaged)[20] ^= 1;
  BOOST_TEST(outcome(open_bytes(damaged.bytes)->slices()) == "checksum");
}

BOOST_AUTO_TEST_CASE(ATruncatedOrDamagedIndexIsNoOtherIndex) {
  const Bytes whole = written();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    const Result<Bundle> index = open_bytes(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    BOOST_TEST(outcome(index) == "truncated");
  }
  const std::string text = text_of(open_bytes(whole).value());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes damaged = whole;
    damaged[at] ^= 0x10U;
    const Result<Bundle> index = open_bytes(damaged);
    if (!index || !index->verify() || !index->slices()) continue;
    BOOST_TEST(text_of(*index) == text, "byte " << at);
    BOOST_TEST(false, "a full verification misses byte " << at);
  }
}

BOOST_AUTO_TEST_CASE(ASliceIsTheBytesOfItsDigest) {
  const ContentDigest digest = blake2b_256(view_of(small_bundle()));
  const Bundle bundle = open_bytes(small_bundle()).value();
  BOOST_TEST(bundle.of_digest(digest).status().message() == "");
  BOOST_TEST(bundle.of_digest(digest)->voucher() == nullptr);
  ContentDigest other = digest;
  other[31] ^= 1U;
  BOOST_TEST(outcome(bundle.of_digest(other)) == "checksum");
  // With a voucher nobody who changes the caller's bytes changes what is read.
  Bytes changing = small_bundle();
  const auto voucher = std::make_shared<const int>(1);
  const Bundle vouched = Bundle::from_memory(view_of(changing))->of_digest(digest, voucher).value();
  std::fill(changing.begin(), changing.end(), std::uint8_t{0});
  BOOST_TEST(vouched.verify().message() == "");
  BOOST_TEST(vouched.voucher() == voucher.get());
}
