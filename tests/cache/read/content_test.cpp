// Programs are found by their content, whatever their names.
#include "forge.hpp"

#include <boost/test/unit_test.hpp>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;
using format::SectionType;

namespace {

ContentDigest content(std::uint8_t first, std::uint8_t last) {
  ContentDigest digest{};
  digest.front() = first;
  digest.back() = last;
  return digest;
}

Variant program(const char* name, const ContentDigest& digest) {
  Variant program;
  program.name = name;
  program.family = "program";
  program.precision = no_precision;
  program.contract = 1;
  program.launches = {{Role::kernel, "rows", {64, 1, 1}, 1, 1}};
  program.content = digest;
  return program;
}

// In the order of their names: a, b, c, direct-4 ...
Bytes with_programs() {
  Contents c = small_contents();
  c.variants.push_back(program("a", content(1, 1)));
  c.variants.push_back(program("b", content(1, 2)));  // the same keys
  c.variants.push_back(program("c", content(1, 1)));
  c.variants.push_back(program("d", {}));
  return encoded(c);
}

std::string found(const Bytes& bytes, const ContentDigest& digest) {
  const Bundle bundle = open_bytes(bytes).value();
  const auto all = bundle.find_content(digest);
  if (!all) return std::string(name(all.status().code()));
  std::string names;
  for (const std::uint32_t i : *all) names += bundle.variant(i)->name;
  return names;
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryProgramOfTheContentIsFound) { BOOST_TEST(found(with_programs(), content(1, 1)) == "ac"); }

BOOST_AUTO_TEST_CASE(EqualKeysAreNoEqualContent) { BOOST_TEST(found(with_programs(), content(1, 2)) == "b"); }

BOOST_AUTO_TEST_CASE(AnotherContentIsNoProgram) { BOOST_TEST(found(with_programs(), content(1, 3)) == "no program"); }

BOOST_AUTO_TEST_CASE(NoContentFindsNothing) { BOOST_TEST(found(with_programs(), {}) == "no program"); }

BOOST_AUTO_TEST_CASE(DamageHidesNoOtherProgram) {
  Forge forge(with_programs());
  forge.record(SectionType::variants, 0)[0] ^= 1;
  BOOST_TEST(found(forge.bytes, content(1, 1)) == "c");
}

BOOST_AUTO_TEST_CASE(DamageOfTheOnlyProgramIsReported) {
  Forge forge(with_programs());
  forge.record(SectionType::variants, 1)[0] ^= 1;
  BOOST_TEST(found(forge.bytes, content(1, 2)) == "checksum");
}

BOOST_AUTO_TEST_CASE(KeysThatAreNotThoseOfTheContentAreMalformed) {
  Forge forge(with_programs());
  forge.record(SectionType::variants, 1)[0] ^= 1;
  forge.seal_record(SectionType::variants, 1);
  forge.seal();
  BOOST_TEST(open_bytes(forge.bytes)->verify().message().find("variants record 1: its keys are not those") == 0U);
}
