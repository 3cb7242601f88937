// Products that clbake does not serve go to CLBlast, with all arguments as they were; it is opened when first needed.
// fake_clblast.cpp is in its place.
#include "clblast/door_scene.hpp"
#include "clblast/fake_clblast.hpp"

#include "test_device.hpp"

#include <clblast_c.h>

#include <clbake/os/guest.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdlib>

using namespace clbake::tests;
using clblast::Layout;
using clblast::StatusCode;
using clblast::Transpose;

namespace {

StatusCode one_product(cl_mem a, cl_mem b, cl_mem c, std::size_t lda, float beta) {
  cl_command_queue q = queue();
  return clblast::Gemm<float>(Layout::kRowMajor, Transpose::kNo, Transpose::kNo, 1, 1, 1, 1, a, 0, lda, b, 0, 1, beta,
                              c, 0, 1, &q);
}

bool clblast_is_in_the_process() { return clbake::os::find_library(std::getenv("CLBAKE_CLBLAST_LIBRARY")); }

}  // namespace

// The first test of all.
BOOST_AUTO_TEST_CASE(AProgramThatOnlyMultipliesNeverOpensClblast) {
  const Buffers on(1, 1, 1);
  BOOST_TEST((one_product(on.a, on.b, on.c, 1, 0) == StatusCode::kSuccess));
  BOOST_TEST((clblast::ClearCache() == StatusCode::kSuccess));
  BOOST_TEST((clblast::FillCache(device().id) == StatusCode::kSuccess));
  BOOST_TEST(!clblast_is_in_the_process());
}

BOOST_AUTO_TEST_CASE(AProductThatThisClblastLacksIsNotImplemented) {
  const Buffers on(16, 16, 16);
  cl_command_queue q = queue();
  BOOST_TEST((clblast::Gemm<double>(Layout::kRowMajor, Transpose::kNo, Transpose::kNo, 1, 1, 1, 1, on.a, 0, 1, on.b, 0,
                                    1, 1, on.a, 0, 1, &q) == StatusCode::kNotImplemented));
}

BOOST_AUTO_TEST_CASE(AProductIntoItsOwnOperandGoesThere) {
  const Buffers on(1600, 1800, 1600);
  cl_command_queue q = queue();
  BOOST_TEST((clblast::Gemm<float>(Layout::kRowMajor, Transpose::kNo, Transpose::kYes, 3, 2, 4, 0.5F, on.a, 1, 5, on.b,
                                   2, 6, 2, on.a, 3, 7, &q, nullptr, on.c) == kServedByClblast));
  BOOST_TEST(clblast_is_in_the_process());
}

BOOST_AUTO_TEST_CASE(AReadOnlyCGoesThere) {
  const Buffers on(1600, 1800, 1600);
  cl_mem c = clCreateBuffer(session().context(), CL_MEM_READ_ONLY, 4, nullptr, nullptr);
  BOOST_TEST(static_cast<int>(one_product(on.a, on.b, c, 1, 0)) == static_cast<int>(kServedByClblast));
  clReleaseMemObject(c);
}

BOOST_AUTO_TEST_CASE(ABatchWithALeadingDimensionPastThirtyOneBitsGoesThere) {
  const Buffers on(1600, 1800, 1600);
  cl_command_queue q = queue();
  BOOST_TEST(
      (clblast::GemmStridedBatched<float>(Layout::kRowMajor, Transpose::kNo, Transpose::kYes, 1, 2, 4, 3, on.a, 1,
                                          kHugeLd, 15, on.b, 2, 6, 12, 9, on.c, 4, 2, 5, 2, &q) == kServedByClblast));
}

// CLBlast does not look at the leading dimensions of A and B there: lines may overlap.
BOOST_AUTO_TEST_CASE(ABatchWhoseLinesOverlapGoesThere) {
  const Buffers on(1600, 1800, 1600);
  cl_command_queue q = queue();
  const float alphas[] = {1, 3}, betas[] = {0, 9};
  const std::size_t as[] = {0, 5}, bs[] = {0, 7}, cs[] = {0, 11};
  BOOST_TEST((clblast::GemmBatched<float>(Layout::kRowMajor, Transpose::kNo, Transpose::kYes, 3, 2, 4, alphas, on.a, as,
                                          1, on.b, bs, 2, betas, on.c, cs, 2, 2, &q) == kServedByClblast));
}

// The copy of a complex B is the whole of twice its size.
BOOST_AUTO_TEST_CASE(AProductWhoseWorkspaceDoesNotFitGoesThere) {
  cl_ulong largest = 0;
  clGetDeviceInfo(device().id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, nullptr);
  const std::size_t k = 1024, n = largest / 2 / k / sizeof(cl_float2) + 256, m = 4;
  const auto buffer = [](std::size_t elements) {
    return clCreateBuffer(session().context(), CL_MEM_READ_WRITE, elements * sizeof(cl_float2), nullptr, nullptr);
  };
  cl_mem a = buffer(m * k), b = buffer(k * n), c = buffer(m * n);
  cl_command_queue q = queue();
  BOOST_TEST((clblast::Gemm<std::complex<float>>(Layout::kRowMajor, Transpose::kNo, Transpose::kNo, m, n, k, {1, 2}, a,
                                                 0, k, b, 0, n, {3, 4}, c, 0, n, &q) == kServedByClblast));
  for (cl_mem each : {a, b, c}) clReleaseMemObject(each);
}

#ifndef _WIN32  // no function of another library's name
static cl_int failing_launch = CL_SUCCESS;

// In the place of the driver's.
extern "C" cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                         const size_t* offset, const size_t* global, const size_t* local, cl_uint count,
                                         const cl_event* waits, cl_event* event) {
  static const auto driver =
      reinterpret_cast<decltype(&clEnqueueNDRangeKernel)>(clbake::os::next_function("clEnqueueNDRangeKernel"));
  if (failing_launch != CL_SUCCESS) return failing_launch;
  return driver(queue, kernel, dimensions, offset, global, local, count, waits, event);
}

BOOST_AUTO_TEST_CASE(ALaunchThatFailsGoesThereUnlessCMayBeHalfDone) {
  const Buffers on(1600, 1800, 1600);
  failing_launch = CL_OUT_OF_RESOURCES;
  BOOST_TEST((one_product(on.a, on.b, on.c, 1, 0) == kServedByClblast));
  BOOST_TEST(static_cast<int>(one_product(on.a, on.b, on.c, 1, 1)) == CL_OUT_OF_RESOURCES);
  failing_launch = CL_SUCCESS;
  BOOST_TEST((one_product(on.a, on.b, on.c, 1, 0) == StatusCode::kSuccess));
  clFinish(queue());
}

#endif

BOOST_AUTO_TEST_CASE(OnceItIsOpenItsCacheIsClearedAndFilled) {
  BOOST_TEST((clblast::ClearCache() == kServedByClblast));
  BOOST_TEST((clblast::FillCache(device().id) == kServedByClblast));
}

int main(int argc, char** argv) {
  device();  // skips without one
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
