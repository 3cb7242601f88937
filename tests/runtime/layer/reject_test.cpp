// Programs that a bundle has and the driver does not take: they are compiled.
#include "layer/layer_scene.hpp"

#include <atomic>
#include <thread>

using namespace clbake;
using namespace clbake::test;

// The answer that a driver gives to a binary that it rejects, at each of its steps.
BOOST_AUTO_TEST_CASE(ARejectedProgramIsCompiled) {
  using fake::Function;
  struct Case {
    Function function;
    cl_int error;
  };
  for (const auto& [function, error] :
       {Case{Function::clCreateProgramWithBinary, CL_INVALID_BINARY},
        Case{Function::clCreateProgramWithBinary, fake::kLie}, Case{Function::clBuildProgram, CL_BUILD_PROGRAM_FAILURE},
        Case{Function::clBuildProgram, fake::kLie}}) {
    for (const bool with_callback : {false, true}) {
      {
        const Served served;
        const LayerScene& scene = served.scene;
        std::atomic<int> heard{0};
        const auto notify = [](cl_program, void* data) { ++*static_cast<std::atomic<int>*>(data); };
        const cl_program program = scene.create(kSource);
        fake::fail(function, 0, error);
        const cl_int built = scene.cl().clBuildProgram(program, 0, nullptr, kOptions, with_callback ? +notify : nullptr,
                                                       with_callback ? &heard : nullptr);
        BOOST_TEST_INFO(fake::name(function) << ", " << error << ", callback: " << with_callback);
        BOOST_TEST(built == CL_SUCCESS);
        const bool never_reported = with_callback && function == Function::clBuildProgram && error == fake::kLie;
        if (!never_reported) {
          BOOST_TEST(heard == (with_callback ? 1 : 0));
          BOOST_TEST(fake::compilations() == 2U);
          BOOST_TEST(has(scene.log(), "rejects"));
          BOOST_TEST(scene.log_lines() == 1U);
        }
        fake::fail_nothing();
        const cl_kernel kernel = scene.kernel(program);
        scene.cl().clReleaseKernel(kernel);
        scene.cl().clReleaseProgram(program);
        if (never_reported) continue;
      }
      check_nothing_is_left();
    }
  }
}

// A driver may report a build that has failed.
BOOST_AUTO_TEST_CASE(AProgramThatIsReportedUnbuiltIsCompiled) {
  {
    const Served served;
    const LayerScene& scene = served.scene;
    std::atomic<int> heard{0};
    const auto notify = [](cl_program, void* data) { ++*static_cast<std::atomic<int>*>(data); };
    const cl_program program = scene.create(kSource);
    fake::fail(fake::Function::clGetProgramBuildInfo, 0, CL_INVALID_OPERATION);
    BOOST_TEST(scene.cl().clBuildProgram(program, 0, nullptr, kOptions, notify, &heard) == CL_SUCCESS);
    while (heard == 0 || scene.references(program) > 1) std::this_thread::yield();
    BOOST_TEST(fake::compilations() == 2U);
    scene.cl().clReleaseKernel(scene.kernel(program));
    scene.cl().clReleaseProgram(program);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(ADriverWithoutMemoryRejectsNothing) {
  using fake::Function;
  for (const Function function : {Function::clCreateProgramWithBinary, Function::clBuildProgram}) {
    for (const cl_int error : {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY}) {
      {
        const Served served;
        const LayerScene& scene = served.scene;
        fake::fail(function, 0, error);
        scene.cl().clReleaseProgram(scene.build(kSource, kOptions));
        fake::fail_nothing();
        fake::forget_calls();
        scene.cl().clReleaseProgram(scene.build(kSource, kOptions));
        BOOST_TEST_INFO(fake::name(function) << ", " << error);
        BOOST_TEST(fake::compilations() == 0U);
      }
      check_nothing_is_left();
    }
  }
}

BOOST_AUTO_TEST_CASE(OnlyTheDeviceThatRejectsItsBinaryGoesWithout) {
  {
    tests::TemporaryDirectory directory;
    cache::Contents contents = contents_of({text_of(kSource, kOptions)}, {0, 1});
    contents.entries[1].program.push_back('!');
    write_contents(directory.file("app.clbake"), contents);
    const LayerScene scene({{"CLBAKE_BUNDLE", directory.file("app.clbake")}});
    scene.cl().clReleaseProgram(scene.build(kSource, kOptions));
    fake::forget_calls();
    scene.cl().clReleaseProgram(scene.build(kSource, kOptions, {scene.device}));
    BOOST_TEST(fake::compilations() == 0U);
    scene.cl().clReleaseProgram(scene.build(kSource, kOptions, {scene.other_device}));
    BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 1U);  // not offered again
  }
  check_nothing_is_left();
}
