// How the launches of a call on NVIDIA's platform hang together: by events on a queue out of order, else by the queue.
#include "faults/fake_scene.hpp"

using namespace clbake;
using namespace clbake::test;

namespace {

struct OnNvidia {
  Gemm prepared() const {
    Result<Gemm> gemm = prepare(library, problem);
    BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
    return std::move(*gemm);
  }

  // Events that the library keeps of a call that has ended, if that was asked for one.
  int events_of(cl_command_queue queue, bool asked) {
    Gemm gemm = prepared();
    const Operands operands(scene, problem);
    const int before = fake::alive(fake::Kind::event);
    cl_event end = nullptr;
    BOOST_TEST(enqueue(gemm, queue, operands, 0, nullptr, asked ? &end : nullptr).ok());
    if (end) clReleaseEvent(end);
    BOOST_TEST(operands.error(queue) < kTolerance);  // waits
    return fake::alive(fake::Kind::event) - before;
  }

  const PlatformName as{"NVIDIA CUDA"};
  const Problem problem = problem_of(Case::launches);
  const Scene scene;
  const Library library = library_of(scene, bundle_contents());
};

}  // namespace

BOOST_AUTO_TEST_CASE(OnlyTheLastLaunchInOrderHasAnEvent) {
  OnNvidia nvidia;
  BOOST_TEST(nvidia.events_of(nvidia.scene.queue, true) == 1);
  BOOST_TEST(nvidia.events_of(nvidia.scene.queue, false) == 0);
  BOOST_TEST(nvidia.events_of(nvidia.scene.unordered_queue, true) == 4);
  BOOST_TEST(nvidia.events_of(nvidia.scene.unordered_queue, false) == 4);
}

// A call without an event is marked when the next one, on another queue, has to wait for it.
BOOST_AUTO_TEST_CASE(ACallWithoutAnEventIsMarkedForAnotherQueue) {
  OnNvidia nvidia;
  Gemm gemm = nvidia.prepared();
  const Operands first(nvidia.scene, nvidia.problem), again(nvidia.scene, nvidia.problem),
      other(nvidia.scene, nvidia.problem);
  fake::forget_calls();
  BOOST_TEST(enqueue(gemm, nvidia.scene.queue, first).ok());
  BOOST_TEST(enqueue(gemm, nvidia.scene.queue, again).ok());
  BOOST_TEST(fake::calls(fake::Function::clEnqueueMarkerWithWaitList) == 0U);
  BOOST_TEST(enqueue(gemm, nvidia.scene.unordered_queue, other).ok());
  BOOST_TEST(fake::calls(fake::Function::clEnqueueMarkerWithWaitList) == 1U);
  BOOST_TEST(other.error(nvidia.scene.unordered_queue) < kTolerance);
  BOOST_TEST(first.error(nvidia.scene.queue) < kTolerance);
  BOOST_TEST(again.error(nvidia.scene.queue) < kTolerance);
}

// The calling program may let go of its queue before the workspace is used on another one.
BOOST_AUTO_TEST_CASE(TheQueueOfACallWithoutAnEventMayBeReleased) {
  OnNvidia nvidia;
  Gemm gemm = nvidia.prepared();
  const Operands first(nvidia.scene, nvidia.problem), next(nvidia.scene, nvidia.problem);
  const int before = fake::alive(fake::Kind::queue);
  cl_command_queue own = clCreateCommandQueue(nvidia.scene.context, nvidia.scene.device, 0, nullptr);
  BOOST_TEST(enqueue(gemm, own, first).ok());
  clReleaseCommandQueue(own);
  BOOST_TEST(fake::alive(fake::Kind::queue) == before + 1);
  BOOST_TEST(enqueue(gemm, nvidia.scene.unordered_queue, next).ok());
  BOOST_TEST(fake::alive(fake::Kind::queue) == before);
  BOOST_TEST(next.error(nvidia.scene.unordered_queue) < kTolerance);
  BOOST_TEST(first.error(nvidia.scene.queue) < kTolerance);
}

// A workspace is used by one call after the other, whatever the queues.
BOOST_AUTO_TEST_CASE(CallsOnQueuesInTurnAreRight) {
  OnNvidia nvidia;
  Gemm gemm = nvidia.prepared();
  for (const cl_command_queue queue : {nvidia.scene.queue, nvidia.scene.queue, nvidia.scene.unordered_queue,
                                       nvidia.scene.queue, nvidia.scene.unordered_queue}) {
    const Operands operands(nvidia.scene, nvidia.problem);
    BOOST_TEST(enqueue(gemm, queue, operands).ok());
    BOOST_TEST(operands.error(queue) < kTolerance);
  }
}

// The event that the first launch waits for fails: the others must not run on operands that it has not written.
BOOST_AUTO_TEST_CASE(AFailedWaitFailsAllLaunches) {
  OnNvidia nvidia;
  Gemm gemm = nvidia.prepared();
  const Operands failing(nvidia.scene, nvidia.problem), next(nvidia.scene, nvidia.problem);
  cl_event gate = clCreateUserEvent(nvidia.scene.context, nullptr);
  cl_event done = nullptr;
  BOOST_TEST(enqueue(gemm, nvidia.scene.queue, failing, 1, &gate, &done).ok());
  BOOST_TEST(clSetUserEventStatus(gate, -1) == CL_SUCCESS);
  BOOST_TEST(clWaitForEvents(1, &done) != CL_SUCCESS);
  clReleaseEvent(gate);
  clReleaseEvent(done);
  BOOST_TEST(enqueue(gemm, nvidia.scene.queue, next).ok());
  BOOST_TEST(next.error(nvidia.scene.queue) < kTolerance);
}

// The others wait for the caller's events, too: of a driver that ends a failure at the first launch none of them runs.
// The second call leaves the right C only if the first one left C as it was.
BOOST_AUTO_TEST_CASE(AFailedWaitThatADriverDoesNotPassOnFailsAllLaunches) {
  OnNvidia nvidia;
  Gemm gemm = nvidia.prepared();
  for (const cl_command_queue queue : {nvidia.scene.queue, nvidia.scene.unordered_queue}) {
    const Operands operands(nvidia.scene, nvidia.problem);
    cl_event gate = clCreateUserEvent(nvidia.scene.context, nullptr);
    BOOST_TEST(enqueue(gemm, queue, operands, 1, &gate).ok());
    fake::set_failures_end(true);
    BOOST_TEST(clSetUserEventStatus(gate, -1) == CL_SUCCESS);
    clFinish(queue);
    fake::set_failures_end(false);
    clReleaseEvent(gate);
    BOOST_TEST(enqueue(gemm, queue, operands).ok());
    BOOST_TEST(operands.error(queue) < kTolerance);
  }
}

// The next call, on another queue, finds the workspace free; the failed one does not wait for it.
BOOST_AUTO_TEST_CASE(TheNextCallWaitsForTheLaunchesOfAFailedOne) {
  OnNvidia nvidia;
  Gemm gemm = nvidia.prepared();
  for (const std::size_t launch : {0U, 1U, 2U, 3U}) {
    const Operands failing(nvidia.scene, nvidia.problem), next(nvidia.scene, nvidia.problem);
    fake::forget_calls();
    fake::fail(fake::Function::clEnqueueNDRangeKernel, launch, CL_OUT_OF_RESOURCES);
    const Status status = enqueue(gemm, nvidia.scene.queue, failing);
    fake::fail_nothing();
    BOOST_TEST(status.message() == "clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES (-5)");
    BOOST_TEST(fake::calls(fake::Function::clFinish) == 0U);
    BOOST_TEST(fake::calls(fake::Function::clEnqueueMarkerWithWaitList) == 1U);
    BOOST_TEST(enqueue(gemm, nvidia.scene.unordered_queue, next).ok());
    BOOST_TEST(next.error(nvidia.scene.unordered_queue) < kTolerance);
  }
}

// A call that runs without an event, then one with a wait list that is refused: a third one, on another queue, waits.
BOOST_AUTO_TEST_CASE(ARefusedCallDoesNotHideTheOneBefore) {
  OnNvidia nvidia;
  Gemm gemm = nvidia.prepared();
  const Operands running(nvidia.scene, nvidia.problem), refused(nvidia.scene, nvidia.problem),
      next(nvidia.scene, nvidia.problem);
  cl_event gate = clCreateUserEvent(nvidia.scene.context, nullptr);
  cl_event other = clCreateUserEvent(nvidia.scene.context, nullptr);
  BOOST_TEST(clEnqueueMarkerWithWaitList(nvidia.scene.queue, 1, &gate, nullptr) == CL_SUCCESS);
  BOOST_TEST(enqueue(gemm, nvidia.scene.queue, running).ok());
  fake::forget_calls();
  fake::fail(fake::Function::clEnqueueNDRangeKernel, 0, CL_OUT_OF_RESOURCES);
  BOOST_TEST(!enqueue(gemm, nvidia.scene.queue, refused, 1, &other).ok());
  fake::fail_nothing();
  cl_event done = nullptr;
  BOOST_TEST(enqueue(gemm, nvidia.scene.unordered_queue, next, 0, nullptr, &done).ok());
  cl_int status = CL_COMPLETE;
  BOOST_TEST(clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr) == CL_SUCCESS);
  BOOST_TEST(status > CL_COMPLETE);
  BOOST_TEST(clSetUserEventStatus(gate, CL_COMPLETE) == CL_SUCCESS);
  BOOST_TEST(next.error(nvidia.scene.unordered_queue) < kTolerance);
  BOOST_TEST(running.error(nvidia.scene.queue) < kTolerance);
  for (const cl_event event : {gate, other, done}) clReleaseEvent(event);
}
