// The examples of clbake.hpp, clbake.h and the README, compiled as users copy them (examples.sh) and run with this
// machine's bundle.
#include "api/baked_bundle.hpp"
#include "driver_main.hpp"
#include "readme_example.hpp"

#include <clbake/clbake.h>
#include <clbake/builder/devices.hpp>

clbake::Status header_example(cl_context context, cl_device_id device, cl_command_queue queue, cl_mem a, cl_mem b,
                              cl_mem c);
extern "C" clbake_code c_header_example(cl_context context, cl_device_id device, cl_command_queue queue, cl_mem a,
                                        cl_mem b, cl_mem c);

using namespace clbake;
using namespace clbake::tests;

namespace {

// The example multiplies two matrices of 512 x 512.
template <typename Example>
void check_example(const Example& example) {
  using namespace clbake::builder;
  const Result<GemmRun> run =
      GemmRun::create(here().session, here().device, tight_problem(Precision::single_precision, 512, 512, 512));
  BOOST_REQUIRE(run.ok());
  const auto [a, b, c] = run->buffers();
  example(here().session.context(), here().device.id, here().session.queue(), a, b, c);
  const Result<Check> check = run->check();
  BOOST_TEST((check.ok() && check->ok()));
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheHeadersExample) {
  check_example([](auto... arguments) { BOOST_TEST(header_example(arguments...).message() == ""); });
}

BOOST_AUTO_TEST_CASE(TheCHeadersExample) {
  check_example([](auto... arguments) { BOOST_TEST(c_header_example(arguments...) == CLBAKE_OK); });
}

BOOST_AUTO_TEST_CASE(TheReadmesExample) {
  check_example([](auto... arguments) { BOOST_TEST(multiply(arguments...).message() == ""); });
}
