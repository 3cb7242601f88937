// Results that differ from run to run of one program.
#include "prove/results.hpp"

#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {
using namespace program;
using namespace prove;
namespace {

TrialArgument four_of(const char* type) {
  TrialArgument argument;
  argument.element = element_type(type);
  argument.count = 4;
  argument.tolerance = argument.element.number->tolerance;
  return argument;
}

cache::Bytes content(const TrialArgument& argument, const std::vector<Number>& numbers) {
  TrialArgument stated = argument;
  stated.expected = numbers;
  return stated_content(stated);
}

// "right", "unknown", or what is wrong.
std::string compared(const char* type, const std::vector<Number>& found, const std::vector<std::vector<Number>>& runs) {
  const TrialArgument argument = four_of(type);
  std::vector<cache::Bytes> contents;
  for (const std::vector<Number>& run : runs) contents.push_back(content(argument, run));
  const std::optional<Comparison> made = compare_varying(argument, content(argument, found), contents);
  if (!made) return "unknown";
  return made->wrong.empty() ? "right" : made->wrong;
}

}  // namespace

BOOST_AUTO_TEST_CASE(AnotherOrderIsRightAndOtherElementsAreNot) {
  const std::vector<std::vector<Number>> runs = {{1, 2, 3, 4}, {2, 1, 3, 4}, {4, 2, 3, 1}};
  BOOST_TEST(compared("int", {4, 3, 2, 1}, runs) == "right");
  BOOST_TEST(compared("int", {4, 3, 2, 2}, runs) == "element 0: 2, expected 1 (tolerance 0)");
}

BOOST_AUTO_TEST_CASE(NumbersThatVaryLieBetweenThoseOfTheRuns) {
  const std::vector<std::vector<Number>> runs = {{1, 10, 5, 0}, {1, 20, 5, 0}};
  BOOST_TEST(compared("float", {1, 15, 5, 0}, runs) == "right");
  BOOST_TEST(compared("float", {1, 20.0001L, 5, 0}, runs) == "right");  // within the tolerance
  BOOST_TEST(compared("float", {1, 21, 5, 0}, runs) == "unknown");
  BOOST_TEST(compared("float", {2, 15, 5, 0}, runs) ==
             "element 0: 2, expected 1 (tolerance 1e-05, as in each of 2 runs)");
}

}  // namespace clbake::builder::test
