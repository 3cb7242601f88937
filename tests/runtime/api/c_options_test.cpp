// The C header on the driver in memory: options, overlay, recording, progress, and what stands beside a library.
#include "api/c_scene.hpp"

#include <clbake/os/directories.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/os/libraries.hpp>

#include <unistd.h>
#include <cstring>
#include <vector>

using namespace clbake;
using namespace clbake::test;

namespace {

clbake_options with(clbake_on_miss on_miss) {
  clbake_options options;
  clbake_options_init(&options);
  options.on_miss = on_miss;
  return options;
}

}  // namespace

BOOST_AUTO_TEST_CASE(PoliciesAndTheLogArePassedOn) {
  CScene scene;
  clbake_error& error = scene.error;
  const clbake_problem problem = c_problem_of(Case::source);
  std::vector<std::string> log;
  for (const clbake_on_miss policy : {CLBAKE_COMPILE, CLBAKE_FAIL, CLBAKE_FALLBACK}) {
    clbake_options options = with(policy);
    options.log_data = &log;
    options.log = [](clbake_log_level level, const char* message, void* data) {
      static_cast<std::vector<std::string>*>(data)->push_back((level == CLBAKE_WARNING ? "warning: " : "info: ") +
                                                              std::string(message));
    };
    const CLibrary library(scene, &options);
    Handle gemm;
    const clbake_code code = clbake_gemm_prepare(library, &problem, nullptr, 0, &gemm.gemm, &error);
    BOOST_TEST(code == (policy == CLBAKE_FAIL ? CLBAKE_NO_ENTRY : CLBAKE_OK));
    BOOST_TEST((gemm.gemm != nullptr) == (code == CLBAKE_OK));
    BOOST_TEST(log.size() == (policy == CLBAKE_FALLBACK ? 2U : 1U));  // one before: that the call waits
    if (policy == CLBAKE_FAIL) BOOST_TEST(log.back() == "warning: " + std::string(error.message));
    log.clear();
  }
  clbake_options options = with(CLBAKE_COMPILE);
  const int wrong = 3;
  std::memcpy(&options.on_miss, &wrong, sizeof wrong);
  clbake_library* library = nullptr;
  check_refused(clbake_library_create(scene.context, scene.device, &scene.bundle, 1, &options, &library, &error), error,
                CLBAKE_ARGUMENT_OPTIONS, "on_miss");
  BOOST_TEST(library == nullptr);
}

BOOST_AUTO_TEST_CASE(TheOverlayKeepsWhatWasCompiledForTheNextLibrary) {
  CScene scene;
  clbake_error& error = scene.error;
  const Directory directory;
  cl_context both = scene.context;
  scene.context = clCreateContext(nullptr, 1, &scene.device, nullptr, nullptr, nullptr);  // of one device
  const clbake_problem problem = c_problem_of(Case::source);
  // How often the overlay served in a library that has it.
  const auto served_by = [&](clbake_overlay* overlay) {
    clbake_options options = with(CLBAKE_COMPILE);
    options.overlay = overlay;
    const CLibrary library(scene, &options);
    clbake_overlay_release(overlay);
    BOOST_TEST(clbake_library_warm(library, &problem, 1, nullptr, nullptr, &error) == CLBAKE_OK);
    clbake_library_finish(library);
    return counters_of(library).overlay;
  };
  const auto served = [&](clbake_overlay_mode mode) {
    clbake_overlay* overlay = nullptr;
    BOOST_REQUIRE(clbake_overlay_open(directory.path.c_str(), mode, 1 << 20, &overlay, &error) == CLBAKE_OK);
    return served_by(overlay);
  };
  BOOST_TEST(served(CLBAKE_OVERLAY_READ_ONLY) == 0U);
  BOOST_TEST(std::filesystem::is_empty(directory.path));
  BOOST_TEST(served(CLBAKE_OVERLAY_READ_WRITE) == 0U);
  BOOST_TEST(served(CLBAKE_OVERLAY_READ_ONLY) == 1U);

#ifndef _WIN32
  // The same directory as one for all users, whose owner has a number; this one's own is another, or none.
  const Directory own;
  const std::string user = std::to_string(::geteuid());
  for (const char* beside : {own.path.c_str(), static_cast<const char*>(nullptr)}) {
    clbake_overlay* overlay = nullptr;
    BOOST_REQUIRE(clbake_overlay_open_shared(directory.path.c_str(), user.c_str(), beside, CLBAKE_OVERLAY_READ_WRITE, 0,
                                             &overlay, &error) == CLBAKE_OK);
    BOOST_TEST(served_by(overlay) == 1U);
  }
  BOOST_TEST(std::filesystem::is_empty(own.path));
#endif
  clReleaseContext(scene.context);
  scene.context = both;
}

BOOST_AUTO_TEST_CASE(AnOverlayThatCannotBeIsRefused) {
  clbake_error error{};
  clbake_overlay* overlay = nullptr;
  check_refused(clbake_overlay_open(nullptr, CLBAKE_OVERLAY_READ_ONLY, 0, &overlay, &error), error,
                CLBAKE_ARGUMENT_DIRECTORY, "directory is null");
  check_refused(clbake_overlay_open("any", CLBAKE_OVERLAY_READ_ONLY, 0, nullptr, &error), error, CLBAKE_ARGUMENT_OUTPUT,
                "overlay is null");
  check_refused(clbake_overlay_open("", CLBAKE_OVERLAY_READ_ONLY, 0, &overlay, &error), error,
                CLBAKE_ARGUMENT_DIRECTORY, "directory");
  clbake_overlay_mode mode{};
  check_refused(clbake_overlay_open("any", mode, 0, &overlay, &error), error, CLBAKE_ARGUMENT_OPTIONS, "mode");
  for (const char* shared : {static_cast<const char*>(nullptr), ""}) {
    check_refused(clbake_overlay_open_shared(shared, nullptr, nullptr, mode, 0, &overlay, &error), error,
                  CLBAKE_ARGUMENT_DIRECTORY, "shared");
  }
  check_refused(clbake_overlay_open_shared("any", nullptr, "any", mode, 0, &overlay, &error), error,
                CLBAKE_ARGUMENT_OPTIONS, "mode");
  BOOST_TEST(clbake_overlay_open_shared("/", "no-such-user", nullptr, mode, 0, &overlay, &error) == CLBAKE_IO);
  BOOST_TEST(overlay == nullptr);
}

BOOST_AUTO_TEST_CASE(TheUsersCacheDirectoryNeedsRoom) {
  const std::string caches = os::is_absolute("/caches") ? "/caches" : "C:/caches";
  for (const char* name : {"XDG_CACHE_HOME", "LOCALAPPDATA"}) BOOST_REQUIRE(os::set_variable(name, caches));
  clbake_error error{};
  const std::string wanted = caches + "/mine/clbake";
  std::vector<char> path(wanted.size() + 2, '#');
  check_refused(clbake_user_cache_directory(nullptr, path.data(), path.size(), &error), error, CLBAKE_ARGUMENT_OTHER,
                "application is null");
  check_refused(clbake_user_cache_directory("mine", nullptr, path.size(), &error), error, CLBAKE_ARGUMENT_OUTPUT,
                "path is null");
  check_refused(clbake_user_cache_directory("a/b", path.data(), path.size(), &error), error, CLBAKE_ARGUMENT_OTHER,
                "a/b");
  check_refused(clbake_user_cache_directory("mine", path.data(), wanted.size(), &error), error, CLBAKE_ARGUMENT_OUTPUT,
                std::to_string(wanted.size() + 1));
  BOOST_TEST(std::string(path.begin(), path.end()) == std::string(path.size(), '#'));
  BOOST_TEST(clbake_user_cache_directory("mine", path.data(), wanted.size() + 1, &error) == CLBAKE_OK);
  BOOST_TEST(std::string(path.data()) == wanted);
  BOOST_TEST(path.back() == '#');
}

BOOST_AUTO_TEST_CASE(WarmTellsHowFarItIsAndStops) {
  CScene scene;
  clbake_error& error = scene.error;
  const CLibrary library(scene);
  const clbake_problem problems[2] = {c_problem_of(Case::native), c_problem_of(Case::source)};
  struct Told {
    std::size_t calls, done, total, most;
  };
  const auto progress = [](std::size_t done, std::size_t total, double seconds_left, void* data) {
    auto& told = *static_cast<Told*>(data);
    BOOST_TEST((seconds_left == 0) == (done == 0 || done == total));
    ++told.calls;
    told.done = done;
    told.total = total;
    return told.calls < told.most ? 1 : 0;
  };
  Told told = {0, 0, 0, 2};
  BOOST_TEST(clbake_library_warm(library, problems, 2, progress, &told, &error) == CLBAKE_CANCELLED);
  BOOST_TEST(std::string(error.message) == "warm was stopped after 1 of 2 problems");
  BOOST_TEST(counters_of(library).native == 1U);
  BOOST_TEST(counters_of(library).source == 0U);
  told = {0, 0, 0, 9};
  BOOST_TEST(clbake_library_warm(library, problems, 2, progress, &told, &error) == CLBAKE_OK);
  BOOST_TEST(told.calls == 3U);
  BOOST_TEST(told.done == 2U);
  BOOST_TEST(told.total == 2U);
  BOOST_TEST(counters_of(library).source == 1U);
  // A failure counts more than the stop; at the end there is nothing left to stop.
  clbake_problem impossible = problems[0];
  impossible.lda = 1;
  told = {0, 0, 0, 2};
  const clbake_problem after_failure[2] = {impossible, problems[1]};
  BOOST_TEST(clbake_library_warm(library, after_failure, 2, progress, &told, &error) == CLBAKE_INVALID_ARGUMENT);
  told = {0, 0, 0, 2};
  BOOST_TEST(clbake_library_warm(library, problems, 1, progress, &told, &error) == CLBAKE_OK);
}

BOOST_AUTO_TEST_CASE(ALibraryIsFreedWithItsLastReference) {
  {
    CScene scene;
    clbake_library* library = nullptr;
    BOOST_REQUIRE(clbake_library_create(scene.context, scene.device, &scene.bundle, 1, nullptr, &library,
                                        &scene.error) == CLBAKE_OK);
    BOOST_TEST(clbake_library_retain(library) == library);
    clbake_library_release(library);
    const clbake_problem problem = c_problem_of(Case::native);
    BOOST_TEST(clbake_library_contains(library, &problem) == 1);
    clbake_library_release(library);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(AMessageIsCutWhereItIsLonger) {
  clbake_error error{};
  clbake_bundle* bundle = nullptr;
  const std::string path = "/no-such-place/" + std::string(3000, 'x');
  BOOST_TEST(clbake_bundle_open(path.c_str(), &bundle, &error) == CLBAKE_NOT_FOUND);
  BOOST_TEST(std::strlen(error.message) == sizeof error.message - 1);
  BOOST_TEST(std::string(error.message).find("/no-such-place/xxx") != std::string::npos);
  BOOST_TEST(bundle == nullptr);
}

BOOST_AUTO_TEST_CASE(PreloadNeedsAPlatform) {
  const Scene scene;
  clbake_error error{};
  cl_platform_id platform = nullptr;
  BOOST_REQUIRE(clGetPlatformIDs(1, &platform, nullptr) == CL_SUCCESS);
  check_refused(clbake_preload(nullptr, &error), error, CLBAKE_ARGUMENT_PLATFORM, "platform is null");
  BOOST_TEST(clbake_preload(platform, &error) == CLBAKE_OK);
  fake::fail(fake::Function::clGetPlatformInfo, 0, CL_INVALID_PLATFORM);
  BOOST_TEST(clbake_preload(platform, &error) == CLBAKE_OPENCL);
  BOOST_TEST(error.opencl_code == CL_INVALID_PLATFORM);
  BOOST_TEST(error.argument == CLBAKE_ARGUMENT_NONE);
  fake::fail_nothing();
  BOOST_REQUIRE(os::set_variable("FAKE_OPENCL_PLATFORM", "NVIDIA CUDA"));
  const bool there = os::open_library("libnvidia-nvvm.so.4").ok();
  BOOST_TEST(clbake_preload(platform, &error) == (there ? CLBAKE_OK : CLBAKE_NOT_FOUND));
  if (!there) BOOST_TEST(std::string(error.message).find("libnvidia-nvvm") != std::string::npos);
  os::unset_variable("FAKE_OPENCL_PLATFORM");
}
