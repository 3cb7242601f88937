// How failures of OpenCL are named.
#include "opencl/cl.hpp"

#include <boost/test/unit_test.hpp>

namespace clbake {
namespace {

// That the code has the name by which cl.h defines it.
#define CHECK_NAME(code) BOOST_TEST(opencl_error(code) == std::string(#code " (") + std::to_string(code) + ")")

}  // namespace

BOOST_AUTO_TEST_CASE(ErrorsHaveTheNamesOfTheHeader) {
  CHECK_NAME(CL_DEVICE_NOT_FOUND);
  CHECK_NAME(CL_DEVICE_NOT_AVAILABLE);
  CHECK_NAME(CL_COMPILER_NOT_AVAILABLE);
  CHECK_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE);
  CHECK_NAME(CL_OUT_OF_RESOURCES);
  CHECK_NAME(CL_OUT_OF_HOST_MEMORY);
  CHECK_NAME(CL_BUILD_PROGRAM_FAILURE);
  CHECK_NAME(CL_INVALID_VALUE);
  CHECK_NAME(CL_INVALID_DEVICE);
  CHECK_NAME(CL_INVALID_CONTEXT);
  CHECK_NAME(CL_INVALID_COMMAND_QUEUE);
  CHECK_NAME(CL_INVALID_MEM_OBJECT);
  CHECK_NAME(CL_INVALID_BINARY);
  CHECK_NAME(CL_INVALID_BUILD_OPTIONS);
  CHECK_NAME(CL_INVALID_PROGRAM);
  CHECK_NAME(CL_INVALID_PROGRAM_EXECUTABLE);
  CHECK_NAME(CL_INVALID_KERNEL_NAME);
  CHECK_NAME(CL_INVALID_KERNEL_DEFINITION);
  CHECK_NAME(CL_INVALID_KERNEL);
  CHECK_NAME(CL_INVALID_ARG_INDEX);
  CHECK_NAME(CL_INVALID_ARG_VALUE);
  CHECK_NAME(CL_INVALID_ARG_SIZE);
  CHECK_NAME(CL_INVALID_KERNEL_ARGS);
  CHECK_NAME(CL_INVALID_WORK_GROUP_SIZE);
  CHECK_NAME(CL_INVALID_WORK_ITEM_SIZE);
  CHECK_NAME(CL_INVALID_EVENT_WAIT_LIST);
  CHECK_NAME(CL_INVALID_BUFFER_SIZE);
  CHECK_NAME(CL_INVALID_GLOBAL_WORK_SIZE);
  BOOST_TEST(opencl_error(-1001) == "CL_PLATFORM_NOT_FOUND_KHR (-1001)");
  BOOST_TEST(opencl_error(-9999).find("-9999") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(ALackOfMemoryHasACodeOfItsOwn) {
  BOOST_TEST(opencl_status("clAny", CL_SUCCESS).ok());
  for (const cl_int error : {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY}) {
    BOOST_TEST(name(opencl_status("clAny", error).code()) == "out of memory");
    BOOST_TEST(opencl_status("clAny", error).opencl_code() == error);
  }
  const Status other = opencl_status("clAny", CL_INVALID_KERNEL);
  BOOST_TEST(name(other.code()) == "OpenCL error");
  BOOST_TEST(other.message() == "clAny: CL_INVALID_KERNEL (-48)");
  BOOST_TEST(other.opencl_code() == CL_INVALID_KERNEL);
}

}  // namespace clbake
