// Which build of a library holds an address.
#include <clbake/os/libraries.hpp>

#include <boost/test/unit_test.hpp>

namespace clbake::os {
namespace {

void ours() {}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryAddressOfAModuleTellsItsBuild) {
  const std::string here = build_of_module(reinterpret_cast<const void*>(&ours));
  BOOST_TEST(here.size() == 16U, here);
  BOOST_TEST(here.find_first_not_of("0123456789abcdef") == here.npos, here);
  BOOST_TEST(build_of_module("a constant") == here);
  const Result<LibraryHandle> other = open_library(by_system("libm.so.6", "kernel32.dll"));
  BOOST_REQUIRE_MESSAGE(other.ok(), other.status().message());
  BOOST_TEST(build_of_module(symbol(*other, by_system("cos", "Sleep"))) != here);
}

BOOST_AUTO_TEST_CASE(AnAddressThatNoModuleHoldsHasNoBuild) {
  const int local = 0;
  BOOST_TEST(build_of_module(&local) == "");
}

}  // namespace clbake::os
