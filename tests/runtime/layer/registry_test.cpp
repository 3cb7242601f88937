// Binaries that an application has loaded: its handle may be another program's later.
#include "serve/registry.hpp"

#include "down.hpp"

#include <boost/test/unit_test.hpp>

namespace clbake::opencl {

// The registry calls no driver.
const cl_icd_dispatch& functions() {
  static const cl_icd_dispatch none = {};
  return none;
}

}  // namespace clbake::opencl

using namespace clbake;
using namespace clbake::layer::serve;

namespace {

struct Given {
  Given() { registry.give(handle, std::make_shared<const std::vector<cache::Bytes>>(1, cache::Bytes{1, 2, 3})); }

  int place = 0;
  cl_program handle = reinterpret_cast<cl_program>(&place);
  Registry registry;
};

}  // namespace

BOOST_AUTO_TEST_CASE(GivenBinariesStayUntilTheLastRelease) {
  Given given;
  given.registry.retain(given.handle);
  given.registry.release(given.handle);
  BOOST_REQUIRE(given.registry.given(given.handle));
  BOOST_TEST(given.registry.given(given.handle)->front().size() == 3U);
  given.registry.release(given.handle);
  BOOST_TEST(!given.registry.given(given.handle));
}

BOOST_AUTO_TEST_CASE(AnotherProgramOfTheSameHandleHasNoGivenBinaries) {
  Given forgotten, added;
  forgotten.registry.forget(forgotten.handle);
  BOOST_TEST(!forgotten.registry.given(forgotten.handle));
  added.registry.add(std::make_shared<Program>(added.handle, nullptr, ProgramText()));
  BOOST_TEST(!added.registry.given(added.handle));
}
