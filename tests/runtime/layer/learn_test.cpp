// Learning, as the layer does its part: what the learner is told, and when it is not even started.
#include "layer/layer_scene.hpp"
#include "learn/noted.hpp"

#include <clbake/overlay_directory.hpp>

#include <clbake/os/environment.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/program.hpp>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif
#include <filesystem>

using namespace clbake;
using namespace clbake::test;

namespace {

namespace fs = std::filesystem;

// The overlay's place, with a learner that notes what it gets.
class Place : public tests::Noted {
 public:
  Environment environment(const char* learn = "on") const {
    return {{"CLBAKE_OVERLAY", overlay()},
            {"CLBAKE_LEARN", learn},
            {"CLBAKE_LEARNER", os::absolute_path(CLBAKE_FAKE_LEARNER)}};
  }
  // With a learner that cannot be started: the call that would tell it something logs that (kNotStarted).
  Environment without_learner(const char* learn = "on") const {
    Environment changed = environment(learn);
    changed["CLBAKE_LEARNER"] = "/missing/clbake";
    return changed;
  }
  std::string overlay() const { return path("overlay"); }
  std::vector<std::string> requests(std::size_t count) const { return wait_for("request-", count); }
};

constexpr const char* kNotStarted = "/missing/clbake: cannot start";

cl_int launch(const LayerScene& scene, cl_kernel kernel, std::size_t local, std::size_t global = 64,
              std::size_t offset = 0) {
  return scene.cl().clEnqueueNDRangeKernel(scene.queue, kernel, 1, offset > 0 ? &offset : nullptr, &global,
                                           local > 0 ? &local : nullptr, 0, nullptr, nullptr);
}

void release(const LayerScene& scene, cl_program program, cl_kernel kernel) {
  scene.cl().clReleaseKernel(kernel);
  scene.cl().clReleaseProgram(program);
}

// Stores the program as a learner would, with these functions of PoCL.
void store(const Place& place, cl_device_id device, const std::vector<std::string>& functions) {
  OverlayOptions options;
  options.directory = place.overlay();
  options.mode = OverlayMode::read_write;
  const Result<Overlay> overlay = Overlay::open(options);
  cache::Contents contents = contents_of({text_of(kSource, "")}, {0});
  contents.entries[0].proof.specialisations = functions;
  const OverlayKey key = overlay_key(*identify(device), contents.sources[0], contents.variants[0]);
  BOOST_REQUIRE_EQUAL(overlay->store(key, contents.entries).message(), "");
}

}  // namespace

BOOST_AUTO_TEST_CASE(WhatTheDriverCompiledIsToldOnce) {
  const Place place;
  const LayerScene scene(place.environment());
  const std::string first = std::string(kSource) + "\n" + os::working_directory();
  for (int i = 0; i < 2; ++i) {  // the application may build the same again
    const cl_program program = scene.build(kSource, "", {scene.device});
    const cl_kernel kernel = scene.kernel(program);
    for (const std::size_t local : {8, 8, 0, 8, 0}) BOOST_TEST(launch(scene, kernel, local) == CL_SUCCESS);
    launch(scene, kernel, 8, 65536);
    launch(scene, kernel, 8, 64, 4);
    release(scene, program, kernel);
  }
  const std::vector<std::string> requests = place.requests(5);
  BOOST_REQUIRE(requests.size() == 5U);
  const std::string again = "\n" + os::working_directory() + "\nclbake_gemm ";
  BOOST_TEST(requests[0] == first);
  BOOST_TEST(requests[1] == again + "8 1 1");
  BOOST_TEST(requests[2] == again + "0 0 0");
  BOOST_TEST(requests[3] == again + "8 1 1 large");
  BOOST_TEST(requests[4] == again + "8 1 1 offset");
}

BOOST_AUTO_TEST_CASE(AProgramThatIsNeverLaunchedIsToldForEachDevice) {
  const Place place;
  const LayerScene scene(place.environment());
  const cl_program program = scene.build(kSource, "");
  const std::string text = std::string(kSource) + "\n" + os::working_directory();
  BOOST_TEST((place.requests(2) == std::vector<std::string>{text, text}));
  scene.cl().clReleaseProgram(program);
}

BOOST_AUTO_TEST_CASE(AProgramThatDoesNotBuildIsNotTold) {
  const Place place;
  const LayerScene scene(place.without_learner());
  const cl_program program = scene.create(kSource);
  fake::fail(fake::Function::clBuildProgram, 0, CL_BUILD_PROGRAM_FAILURE);
  for (const cl_int built : {CL_BUILD_PROGRAM_FAILURE, CL_SUCCESS}) {
    BOOST_TEST(scene.cl().clBuildProgram(program, 0, nullptr, "", nullptr, nullptr) == built);
    BOOST_TEST(has(scene.log(), kNotStarted) == (built == CL_SUCCESS));
  }
  scene.cl().clReleaseProgram(program);
}

BOOST_AUTO_TEST_CASE(NothingIsToldOfWhatOptionsOfTheEnvironmentChange) {
  const Place place;
  {
    const LayerScene scene(place.environment());
    os::set_variable("OCLGRIND_BUILD_OPTIONS", "-DK=7");
    const cl_program changed = scene.build(kSource, "");
    os::unset_variable("OCLGRIND_BUILD_OPTIONS");
    const cl_program program = scene.build("kernel void other() {}", "");
    BOOST_TEST(place.requests(2).size() == 2U);  // of the second one, on two devices
    for (const std::string& request : place.requests(2)) BOOST_TEST(has(request, "other()"));
    scene.cl().clReleaseProgram(changed);
    scene.cl().clReleaseProgram(program);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(ABuildThatFailsLeavesTheOneBefore) {
  const Place place;
  const LayerScene scene(place.environment());
  const cl_program program = scene.build(kSource, "", {scene.device});
  fake::fail(fake::Function::clBuildProgram, 0, CL_INVALID_BUILD_OPTIONS);
  BOOST_TEST(scene.cl().clBuildProgram(program, 1, &scene.device, "-DSPLIT_K=2", nullptr, nullptr) ==
             CL_INVALID_BUILD_OPTIONS);
  const cl_kernel kernel = scene.kernel(program);
  launch(scene, kernel, 8);
  const std::vector<std::string> requests = place.requests(2);
  BOOST_REQUIRE(requests.size() == 2U);
  BOOST_TEST(requests[1] == "\n" + os::working_directory() + "\nclbake_gemm 8 1 1");
  release(scene, program, kernel);
}

BOOST_AUTO_TEST_CASE(NothingIsToldOfWhatABundleServes) {
  const Place place;
  write_bundle(place.path("app.clbake"), {text_of(kSource, "")}, {0, 1});
  Environment environment = place.environment();
  environment["CLBAKE_BUNDLE"] = place.path("app.clbake");
  const LayerScene scene(environment);
  const cl_program served = scene.build(kSource, "");
  const cl_kernel kernel = scene.kernel(served);
  launch(scene, kernel, 8);
  const cl_program compiled = scene.build("kernel void other() {}", "", {scene.device});
  const cl_kernel other = scene.kernel(compiled);
  launch(scene, other, 8);
  // Requests come in the order of the launches.
  const std::string behind = "\n" + os::working_directory();
  BOOST_TEST((place.requests(2) ==
              std::vector<std::string>{"kernel void other() {}" + behind, behind + "\nclbake_gemm 8 1 1"}));
  release(scene, served, kernel);
  release(scene, compiled, other);
}

BOOST_AUTO_TEST_CASE(TheOverlayServesWhatWasLearnt) {
  const Place place;
  const LayerScene bare({});
  store(place, bare.device, {});
  for (const std::string learn : {"on", "read-only"}) {
    const LayerScene scene(place.without_learner(learn.c_str()));
    const cl_program program = scene.build(kSource, "", {scene.device});
    const cl_kernel kernel = scene.kernel(program);
    launch(scene, kernel, 8);
    BOOST_TEST(fake::compilations() == 0U);
    BOOST_TEST(has(scene.log(), "is from the overlay"));
    BOOST_TEST(!has(scene.log(), kNotStarted));
    release(scene, program, kernel);
    scene.cl().clReleaseProgram(scene.build("kernel void other() {}", ""));
    BOOST_TEST(has(scene.log(), kNotStarted) == (learn == "on"));
  }
}

#ifndef _WIN32  // forks, and owners by number
BOOST_AUTO_TEST_CASE(AForkOfTheProgramTellsNothing) {
  const Place place;
  const LayerScene scene(place.without_learner());
  const pid_t child = fork();
  if (child == 0) {
    launch(scene, scene.kernel(scene.build(kSource, "")), 8);
    _exit(0);
  }
  int status = 1;
  BOOST_REQUIRE(waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
  BOOST_TEST(!has(scene.log(), kNotStarted));
  scene.cl().clReleaseProgram(scene.build(kSource, "", {scene.device}));
  BOOST_TEST(has(scene.log(), kNotStarted));
}

BOOST_AUTO_TEST_CASE(AnOverlayOfAllUsersServesBelowTheOwnOneAndWithoutIt) {
  const Place place;
  const LayerScene bare({});
  store(place, bare.device, {});
  const auto served = [&](const Environment& environment) {
    const LayerScene scene(environment);
    scene.cl().clReleaseProgram(scene.build(kSource, "", {scene.device}));
    return std::make_pair(has(scene.log(), "is from the overlay"), scene.log());
  };
  Environment shared = place.without_learner("read-only");
  shared["CLBAKE_SHARED_OVERLAY"] = place.overlay();
  shared["CLBAKE_SHARED_OVERLAY_OWNER"] = std::to_string(::geteuid());
  for (const std::string& own : {place.path("own"), place.path("missing/file"), std::string("off")}) {
    shared["CLBAKE_OVERLAY"] = own;
    const auto [from_it, log] = served(shared);
    BOOST_TEST(from_it, own << ": " << log);
  }
  shared["CLBAKE_SHARED_OVERLAY_OWNER"] = "no-such-user";
  const auto [from_it, log] = served(shared);
  BOOST_TEST(!from_it);
  BOOST_TEST(has(log, "no shared overlay: " + place.overlay() + ": its owner should be 'no-such-user'"), log);
}
#endif

BOOST_AUTO_TEST_CASE(ALaunchWithoutMachineCodeIsTold) {
  const Place place;
  const LayerScene bare({});
  store(place, bare.device, {"clbake_gemm 8-1-1-goffs0-smallgrid", "clbake_reduce 0-0-0"});
  const LayerScene scene(place.environment());
  const cl_program program = scene.build(kSource, "", {scene.device});
  const cl_kernel kernel = scene.kernel(program);
  for (const std::size_t local : {8, 0, 16}) launch(scene, kernel, local);
  const std::vector<std::string> requests = place.requests(1);
  BOOST_REQUIRE(requests.size() == 1U);
  BOOST_TEST(requests[0] == "\n" + os::working_directory() + "\nclbake_gemm 16 1 1");
  release(scene, program, kernel);
}

BOOST_AUTO_TEST_CASE(WithoutLearningLaunchesGoToTheDriver) {
  const Place place;
  const LayerScene bare({});
  for (const std::string learn : {"read-only", "off", "OFF", "0", "no"}) {
    const LayerScene scene(place.environment(learn.c_str()));
    BOOST_TEST(has(scene.log(), "none of on, read-only, off") == (learn != "read-only" && learn != "off"));
    BOOST_TEST((scene.cl().clEnqueueNDRangeKernel == bare.cl().clEnqueueNDRangeKernel));
    const cl_program program = scene.build(kSource, "");
    BOOST_TEST(!fs::exists(place.overlay()));
    scene.cl().clReleaseProgram(program);
  }
  Environment lost = place.environment();
  lost["CLBAKE_LEARNER"] = "";
  const LayerScene scene(lost);
  BOOST_TEST((scene.cl().clEnqueueNDRangeKernel == bare.cl().clEnqueueNDRangeKernel));
  BOOST_TEST(has(scene.log(), "nothing is learned"));
}
