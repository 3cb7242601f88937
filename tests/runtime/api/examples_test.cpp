// The examples of clbake.hpp, clbake.h and the README, compiled as users copy them (examples.sh) and run on
// matrices of ones with this machine's bundle.
#include "api/baked_bundle.hpp"
#include "driver_main.hpp"
#include "readme_example.hpp"

#include <clbake/clbake.h>
#include <clbake/builder/devices.hpp>

#include <vector>

clbake::Status header_example(cl_context context, cl_device_id device, cl_command_queue queue, cl_mem a, cl_mem b,
                              cl_mem c);
extern "C" clbake_code c_header_example(cl_context context, cl_device_id device, cl_command_queue queue, cl_mem a,
                                        cl_mem b, cl_mem c);

using namespace clbake;
using namespace clbake::tests;

namespace {

constexpr std::size_t kSize = 512;  // of all examples

// A buffer of kSize x kSize equal numbers.
class Square {
 public:
  explicit Square(float value) {
    std::vector<float> values(kSize * kSize, value);
    memory_ = clCreateBuffer(here().session.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                             values.size() * sizeof(float), values.data(), nullptr);
    BOOST_REQUIRE(memory_);
  }
  ~Square() { clReleaseMemObject(memory_); }
  Square(const Square&) = delete;
  Square& operator=(const Square&) = delete;

  cl_mem get() const { return memory_; }
  bool holds(float value) const {
    std::vector<float> values(kSize * kSize);
    const cl_int error = clEnqueueReadBuffer(here().session.queue(), memory_, CL_TRUE, 0, values.size() * sizeof(float),
                                             values.data(), 0, nullptr, nullptr);
    return error == CL_SUCCESS && values == std::vector<float>(kSize * kSize, value);
  }

 private:
  cl_mem memory_ = nullptr;
};

// The example multiplies a matrix of ones by one of twos.
template <typename Example>
void check_example(const Example& example) {
  const Square a(1);
  const Square b(2);
  const Square c(-1);
  example(here().session.context(), here().device.id, here().session.queue(), a.get(), b.get(), c.get());
  BOOST_TEST(c.holds(2 * kSize));
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
