// What bytes alone say serves a problem is what a library on this machine's first device does.
#include <clbake/builder/release/served.hpp>

#include "driver_main.hpp"
#include "files.hpp"
#include "release/synthetic_bundle.hpp"
#include "runtime/api/baked_bundle.hpp"

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;

namespace {

Bundle bundle_of(const cache::Bytes& bytes) { return required(Bundle::copy_of({bytes.data(), bytes.size()})); }

Library library_of(const Bundle& bundle, bool newer_driver = false) {
  Options options;
  options.newer_driver = newer_driver;
  return required(Library::create(here().session.context(), here().device.id, {bundle}, options));
}

void check_equal(const Served& served, const Result<Explanation>& explanation) {
  BOOST_REQUIRE(explanation.ok() == (served.program != nullptr));
  if (!served.program) {
    BOOST_TEST(name(served.failure.code()) == name(explanation.status().code()));
    return;
  }
  BOOST_TEST(served.program->name == explanation->variant);
  BOOST_TEST(name(served.program->origin) == name(explanation->origin));
  BOOST_TEST(name(served.program->miss.code()) == name(explanation->miss));
  BOOST_TEST(served.program->miss.message() == explanation->miss_message);
  BOOST_TEST((served.by == ChosenBy::model) == contains(explanation->reason, "the cost model of"));
  BOOST_TEST((served.by == ChosenBy::exception) == contains(explanation->reason, "measured on"));
  BOOST_TEST((served.by == ChosenBy::device_type) == contains(explanation->reason, "for this type of device"));
}

// Problems of all kinds, also of those that the bundle was not baked for.
std::vector<Problem> problems() {
  tests::SyntheticSettings settings;
  settings.kinds = 12;
  std::vector<Problem> all;
  for (const Shape& shape : tests::synthetic_shapes(settings, 120)) all.push_back(problem_of(shape));
  for (const std::size_t m : {1, 100, 3000}) {
    all.push_back(make_problem({Precision::single_precision, false, true}, m, 200, 30, Layout::column_major));
  }
  return all;
}

void check_agreement(const Bundle& bundle, bool newer_driver = false) {
  const Library library = library_of(bundle, newer_driver);
  Serving serving = required(Serving::create(bundle, served_device(here().device), newer_driver));
  for (const Problem& problem : problems()) check_equal(required(serving.find(problem)), library.explain(problem));
}

cache::Bytes changed(const std::function<void(cache::Contents&)>& change) {
  cache::Contents contents = contents_of(std::getenv("CLBAKE_TEST_BUNDLE"));
  change(contents);
  return encoded(contents);
}

}  // namespace

BOOST_AUTO_TEST_CASE(ABundleOfThisDevice) {
  check_agreement(bundle_of(changed([](cache::Contents&) {})));
}

BOOST_AUTO_TEST_CASE(ABundleOfAnotherDriver) {
  for (const bool newer_driver : {false, true}) {
    check_agreement(bundle_of(changed([](cache::Contents& contents) {
                      for (Target& target : contents.targets) target.driver_version += ".0";
                      for (cache::Entry& entry : contents.entries) entry.newer_driver = true;
                    })),
                    newer_driver);
  }
}

BOOST_AUTO_TEST_CASE(ABundleThatLacksEntriesProfilesAndDefaults) {
  check_agreement(bundle_of(changed([](cache::Contents& contents) {
    for (std::size_t i = 0; i < contents.entries.size(); i += 2) {
      contents.entries.erase(contents.entries.begin() + static_cast<std::ptrdiff_t>(i));
    }
  })));
  check_agreement(bundle_of(changed([](cache::Contents& contents) { contents.profiles.clear(); })));
  check_agreement(bundle_of(changed([](cache::Contents& contents) {
    for (cache::Profile& profile : contents.profiles) {
      profile.exceptions.clear();
      profile.models.clear();
      if (profile.defaults.size() > 1) profile.defaults.resize(1);
      profile.defaults.front().m_max = 100;
    }
  })));
}

BOOST_AUTO_TEST_CASE(ABundleOfOtherDevicesOnly) {
  tests::SyntheticSettings settings;
  settings.kinds = 8;
  check_agreement(bundle_of(encoded(tests::synthetic_bundle(settings))));
}

// The program of one problem is damaged: `prepare` finds that out, and compiles.
BOOST_AUTO_TEST_CASE(ADamagedProgram) {
  cache::Bytes bytes = changed_bundle([](cache::Contents&) {});  // chooses what compiles fastest
  const Problem problem = make_problem({}, 37, 41, 43);
  {
    const Bundle intact = bundle_of(bytes);
    Serving serving = required(Serving::create(intact, served_device(here().device)));
    const Served served = required(serving.find(problem));
    BOOST_REQUIRE(served.program);
    check_equal(served, required(library_of(intact).prepare(problem)).explanation());
    bytes[served.program->entry->program.offset + 20] ^= 1;
  }
  const Bundle damaged = bundle_of(bytes);
  Serving serving = required(Serving::create(damaged, served_device(here().device)));
  const Served served = required(serving.find(problem));
  BOOST_REQUIRE(served.program);
  BOOST_TEST(name(served.program->origin) == "source");
  BOOST_TEST(name(served.program->miss.code()) == name(Code::checksum));
  check_equal(served, required(library_of(damaged).prepare(problem)).explanation());
}
