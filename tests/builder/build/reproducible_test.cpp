// Two builds of the same, in different directories, one after the other, by a worker whose times are never the same.
#include "build_fixture.hpp"

#include <clbake/cache/reader.hpp>

#include <boost/test/unit_test.hpp>
#include <sstream>

namespace clbake::builder::test {
namespace {

struct VaryingTimes : BuildFixture {
  explicit VaryingTimes(bool reproducible) {
    options.reproducible = reproducible;
    misbehave("prove:varying:");
  }
};

std::string bundle_of(bool reproducible, unsigned parallel) {
  VaryingTimes fixture(reproducible);
  fixture.options.parallel = parallel;
  required(fixture.build());
  return read_file(fixture.options.output);
}

// Opens a bundle that `bytes` holds.
cache::Bundle open(const std::string& bytes) {
  return cache::Bundle::from_memory({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}).value();
}

// The index, as text: where each program lies, and its checksums.
std::string index_of(const std::string& bytes) {
  const cache::Bundle bundle = open(bytes);
  std::ostringstream text;
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    const cache::EntryInfo entry = bundle.entry(i).value();
    const cache::Blob& program = entry.program;
    text << entry.target << ' ' << entry.variant << ' ' << static_cast<int>(entry.form) << " at " << program.offset
         << ": " << program.stored_bytes << ' ' << program.raw_bytes << ' ' << program.stored_checksum << ' '
         << program.raw_checksum << ' ' << program.method << ' ' << program.dictionary << '\n';
  }
  return text.str();
}

}  // namespace

BOOST_AUTO_TEST_CASE(ReproducibleBuildsAreEqual) {
  const std::string first = bundle_of(true, 1);
  BOOST_TEST((first == bundle_of(true, 3)));
  const cache::Bundle bundle = open(first);
  BOOST_TEST(bundle.verify().message() == "");
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    const cache::Proof proof = bundle.entry(i)->proof;
    BOOST_TEST(proof.proven);
    BOOST_TEST(proof.jit_free);
    BOOST_TEST(proof.first_us == 0.0F);
    BOOST_TEST(proof.steady_us == 0.0F);
    BOOST_TEST(proof.note == "");
    BOOST_TEST(proof.device == "Device A");
  }
}

BOOST_AUTO_TEST_CASE(WhatIsMeasuredLiesApartFromWhatIsBaked) {
  const std::string first = bundle_of(false, 1), second = bundle_of(false, 2);
  BOOST_TEST((first != second));
  BOOST_TEST(open(first).entry(0)->proof.steady_us != open(second).entry(0)->proof.steady_us);
  BOOST_TEST(index_of(first) == index_of(second));
  BOOST_TEST(index_of(first) == index_of(bundle_of(true, 1)));
}

}  // namespace clbake::builder::test
