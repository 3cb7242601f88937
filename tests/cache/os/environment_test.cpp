#include <clbake/os/environment.hpp>
#include <clbake/os/libraries.hpp>

#include <boost/test/unit_test.hpp>

namespace clbake::os::test {
namespace {

const std::string kName = "CLBAKE_TEST_OF_VARIABLES";

BOOST_AUTO_TEST_CASE(AVariableIsSetReadAndRemoved) {
  BOOST_TEST(!variable(kName).has_value());
  for (const std::string& value : {std::string("a b"), std::string("\xC3\xBC\xE2\x82\xAC"), std::string(5000, 'x')}) {
    BOOST_REQUIRE(set_variable(kName, value));
    BOOST_TEST(variable(kName).value_or("none") == value);
    BOOST_TEST(trusted_variable(kName).value_or("none") == value);
    BOOST_TEST(variables()[kName] == value);
  }
  BOOST_REQUIRE(set_variable(kName, ""));
  BOOST_TEST(variable(kName).value_or("none") == "");
  BOOST_TEST(unset_variable(kName));
  BOOST_TEST(unset_variable(kName));
  BOOST_TEST(!variable(kName).has_value());
  BOOST_TEST(variables().count(kName) == 0U);
}

BOOST_AUTO_TEST_CASE(NamesThatCannotBeAreRefused) {
  BOOST_TEST(!set_variable("", "x"));
  BOOST_TEST(!set_variable("A=B", "x"));
  BOOST_TEST(!unset_variable("A=B"));
}

BOOST_AUTO_TEST_CASE(TheProgramKnowsWhereItIs) {
  const std::string program = path_of_program();
  BOOST_TEST(program.find("/os_test") != program.npos, program);
  BOOST_TEST(path_of_module(reinterpret_cast<const void*>(&path_of_program)) == program);
  static const int here = 0;
  BOOST_TEST(path_of_module(&here) == program);
  const int nowhere = 0;
  BOOST_TEST(path_of_module(&nowhere) == "");
}

BOOST_AUTO_TEST_CASE(ALibraryThatIsNotThereIsNotFound) {
  const Status status = open_library("no-such-library-anywhere").status();
  BOOST_TEST((status.code() == Code::not_found));
  BOOST_TEST(status.message().find("no-such-library-anywhere") != std::string::npos, status.message());
}

}  // namespace
}  // namespace clbake::os::test
