// Which build of a library holds an address.
#include <clbake/os/libraries.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdlib>

namespace clbake::os {
namespace {

template <typename Function>
std::string build_of(Function* function) {
  return build_of_module(reinterpret_cast<const void*>(function));
}

void ours() {}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryAddressOfAModuleTellsItsBuild) {
  const std::string here = build_of(&ours);
  BOOST_TEST(here.size() == 16U, here);
  BOOST_TEST(here.find_first_not_of("0123456789abcdef") == here.npos, here);
  BOOST_TEST(build_of_module("a constant") == here);
  BOOST_TEST(build_of(&std::getenv) != here);
}

BOOST_AUTO_TEST_CASE(AnAddressThatNoModuleHoldsHasNoBuild) {
  const int local = 0;
  BOOST_TEST(build_of_module(&local) == "");
}

}  // namespace clbake::os
