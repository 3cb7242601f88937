// Writing for release: dictionaries, threads, cancelling.
#include "pack/dictionaries.hpp"
#include "samples.hpp"

#include <clbake/cache/pack.hpp>
#include <clbake/cache/writer.hpp>

#include <boost/test/unit_test.hpp>
#include <random>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;

namespace {

Bytes noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

std::vector<EntryInfo> entries_of(const Bundle& bundle) {
  std::vector<EntryInfo> entries;
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) entries.push_back(bundle.entry(i).value());
  return entries;
}

// Items that are all neighbours of each other.
std::vector<PackItem> items_of(const std::vector<Bytes>& programs) {
  std::vector<PackItem> items;
  for (std::uint32_t i = 0; i < programs.size(); ++i) {
    items.push_back({view_of(programs[i]), sketch_of(view_of(programs[i])), {}});
    for (std::uint32_t j = 0; j < programs.size(); ++j) {
      if (j != i) items.back().neighbours.push_back(j);
    }
  }
  return items;
}

}  // namespace

BOOST_AUTO_TEST_CASE(PackedContentsAreThoseThatWereGiven) {
  for (const Contents& contents : {small_contents(), similar_contents()}) {
    const Bytes bytes = pack(contents).value();
    const Bundle bundle = open_bytes(bytes).value();
    BOOST_TEST(bundle.verify().message() == "");
    const Contents expected = open_bytes(encoded(contents))->decode().value();
    BOOST_TEST(fingerprint(bundle.decode().value()) == fingerprint(expected));
  }
}

BOOST_AUTO_TEST_CASE(SimilarProgramsHaveOneOfThemAsDictionary) {
  const Bundle bundle = open_bytes(packed_bundle()).value();
  const std::vector<EntryInfo> entries = entries_of(bundle);
  unsigned alone = 0;
  for (const EntryInfo& entry : entries) {
    alone += entry.program.dictionary == 0 ? 1 : 0;
    if (entry.program.dictionary == 0) continue;
    const EntryInfo& dictionary = entries.at(entry.program.dictionary - 1);
    BOOST_TEST(dictionary.program.dictionary == 0U);
    BOOST_TEST(dictionary.variant == entry.variant);
    BOOST_TEST(entry.program.stored_bytes < 100U);
  }
  BOOST_TEST(alone == 3U);
  BOOST_TEST(packed_bundle().size() < encoded(similar_contents()).size() - 9 * 100);
}

BOOST_AUTO_TEST_CASE(ProgramsThatHaveNothingInCommonArePackedAlone) {
  Contents contents = similar_contents();
  for (std::size_t i = 0; i < contents.entries.size(); ++i) {
    contents.entries[i].program = noise(500, static_cast<unsigned>(i));
    contents.entries[i].program.resize(700);  // zstd makes it smaller
  }
  BOOST_TEST((pack(contents).value() == encoded(contents)));
}

BOOST_AUTO_TEST_CASE(NumberOfThreadsAndOrderDoNotMatter) {
  for (const unsigned threads : {1U, 2U, 7U, 40U}) {
    PackOptions options;
    options.threads = threads;
    BOOST_TEST((pack(shuffled(similar_contents(), threads), options).value() == packed_bundle()));
  }
}

BOOST_AUTO_TEST_CASE(EqualProgramsAreStoredOnceWithOneDictionary) {
  Contents contents = similar_contents();
  for (Entry& entry : contents.entries) {
    if (entry.variant == 1) entry.program = contents.entries[entry.target].program;  // that of variant 0
  }
  const Bytes bytes = pack(contents).value();
  const Bundle bundle = open_bytes(bytes).value();
  BOOST_TEST(bundle.verify().message() == "");
  for (std::uint32_t t = 0; t < 4; ++t) {
    const Blob first = bundle.find_entry(t, 0)->program, second = bundle.find_entry(t, 1)->program;
    BOOST_TEST(first.offset == second.offset);
    BOOST_TEST(first.dictionary == second.dictionary);
  }
}

BOOST_AUTO_TEST_CASE(CancelledPackingGivesNothing) {
  const std::atomic<bool> cancel{true};
  PackOptions options;
  options.cancel = &cancel;
  BOOST_TEST(outcome(pack(similar_contents(), options)) == "cancelled");
}

BOOST_AUTO_TEST_CASE(ProgressEndsWithAllPrograms) {
  std::vector<std::size_t> reports;
  PackOptions options;
  options.report = [&](std::size_t done, std::size_t all) {
    BOOST_TEST(all == 12U);
    reports.push_back(done);
  };
  BOOST_REQUIRE(pack(similar_contents(), options).ok());
  BOOST_TEST(std::is_sorted(reports.begin(), reports.end()));
  BOOST_TEST(reports.back() == 12U);
}

BOOST_AUTO_TEST_CASE(SketchesTellWhatProgramsShare) {
  const Bytes a = noise(40000, 1);
  Bytes half = a;
  const Bytes other = noise(40000, 2);
  std::copy(other.begin(), other.begin() + 20000, half.begin());
  const Sketch of_a = sketch_of(view_of(a)), of_half = sketch_of(view_of(half)), of_other = sketch_of(view_of(other));
  BOOST_TEST(shared_part(of_a, of_a) == kSketchHashes);
  BOOST_TEST(shared_part(of_a, of_other) == 0U);
  BOOST_TEST(shared_part(of_a, of_half) > kSketchHashes * 4 / 10);
  BOOST_TEST(shared_part(of_a, of_half) < kSketchHashes * 6 / 10);
  BOOST_TEST(sketch_of({a.data(), 7}).empty());
  BOOST_TEST(shared_part({}, {}) == 0U);
}

BOOST_AUTO_TEST_CASE(OnlyAProgramOfSimilarSizeAndContentIsADictionary) {
  const Bytes small = noise(1000, 1);
  Bytes large = noise(1251, 2);
  std::copy(small.begin(), small.end(), large.begin());
  // The larger one contains the smaller one, but is more than a quarter larger.
  BOOST_TEST((choose_dictionaries(items_of({small, large})) == std::vector<std::uint32_t>{kNoDictionary, 0}));
  const Bytes other = noise(1000, 3);
  BOOST_TEST(
      (choose_dictionaries(items_of({small, other})) == std::vector<std::uint32_t>{kNoDictionary, kNoDictionary}));
}

BOOST_AUTO_TEST_CASE(TheProgramThatMostOthersResembleIsTheDictionary) {
  std::vector<Bytes> programs(5, noise(4000, 1));  // each but the third has a part of its own
  for (unsigned i = 0; i < 5; ++i) {
    const Bytes own = noise(1000, 10 + i);
    if (i != 2) std::copy(own.begin(), own.end(), programs[i].begin() + 700 * i);
  }
  BOOST_TEST((choose_dictionaries(items_of(programs)) == std::vector<std::uint32_t>{2, 2, kNoDictionary, 2, 2}));
}
