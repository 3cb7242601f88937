// CLBAKE_CLBLAST_LIBRARY names a file that is not there: what clbake does not serve is not served, and the log says so.
#include "clblast/door_scene.hpp"
#include "clblast/fake_clblast.hpp"

#include <clbake/os/environment.hpp>
#include <clbake/os/libraries.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace clbake::tests;
using clblast::Layout;
using clblast::StatusCode;
using clblast::Transpose;

namespace {

// By which CLBlast is asked.
const std::string kFirstName = clbake::os::by_system("_ZN7clblast4GemmIf", "CLBlastSgemm");

std::string logged() {
  std::ifstream file(std::getenv("CLBAKE_CLBLAST_LOG"));
  return {std::istreambuf_iterator<char>(file), {}};
}

StatusCode product_into_its_own_operand() {
  const Buffers on(1, 1, 1);
  cl_command_queue q = queue();
  return clblast::Gemm<float>(Layout::kRowMajor, Transpose::kNo, Transpose::kNo, 1, 1, 1, 1, on.a, 0, 1, on.b, 0, 1, 0,
                              on.a, 0, 1, &q);
}

}  // namespace

BOOST_AUTO_TEST_CASE(AProductIntoItsOwnOperandIsNotImplemented) {
  BOOST_TEST((product_into_its_own_operand() == StatusCode::kNotImplemented));
  BOOST_TEST((clblast::ClearCache() == StatusCode::kSuccess));
  const std::string log = logged();
  BOOST_TEST((log.find("CLBlast: /missing/libclblast.so: ") != std::string::npos), log);
  BOOST_TEST((log.find("CLBlast: none that has " + kFirstName) != std::string::npos), log);
}

// As a plug-in's, which only the plug-in sees.
BOOST_AUTO_TEST_CASE(TheCacheOfAClblastOpenedByAnotherIsClearedAndFilled) {
  const char* const fake = std::getenv("FAKE_CLBLAST");
  BOOST_TEST(clbake::os::set_variable("CLBAKE_CLBLAST_LIBRARY", fake));
  BOOST_TEST((clblast::ClearCache() == StatusCode::kSuccess));  // opens nothing
  BOOST_REQUIRE(clbake::os::open_library(fake).ok());
  BOOST_TEST((clblast::ClearCache() == kServedByClblast));
  BOOST_TEST((clblast::FillCache(device().id) == kServedByClblast));
}

int main(int argc, char** argv) {
  device();  // skips without one
  std::filesystem::remove(std::getenv("CLBAKE_CLBLAST_LOG"));
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
