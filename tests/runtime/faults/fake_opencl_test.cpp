// The fake driver itself: what the tests on it rely on, and that the runtime computes right with it.
#include "faults/fake_scene.hpp"

using namespace clbake;
using namespace clbake::test;

namespace {

std::string text(const Status& status) { return std::string(name(status.code())) + ": " + status.message(); }

// The error of one product, computed in the scene's `queue`.
double error_of(const Scene& scene, cl_command_queue queue, const Problem& problem) {
  const Library library = *open_library(scene);
  Result<Gemm> gemm = prepare(library, problem);
  BOOST_REQUIRE_MESSAGE(gemm.ok(), text(gemm.status()));
  const Operands operands(scene, problem);
  const Status status = enqueue(*gemm, queue, operands);
  BOOST_REQUIRE_MESSAGE(status.ok(), text(status));
  return operands.error(queue);
}

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
