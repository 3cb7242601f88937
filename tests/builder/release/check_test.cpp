// The check that a bundle serves all of some problems.
#include <clbake/builder/release/check.hpp>

#include "files.hpp"
#include "release/synthetic_bundle.hpp"

#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {
namespace {

using namespace clbake::builder::release;
using namespace clbake::tests;

ServedProgram program_of(Origin origin, Code miss = Code::ok) {
  ServedProgram program;
  program.name = "tile";
  program.origin = origin;
  if (miss != Code::ok) program.miss = Status(miss, "the reason");
  return program;
}

Lack lack_with(const ServedProgram& program, const char* required) {
  Served served;
  served.program = &program;
  Requirements requirements;
  const std::string word = required;
  requirements.baked = word != "any";
  requirements.native = word == "native";
  requirements.proven = word == "proven";
  requirements.jit_free = word == "jit-free";
  requirements.tried = word == "tried";
  requirements.listed = word == "listed";
  return lack_of(served, requirements);
}

struct Checked {
  tests::SyntheticSettings settings;
  Bundle bundle;
  std::vector<Subject> subjects;
  std::vector<CheckedDevice> devices;
};

Checked checked_synthetic(std::size_t shapes) {
  tests::SyntheticSettings settings;
  settings.targets = 5;
  const cache::Contents contents = tests::synthetic_bundle(settings);
  const cache::Bytes bytes = encoded(contents);
  Bundle bundle = required(Bundle::copy_of({bytes.data(), bytes.size()}));
  std::vector<Subject> subjects = required(subjects_of(tests::synthetic_shapes(settings, shapes), {bundle}));
  std::vector<CheckedDevice> checked = required(check({bundle}, required(devices_of({bundle})), subjects, false));
  return {settings, bundle, subjects, std::move(checked)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheFirstRequirementThatIsNotMet) {
  const ServedProgram source = program_of(Origin::source, Code::no_entry);
  BOOST_TEST((lack_with(source, "any") == Lack::none));
  for (const char* required : {"baked", "native", "proven", "jit-free"}) {
    BOOST_TEST((lack_with(source, required) == Lack::program), required);
  }
  const ServedProgram portable = program_of(Origin::portable, Code::other_driver);
  BOOST_TEST((lack_with(portable, "baked") == Lack::none));
  BOOST_TEST((lack_with(portable, "native") == Lack::native_code));
  BOOST_TEST((lack_with(portable, "proven") == Lack::proof));
  ServedProgram native = program_of(Origin::native);
  BOOST_TEST((lack_with(native, "native") == Lack::none));
  BOOST_TEST((lack_with(native, "proven") == Lack::proof));
  native.proven = true;
  BOOST_TEST((lack_with(native, "proven") == Lack::none));
  BOOST_TEST((lack_with(native, "jit-free") == Lack::jit_freedom));
  native.jit_free = true;
  BOOST_TEST((lack_with(native, "jit-free") == Lack::none));
  BOOST_TEST((lack_with(native, "tried") == Lack::none));
  native.untried = {"rows"};
  BOOST_TEST((lack_with(native, "tried") == Lack::trial));
  native.entry = cache::EntryInfo();
  BOOST_TEST((lack_with(native, "listed") == Lack::none));
  native.entry->proof.note = "a remark; not listed: kernels a, b; another";
  BOOST_TEST((lack_with(native, "listed") == Lack::listing));
  Served served;
  served.program = &native;
  BOOST_TEST(why(served, Lack::listing) == "tile: the manifest does not list kernels a, b");
  BOOST_TEST(why(served, Lack::trial) == "tile: no trial launches kernel rows");
  BOOST_TEST((lack_of(Served(), Requirements()) == Lack::any_variant));
}

BOOST_AUTO_TEST_CASE(ReasonsNameTheVariantAndTheCause) {
  const ServedProgram source = program_of(Origin::source, Code::no_entry);
  Served served;
  served.program = &source;
  BOOST_TEST(why(served, Lack::program) == "tile was not baked for this target");
  BOOST_TEST((code_of(served) == Code::no_entry));
  const ServedProgram portable = program_of(Origin::portable, Code::other_driver);
  served.program = &portable;
  BOOST_TEST(why(served, Lack::native_code) == "tile is portable there: the reason");
  BOOST_TEST(why(served, Lack::none).empty());
  Served nothing;
  nothing.failure = Status(Code::no_variant, "nothing fits");
  BOOST_TEST(why(nothing, Lack::any_variant) == "nothing fits");
}

BOOST_AUTO_TEST_CASE(GroupsHoldEveryMissingPairOnce) {
  const Checked all = checked_synthetic(150);
  Requirements requirements;
  requirements.native = requirements.proven = requirements.jit_free = true;
  std::size_t missing = 0, grouped = 0;
  for (const CheckedDevice& device : all.devices) {
    BOOST_TEST(device.served.size() == all.subjects.size());
    for (const Served& served : device.served) missing += lack_of(served, requirements) != Lack::none ? 1 : 0;
  }
  const std::vector<MissingGroup> groups = group_missing(all.devices, all.subjects, requirements);
  BOOST_TEST(groups.size() > 2U);
  for (const MissingGroup& group : groups) {
    grouped += group.count;
    BOOST_TEST(!group.devices.empty());
    BOOST_TEST(!group.why.empty());
    for (std::size_t i = 0; i < group.subjects.size(); ++i) {
      BOOST_TEST(group.kinds.count(all.subjects[group.subjects[i]].kind) == 1U);
      if (i > 0) BOOST_TEST(all.subjects[group.subjects[i - 1]].weight >= all.subjects[group.subjects[i]].weight);
    }
  }
  BOOST_TEST(missing > 100U);
  BOOST_TEST(grouped == missing);
  requirements = {};
  requirements.baked = false;
  for (const MissingGroup& group : group_missing(all.devices, all.subjects, requirements)) {
    BOOST_TEST((group.lack == Lack::any_variant));
  }
}

BOOST_AUTO_TEST_CASE(DevicesOfSeveralBundlesAreEachNamedOnce) {
  const auto bundle_of = [](const cache::Contents& contents) {
    const cache::Bytes bytes = encoded(contents);
    return required(Bundle::copy_of({bytes.data(), bytes.size()}));
  };
  cache::Contents other = tests::synthetic_bundle({});
  const Bundle first = bundle_of(other);
  other.targets[0].driver_version = "other";
  const std::vector<ServedDevice> devices = required(devices_of({first, bundle_of(other)}));
  BOOST_REQUIRE(devices.size() == 4U);
  BOOST_TEST(contains(devices.back().name, "other"));
}

}  // namespace clbake::builder::test
