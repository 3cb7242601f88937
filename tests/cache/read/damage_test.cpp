// Damage by storage and transfer: always a typed error, never a wrong program.
#include "forge.hpp"

#include <boost/test/unit_test.hpp>
#include <random>
#include <set>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;
using format::SectionType;

namespace {

// Codes that reading bytes from memory may end with.
bool is_damage(const Status& status) {
  static const std::set<Code> codes = {Code::not_a_bundle, Code::truncated, Code::checksum, Code::unsupported_version,
                                       Code::malformed};
  return codes.count(status.code()) > 0;
}

// Looks up all entries of the original in damaged bytes; counts the answers that are neither right nor an error.
class Oracle {
 public:
  Oracle() : bundle_(open_bytes(small_bundle()).value()) {
    for (std::uint32_t i = 0; i < bundle_.entry_count(); ++i) {
      entries_.push_back(bundle_.entry(i).value());
      programs_.push_back(bundle_.program(entries_.back()).value());
    }
  }

  std::size_t wrong_answers(const Bundle& damaged) const {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Result<EntryInfo> info = damaged.entry(static_cast<std::uint32_t>(i));
      wrong += is_wrong(damaged, info, programs_[i]);
      if (i > 0 && entries_[i - 1].target == entries_[i].target && entries_[i - 1].variant == entries_[i].variant) {
        continue;  // the search prefers the one before
      }
      wrong += is_wrong(damaged, damaged.find_entry(entries_[i].target, entries_[i].variant), programs_[i]);
    }
    for (std::uint32_t t = 0; t < bundle_.target_count(); ++t) {
      const Result<std::uint32_t> found = damaged.find_target(*bundle_.target(t));
      wrong += found ? *found != t : !is_damage(found.status());
      wrong += outcome(damaged.find_entry(t, 1)) == "ok" && outcome(bundle_.find_entry(t, 1)) != "ok";
    }
    return wrong;
  }

 private:
  static bool is_wrong(const Bundle& damaged, const Result<EntryInfo>& info, const Bytes& program) {
    if (!info) return !is_damage(info.status());
    const Result<Bytes> bytes = damaged.program(*info);
    return bytes ? *bytes != program : !is_damage(bytes.status());
  }

  Bundle bundle_;
  std::vector<EntryInfo> entries_;
  std::vector<Bytes> programs_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(FileCutAtAnyLengthIsTruncated) {
  for (std::size_t size = 0; size < small_bundle().size(); ++size) {
    // Memory of exactly this size, so that a sanitizer sees a read past its end.
    const Bytes cut(small_bundle().begin(), small_bundle().begin() + static_cast<std::ptrdiff_t>(size));
    const Result<Bundle> bundle = open_bytes(cut);
    BOOST_REQUIRE_MESSAGE(outcome(bundle) == "truncated", "length " << size << ": " << bundle.status().message());
  }
  BOOST_TEST(outcome(Bundle::from_memory({})) == "truncated");
}

BOOST_AUTO_TEST_CASE(AnyFlippedBitIsFoundByVerifyAndNeverGivesAWrongProgram) {
  const Oracle oracle;
  Bytes bytes = small_bundle();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto mask = static_cast<std::uint8_t>(1U << bit % 8);
    bytes[bit / 8] ^= mask;
    const Result<Bundle> bundle = open_bytes(bytes);
    const Status status = bundle ? bundle->verify() : bundle.status();
    BOOST_REQUIRE_MESSAGE(is_damage(status), "bit " << bit << ": " << outcome(status));
    BOOST_REQUIRE_MESSAGE(!bundle || oracle.wrong_answers(*bundle) == 0, "bit " << bit << ": wrong answer");
    bytes[bit / 8] ^= mask;
  }
  BOOST_TEST(oracle.wrong_answers(open_bytes(bytes).value()) == 0U);
}

BOOST_AUTO_TEST_CASE(HeaderDamageIsReportedAsSpecified) {
  const auto with = [](std::size_t at, std::uint8_t value) {
    Bytes bytes = small_bundle();
    bytes[at] = value;
    return outcome(open_bytes(bytes));
  };
  BOOST_TEST(with(0, 0x0B) == "not a bundle");  // bit 7 lost
  BOOST_TEST(with(8, 2) == "checksum");         // the major version: damage, not a newer bundle
  BOOST_TEST(with(12, 0) == "checksum");
  BOOST_TEST(with(16, 0) == "checksum");
  BOOST_TEST(with(128, 9) == "checksum");  // the section table
  Bytes longer = small_bundle();
  longer.push_back(0);
  BOOST_TEST(outcome(open_bytes(longer)) == "malformed");
}

// Each of the two is intact by itself.
BOOST_AUTO_TEST_CASE(SwappedRecordsAreDamage) {
  Forge forge;
  std::swap_ranges(forge.record(SectionType::index, 0), forge.record(SectionType::index, 1),
                   forge.record(SectionType::index, 1));
  const Bundle damaged = open_bytes(forge.bytes).value();
  BOOST_TEST(damaged.entry(0).status().message() == "index record 0: checksum mismatch");
  BOOST_TEST(outcome(damaged.entry(1)) == "checksum");
  BOOST_TEST(outcome(damaged.entry(2)) == "ok");
}

BOOST_AUTO_TEST_CASE(DamagedIndexNeverHidesAnEntryAndNeverInventsOne) {
  Contents c = small_contents();
  c.variants.assign(300, c.variants[0]);
  c.entries.clear();
  for (Profile& profile : c.profiles) profile = {profile.target, 1, {}, {}, {}};
  for (std::uint32_t v = 0; v < 300; ++v) {
    c.variants[v].name += std::to_string(v);
    for (std::uint32_t t = 0; t < 3; ++t) {
      if ((v * 7 + t) % 5 < 3)
        c.entries.push_back({t, v, v % 3 == 0 ? Form::portable : Form::native, Proof(), Bytes(2, 1)});
    }
  }
  Bytes bytes = encoded(c);
  const Bytes original = bytes;
  const Bundle intact = open_bytes(original).value();
  const Bundle damaged = open_bytes(bytes).value();
  const std::size_t index = 512 + 64 * std::size_t{3 + 2 + 300 + 2};
  std::mt19937 random(2);
  std::size_t wrong = 0, found = 0;
  for (int round = 0; round < 200; ++round) {
    // The keys: a search compares them before it verifies anything.
    const std::size_t record = index + 64 * (random() % intact.entry_count());
    for (std::size_t i = 0; i < 12; ++i) bytes[record + i] = static_cast<std::uint8_t>(random() % 3);
    for (std::uint32_t key = 0; key < 900; ++key) {
      const std::string expected = outcome(intact.find_entry(key / 300, key % 300));
      const std::string answer = outcome(damaged.find_entry(key / 300, key % 300));
      wrong += answer != expected && answer != "checksum";
      found += answer == "ok";
    }
    bytes = original;
  }
  BOOST_TEST(wrong == 0U);
  BOOST_TEST(found > 100000U * intact.entry_count() / 900);
}

// With none of the records intact, no search can say that there is no portable entry.
BOOST_AUTO_TEST_CASE(ADamagedIndexIsNoMissingPortableEntry) {
  Bytes bytes = small_bundle();
  const Bundle bundle = open_bytes(bytes).value();
  const EntryInfo entry = bundle.entry(0).value();
  BOOST_TEST(outcome(bundle.find_entry(entry.target, entry.variant, entry.form)) == "ok");
  const Section index = read_layout(view_of(bytes))->layout.by_type[static_cast<std::size_t>(SectionType::index)];
  for (std::uint32_t i = 0; i < index.count; ++i) bytes[index.offset + i * format::kRecordBytes + 12] ^= 1;
  for (const Form form : {Form::native, Form::portable}) {
    BOOST_TEST(outcome(bundle.find_entry(entry.target, entry.variant, form)) == "checksum");
  }
}
