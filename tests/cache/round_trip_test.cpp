// A bundle that is read equals the one that was written, whatever the order, the alignment and the size.
#include "samples.hpp"

#include <clbake/cache/writer.hpp>

#include <boost/test/unit_test.hpp>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;

BOOST_AUTO_TEST_CASE(SmallBundleGivesBackWhatWasWritten) {
  const Result<Bundle> bundle = open_bytes(small_bundle());
  BOOST_REQUIRE_EQUAL(bundle.status().message(), "");
  BOOST_TEST(bundle->verify().message() == "");
  const Result<Contents> contents = bundle->decode();
  BOOST_REQUIRE_EQUAL(contents.status().message(), "");
  // Targets are sorted by their hashes in the file; a second encoding sorts both sides.
  const Bytes again = encoded(*contents);
  BOOST_TEST((again == small_bundle()));
  Contents expected = small_contents();
  std::vector<std::uint32_t> rank;
  for (const Target& target : expected.targets) rank.push_back(bundle->find_target(target).value());
  for (std::uint32_t i = 0; i < rank.size(); ++i) BOOST_TEST((contents->targets[rank[i]] == expected.targets[i]));
  for (const Entry& entry : expected.entries) {
    const Result<EntryInfo> info = bundle->find_entry(rank[entry.target], entry.variant);
    BOOST_REQUIRE(info.ok());
    if (info->form != entry.form) continue;
    BOOST_TEST((bundle->program(*info).value() == entry.program));
    BOOST_TEST(info->proof.note == entry.proof.note);
    BOOST_TEST(info->proof.jit_free == entry.proof.jit_free);
  }
}

BOOST_AUTO_TEST_CASE(EmptyContentsMakeAValidBundle) {
  const Bytes bytes = encoded({});
  const Result<Bundle> bundle = open_bytes(bytes);
  BOOST_REQUIRE(bundle.ok());
  BOOST_TEST(bundle->verify().ok());
  BOOST_TEST(bundle->entry_count() == 0U);
  BOOST_TEST(outcome(bundle->find_target({})) == "no target");
  BOOST_TEST(outcome(bundle->find_entry(0, 0)) == "no entry");
  BOOST_TEST(outcome(bundle->find_profile(0)) == "no variant");
}

BOOST_AUTO_TEST_CASE(AnyOrderOfTheInputGivesTheSameBytes) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    BOOST_TEST((encoded(shuffled(small_contents(), seed)) == small_bundle()));
  }
}

BOOST_AUTO_TEST_CASE(RepeatedInputsAreStoredOnce) {
  Contents c = small_contents();
  c.targets.push_back(c.targets[0]);
  c.sources.push_back(c.sources[0]);
  c.variants.push_back(c.variants[1]);
  c.variants.back().source = 2;
  c.entries[0].target = 3;
  c.entries.back().variant = 3;
  BOOST_TEST((encoded(c) == small_bundle()));
}

BOOST_AUTO_TEST_CASE(CompressibleProgramShrinksAndRandomOneIsStored) {
  Contents c = small_contents();
  c.entries[0].program.assign(100000, 7);
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < c.entries[2].program.size(); ++i) {
    c.entries[2].program[i] = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  }
  const Bytes bytes = encoded(c);
  const Bundle bundle = open_bytes(bytes).value();
  const std::uint32_t target = bundle.find_target(c.targets[0]).value();
  const EntryInfo large = bundle.find_entry(target, 0).value();
  BOOST_TEST(large.program.method == 1U);
  BOOST_TEST(large.program.stored_bytes < 1000U);
  BOOST_TEST((bundle.program(large).value() == c.entries[0].program));
  const EntryInfo random = bundle.find_entry(target, 2).value();
  BOOST_TEST(random.program.method == 0U);
  BOOST_TEST((bundle.program(random).value() == c.entries[2].program));
}

BOOST_AUTO_TEST_CASE(BundleIsReadAtAnyAlignment) {
  for (std::size_t shift = 0; shift < 16; ++shift) {
    Bytes moved(shift, 0xEE);
    moved.insert(moved.end(), small_bundle().begin(), small_bundle().end());
    const Result<Bundle> bundle = Bundle::from_memory({moved.data() + shift, moved.size() - shift});
    BOOST_REQUIRE(bundle.ok());
    BOOST_TEST(bundle->verify().ok());
    BOOST_TEST((encoded(bundle->decode().value()) == small_bundle()));
  }
}

BOOST_AUTO_TEST_CASE(ACopyOutlivesWhatItWasMadeOf) {
  Bytes bytes = small_bundle();
  const Result<Bundle> bundle = Bundle::copy_of(view_of(bytes));
  std::fill(bytes.begin(), bytes.end(), std::uint8_t{0xEE});
  BOOST_REQUIRE(bundle.ok());
  BOOST_TEST(bundle->verify().ok());
  BOOST_TEST((encoded(bundle->decode().value()) == small_bundle()));
}

// A size that an unchecked read() leaves behind.
BOOST_AUTO_TEST_CASE(ACopyOfMoreThanThereIsMemoryFails) {
  BOOST_TEST(name(Bundle::copy_of({small_bundle().data(), SIZE_MAX}).status().code()) == name(Code::out_of_memory));
}

BOOST_AUTO_TEST_CASE(NoBytesAreNoBundle) {
  for (const ByteView nothing : {ByteView{}, ByteView{nullptr, 100}}) {
    BOOST_TEST(!Bundle::from_memory(nothing).ok());
    BOOST_TEST(!Bundle::copy_of(nothing).ok());
  }
}

BOOST_AUTO_TEST_CASE(ProgramsOfApplicationsKeepWhatBelongsToThem) {
  const Contents c = program_contents();
  const Bytes bytes = encoded(c);
  const Bundle bundle = open_bytes(bytes).value();
  BOOST_TEST(bundle.verify().message() == "");
  const Variant linked = bundle.variant(0).value(), named = bundle.variant(1).value();  // by name
  BOOST_TEST((named.is_program() && named.content == c.variants[0].content));
  BOOST_TEST(bundle.source(named.trial - 1).value().text == "[]");
  BOOST_TEST((linked.parts == c.variants[1].parts && linked.launches.empty()));
  BOOST_TEST(bundle.entry(0)->proof.log == "a warning");
  BOOST_TEST((encoded(bundle.decode().value()) == bytes));
}

// A trial says how a program is tried, not which program it is.
BOOST_AUTO_TEST_CASE(ContentIdentifiesAProgramAndItsTrialDoesNot) {
  const Contents c = program_contents();
  Variant other = c.variants[0];
  other.trial = 0;
  BOOST_TEST((identifying_bytes(other, c.sources[0]) == identifying_bytes(c.variants[0], c.sources[0])));
  other.content[31] ^= 1;
  BOOST_TEST((identifying_bytes(other, c.sources[0]) != identifying_bytes(c.variants[0], c.sources[0])));
}
