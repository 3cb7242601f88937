// The examples of clbake.hpp, clbake.h and the README, compiled as users copy them (examples.sh) and run with this
// machine's bundle.
#include "api/library_scene.hpp"
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
  const Problem problem = builder::tight_problem(Precision::single_precision, 512, 512, 512);
  BOOST_TEST(failure_of(problem, [&](const Matrix& a, const Matrix& b, const Matrix& c) {
               example(here().session.context(), here().device.id, here().session.queue(), a.buffer, b.buffer,
                       c.buffer);
               return Status();
             }) == "");
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
