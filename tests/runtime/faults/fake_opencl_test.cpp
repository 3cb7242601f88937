// The fake driver itself: what the tests on it rely on, and that the runtime computes right with it.
#include "faults/fake_scene.hpp"

#include <boost/test/unit_test.hpp>

using namespace clbake;
using namespace clbake::test;

namespace {

std::string text(const Status& status) { return std::string(name(status.code())) + ": " + status.message(); }

// The error of one product, computed in the scene's `queue`.
double error_of(const Scene& scene, cl_command_queue queue, const Problem& problem) {
  const Result<Library> library = open_library(scene);
  BOOST_REQUIRE_MESSAGE(library.ok(), text(library.status()));
  Result<Gemm> gemm = prepare(*library, problem);
  BOOST_REQUIRE_MESSAGE(gemm.ok(), text(gemm.status()));
  const Operands operands(scene, problem);
  const Status status = enqueue(*gemm, queue, operands);
  BOOST_REQUIRE_MESSAGE(status.ok(), text(status));
  return operands.error(queue);
}

void note_status(cl_event /*event*/, cl_int status, void* data) { *static_cast<int*>(data) += 10 - status; }

}  // namespace

BOOST_AUTO_TEST_CASE(EveryCaseComputesTheProduct) {
  for (const Case which : kWithComplex) {
    for (const std::size_t batch : {1U, 2U}) {
      BOOST_TEST_CONTEXT("case " << static_cast<int>(which) << ", batch " << batch) {
        {
          const Scene scene;
          BOOST_TEST(error_of(scene, scene.queue, problem_of(which, batch)) < kTolerance);
        }
        BOOST_TEST(fake::leaks() == "");
        BOOST_TEST(fake::complaints().empty());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(LazyCommandsOfAnUnorderedQueueStillComputeTheProduct) {
  for (const Case which : kWithComplex) {
    const Scene scene;
    fake::set_lazy(true);
    BOOST_TEST(error_of(scene, scene.unordered_queue, problem_of(which, 2)) < kTolerance);
    BOOST_TEST(fake::complaints().empty());
  }
}

BOOST_AUTO_TEST_CASE(LazyCommandsRunTheLatestFirst) {
  const Scene scene;
  const cl_mem memory = clCreateBuffer(scene.context, CL_MEM_READ_WRITE, 1, nullptr, nullptr);
  const auto write = [&](const char* byte, cl_uint wait_count, const cl_event* waits, cl_event* event) {
    clEnqueueWriteBuffer(scene.unordered_queue, memory, CL_FALSE, 0, 1, byte, wait_count, waits, event);
  };
  char found = 0;
  const auto read = [&] {
    clFinish(scene.unordered_queue);
    clEnqueueReadBuffer(scene.unordered_queue, memory, CL_TRUE, 0, 1, &found, 0, nullptr, nullptr);
    return found;
  };
  fake::set_lazy(true);
  write("1", 0, nullptr, nullptr);
  write("2", 0, nullptr, nullptr);
  BOOST_TEST(read() == '1');
  cl_event first = nullptr;
  write("1", 0, nullptr, &first);
  write("2", 1, &first, nullptr);
  BOOST_TEST(read() == '2');
  clReleaseEvent(first);
  clReleaseMemObject(memory);
}

BOOST_AUTO_TEST_CASE(AUserEventHoldsCommandsBack) {
  const Scene scene;
  int notified = 0;
  const cl_event gate = clCreateUserEvent(scene.context, nullptr);
  cl_event passed = nullptr;
  BOOST_TEST(clEnqueueMarkerWithWaitList(scene.queue, 1, &gate, &passed) == CL_SUCCESS);
  BOOST_TEST(clSetEventCallback(passed, CL_COMPLETE, note_status, &notified) == CL_SUCCESS);
  clFlush(scene.queue);
  BOOST_TEST(notified == 0);
  clSetUserEventStatus(gate, -5);
  BOOST_TEST(notified == 10 - CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  BOOST_TEST(clWaitForEvents(1, &passed) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  clReleaseEvent(passed);
  clReleaseEvent(gate);
}

BOOST_AUTO_TEST_CASE(MisuseIsCounted) {
  {
    const Scene scene;
    const cl_mem memory = clCreateBuffer(scene.context, CL_MEM_READ_WRITE, 4, nullptr, nullptr);
    BOOST_TEST(fake::leaks() == "1 context, 2 queue, 1 memory");
    BOOST_TEST(clReleaseMemObject(memory) == CL_SUCCESS);
    BOOST_TEST(fake::complaints().empty());
    BOOST_TEST(clReleaseMemObject(memory) == CL_INVALID_MEM_OBJECT);
    BOOST_TEST(fake::complaints().size() == 1U);
    BOOST_TEST(clRetainContext(reinterpret_cast<cl_context>(scene.queue)) == CL_INVALID_CONTEXT);
    BOOST_TEST(fake::complaints().size() == 2U);
    // A flush that is missing between two queues: whoever waits would wait forever.
    fake::set_lazy(true);
    cl_event first = nullptr;
    cl_event second = nullptr;
    clEnqueueMarkerWithWaitList(scene.unordered_queue, 0, nullptr, &first);
    clEnqueueMarkerWithWaitList(scene.queue, 1, &first, &second);
    clWaitForEvents(1, &second);
    BOOST_TEST(fake::complaints().size() == 3U);
    clReleaseEvent(first);
    clReleaseEvent(second);
    clRetainDevice(scene.device);
    BOOST_TEST(fake::alive(fake::Kind::device) == 1);
  }
  BOOST_TEST(fake::leaks() == "1 device");
  fake::reset();
  BOOST_TEST(fake::leaks() == "");
}

BOOST_AUTO_TEST_CASE(OnlyTheDevicesOwnBinariesAreTaken) {
  const Scene scene;
  std::vector<unsigned char> binary = fake::binary_for(0, "-D PRECISION=64");
  const auto create = [&](cl_device_id device) {
    const std::size_t size = binary.size();
    const unsigned char* bytes = binary.data();
    cl_int status = CL_SUCCESS;
    const cl_program program = clCreateProgramWithBinary(scene.context, 1, &device, &size, &bytes, nullptr, &status);
    if (program) clReleaseProgram(program);
    return status;
  };
  BOOST_TEST(create(scene.device) == CL_SUCCESS);
  BOOST_TEST(create(scene.other_device) == CL_INVALID_BINARY);
  for (std::size_t i = 0; i < binary.size(); ++i) {
    binary[i] ^= 1;
    BOOST_TEST(create(scene.device) == CL_INVALID_BINARY);
    binary[i] ^= 1;
  }
  BOOST_TEST(create(scene.device) == CL_SUCCESS);
}

BOOST_AUTO_TEST_CASE(TheNthCallFails) {
  const Scene scene;
  fake::fail(fake::Function::clFlush, 1, CL_OUT_OF_RESOURCES);
  BOOST_TEST(clFlush(scene.queue) == CL_SUCCESS);
  BOOST_TEST(clFlush(scene.queue) == CL_OUT_OF_RESOURCES);
  BOOST_TEST(clFlush(scene.queue) == CL_SUCCESS);
  BOOST_TEST(fake::name(fake::failed()) == "clFlush");
  fake::fail(fake::Function::count, 1, CL_OUT_OF_HOST_MEMORY);
  BOOST_TEST(clFlush(scene.queue) == CL_SUCCESS);
  BOOST_TEST(clFinish(scene.queue) == CL_OUT_OF_HOST_MEMORY);
  fake::fail(fake::Function::clFinish, fake::kEvery, CL_INVALID_VALUE);
  BOOST_TEST(clFinish(scene.queue) == CL_INVALID_VALUE);
  BOOST_TEST(clFinish(scene.queue) == CL_INVALID_VALUE);
  fake::fail_nothing();
  BOOST_TEST(clFinish(scene.queue) == CL_SUCCESS);
}
