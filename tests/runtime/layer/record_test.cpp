// The layer in record mode above the fake driver: orders that real drivers hardly show, and calls that fail.
#include "layer/recorded.hpp"

using namespace clbake;
using namespace clbake::test;

// The driver runs the latest command that may run, so that a launch that did not wait for its reads would come first.
BOOST_AUTO_TEST_CASE(ALaunchWaitsForTheReadsOfItsArgumentsAndTheyForItsEvents) {
  {
    Recorded recorded;
    recorded.start();
    fake::set_lazy(true);
    cl_event first = nullptr;
    BOOST_TEST(recorded.launch(recorded.scene.unordered_queue, 1, nullptr, &first) == CL_SUCCESS);
    BOOST_TEST(recorded.launch(recorded.scene.unordered_queue, 2, first) == CL_SUCCESS);
    BOOST_TEST(recorded.result() == Floats({4, 4}));
    BOOST_TEST(recorded.content(1) == Recorded::bytes({1, 1}));
    BOOST_TEST(recorded.content(2) == Recorded::bytes({2, 2}));
    recorded.cl().clReleaseEvent(first);
    fake::set_lazy(false);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(ALaunchThatTheDriverRefusesIsNotRecorded) {
  {
    Recorded recorded;
    recorded.start();
    fake::fail(fake::Function::clEnqueueNDRangeKernel, 0, CL_OUT_OF_RESOURCES);
    BOOST_TEST(recorded.launch(recorded.scene.queue, 1) == CL_OUT_OF_RESOURCES);
    fake::fail_nothing();
    BOOST_TEST(count_of(recorded.journal(), "\"size\"") == 0U);
    BOOST_TEST(count_of(recorded.journal(), "\"trial\"") == 0U);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(ACallOfTheRecordingThatFailsCostsTheTrialAlone) {
  using F = fake::Function;
  for (const F function : {F::clEnqueueReadBuffer, F::clSetEventCallback, F::clGetKernelInfo}) {
    BOOST_TEST_CONTEXT(fake::name(function)) {
      {
        Recorded recorded;
        recorded.start();
        fake::fail(function, fake::kEvery, CL_OUT_OF_RESOURCES);
        BOOST_TEST(recorded.launch(recorded.scene.queue, 1) == CL_SUCCESS);
        fake::fail_nothing();
        BOOST_TEST(recorded.result() == Floats({2, 2}));
        const std::string journal = recorded.journal();
        BOOST_TEST(count_of(journal, "\"size\"") == 1U, journal);
        BOOST_TEST(count_of(journal, "\"untried\"") == 1U, journal);
        BOOST_TEST(count_of(journal, "\"trial\"") == 0U, journal);
      }
      check_nothing_is_left();
    }
  }
}

BOOST_AUTO_TEST_CASE(AnEventThatFailsFailsTheLaunchAsWithoutTheLayer) {
  {
    Recorded recorded;
    recorded.start();
    cl_event wait = recorded.cl().clCreateUserEvent(recorded.scene.context, nullptr), event = nullptr;
    BOOST_TEST(recorded.launch(recorded.scene.queue, 1, wait, &event) == CL_SUCCESS);
    recorded.cl().clSetUserEventStatus(wait, -1);
    BOOST_TEST(recorded.result() == Floats({1, 1}));
    cl_int status = 0;
    recorded.cl().clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    BOOST_TEST(status < 0);
    BOOST_TEST(count_of(recorded.journal(), "\"trial\"") == 0U);
    recorded.cl().clReleaseEvent(event);
    recorded.cl().clReleaseEvent(wait);
  }
  check_nothing_is_left();
}

// A driver may wait in a read for an event that the program ends only after its launch.
BOOST_AUTO_TEST_CASE(NothingIsReadWhileTheProgramHoldsCommandsBack) {
  {
    Recorded recorded;
    recorded.start();
    cl_event gate = recorded.cl().clCreateUserEvent(recorded.scene.context, nullptr);
    BOOST_TEST(recorded.launch(recorded.scene.queue, 1, gate) == CL_SUCCESS);
    BOOST_TEST(fake::calls(fake::Function::clEnqueueReadBuffer) == 0U);
    BOOST_TEST(count_of(recorded.journal(), "\"untried\":\"a user event holds commands back") == 1U);
    recorded.cl().clSetUserEventStatus(gate, CL_COMPLETE);
    BOOST_TEST(recorded.launch(recorded.scene.queue, 2) == CL_SUCCESS);
    BOOST_TEST(recorded.result() == Floats({4, 4}));
    BOOST_TEST(recorded.content(2) == Recorded::bytes({2, 2}));
    recorded.cl().clReleaseEvent(gate);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(AWaitListThatDoesNotFitItsNumberIsTheDriversToRefuse) {
  {
    Recorded recorded;
    recorded.start();
    const cl_event none = nullptr;
    BOOST_TEST(recorded.launch(1, 1, nullptr) == CL_INVALID_EVENT_WAIT_LIST);
    BOOST_TEST(recorded.launch(1, 0, &none) == CL_INVALID_EVENT_WAIT_LIST);
    BOOST_TEST(count_of(recorded.journal(), "\"size\"") == 0U);
  }
  check_nothing_is_left();
}

// With live kernels a driver does not begin: the program stays as it was.
BOOST_AUTO_TEST_CASE(ABuildThatTheDriverDoesNotBeginLeavesTheProgramRecorded) {
  {
    Recorded recorded;
    recorded.start();
    const cl_icd_dispatch& cl = recorded.cl();
    BOOST_TEST(cl.clBuildProgram(recorded.program(), 0, nullptr, "-DOTHER", nullptr, nullptr) == CL_INVALID_OPERATION);
    cl_kernel further = recorded.scene.kernel(recorded.program(), "clbake_complex_a");
    BOOST_TEST(has(recorded.journal(), "clbake_complex_a"), recorded.journal());
    BOOST_TEST(!has(recorded.journal(), "-DOTHER"), recorded.journal());
    BOOST_TEST(!has(recorded.journal(), "did not build"), recorded.journal());
    cl.clReleaseKernel(further);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(AFunctionThatTheLoaderLacksIsNotThereWhileRecording) {
  const Recorded recorded;
  BOOST_TEST(recorded.cl().clSetKernelArgSVMPointer == nullptr);
  BOOST_TEST(recorded.cl().clSetKernelArg != nullptr);
}

// By OpenCL's function, and by the extension's, which a program asks for by name.
BOOST_AUTO_TEST_CASE(SpirVIsRecordedToTheByte) {
  const std::string il("\x03\x02#\0 -DITEMS=1", 14);
  for (const bool extension : {false, true}) {
    BOOST_TEST_CONTEXT((extension ? "clCreateProgramWithILKHR" : "clCreateProgramWithIL")) {
      {
        Recorded recorded;
        const cl_icd_dispatch& cl = recorded.cl();
        auto create = cl.clCreateProgramWithIL;
        if (extension) {
          cl_platform_id platform = nullptr;
          clGetPlatformIDs(1, &platform, nullptr);
          create = reinterpret_cast<decltype(create)>(
              cl.clGetExtensionFunctionAddressForPlatform(platform, "clCreateProgramWithILKHR"));
        }
        cl_program program = create(recorded.scene.context, il.data(), il.size(), nullptr);
        BOOST_REQUIRE(program);
        BOOST_TEST(cl.clBuildProgram(program, 0, nullptr, "-DITEMS=1", nullptr, nullptr) == CL_SUCCESS);
        const std::string journal = recorded.journal();
        const std::size_t begin = journal.find("sources/");
        BOOST_REQUIRE(begin != std::string::npos);
        BOOST_TEST(recorded.file(journal.substr(begin, journal.find('"', begin) - begin)) == il);
        cl.clReleaseProgram(program);
      }
      check_nothing_is_left();
    }
  }
}

BOOST_AUTO_TEST_CASE(ADirectoryThatCannotBeWrittenIsSaidOnceAndTheProgramRuns) {
  {
    Recorded recorded("missing/recording");
    recorded.start();
    BOOST_TEST(recorded.launch(recorded.scene.queue, 1) == CL_SUCCESS);
    BOOST_TEST(recorded.result() == Floats({2, 2}));
    BOOST_TEST(recorded.scene.log_lines() == 1U, recorded.scene.log());
    BOOST_TEST(has(recorded.scene.log(), "recording ends"), recorded.scene.log());
  }
  check_nothing_is_left();
}
