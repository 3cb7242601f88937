// Programs that the settings have nothing for run as without clbake, and one line of the log says why.
#include "layer/layer_scene.hpp"

#include <clbake/os/environment.hpp>
#include <clbake/os/libraries.hpp>
#include <clbake/os/paths.hpp>

#include <filesystem>
#include <fstream>

using namespace clbake;
using namespace clbake::test;

namespace {

using Write = void (*)(const std::string& path);

void for_both(const std::string& path) { write_bundle(path, {text_of(kSource, kOptions)}, {0, 1}); }

void for_several(const std::string& path) {
  write_bundle(
      path,
      {text_of(kSource, kOptions), text_of(std::string("#line 1 \"mine.cl\"\n") + kSource + "\n", "-DSPLIT_K=3 -DA")},
      {0, 1});
}

void with_file(const std::string& path) {
  ProgramText text = text_of("#include <absent.h>\n", kOptions);
  text.headers = {{"absent.h", kSource}};
  write_bundle(path, {text}, {0, 1});
}

void damaged(const std::string& path) {
  for_both(path);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), {});
  file.seekp(static_cast<std::streamoff>(all.find("fake binary")));
  file.put('F');
}

}  // namespace

// On Windows its drive is that of the working folder.
BOOST_AUTO_TEST_CASE(APathMayBeginAtTheRoot) {
  {
    const LayerScene scene({{"CLBAKE_BUNDLE", std::string("/none.clbake")}});
    scene.cl().clReleaseProgram(scene.build(kSource, kOptions));
    BOOST_TEST(has(scene.log(), " " + os::absolute_path("/none.clbake") + ":"), scene.log());
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(AMissIsCompiledAndLoggedOnce) {
  struct Case {
    const char* what;
    Write write;
    const char* source;
    const char* options;
    const char* line;
  };
  const Case cases[] = {
      {"no file", [](const std::string&) {}, kSource, kOptions, "app.clbake"},
      {"no bundle", [](const std::string& path) { std::ofstream(path) << "text"; }, kSource, kOptions, "app.clbake"},
      {"damaged", damaged, kSource, kOptions, "checksum"},
      {"another device", [](const std::string& path) { write_bundle(path, {text_of(kSource, kOptions)}, {0}); },
       kSource, kOptions, "nothing baked for this device, only for "},
      {"another byte", for_both, "kernel void mine() {;}", kOptions, "neither a bundle"},
      {"other options", for_both, kSource, "-DSPLIT_K=3", "app.clbake has this source with options '-DSPLIT_K=2'"},
      {"the closest options", for_several, kSource, "-DSPLIT_K=3 -DB", "with options '-DSPLIT_K=3 -DA'"},
      {"another included file", with_file, "#include <absent.h>\n", kOptions,
       "these options, but another included file"},
      {"an option that hides a file", for_both, kSource, "-include x.h", "-include"},
  };
  for (const Case& one : cases) {
    {
      tests::TemporaryDirectory directory;
      one.write(directory.file("app.clbake"));
      const LayerScene scene({{"CLBAKE_BUNDLE", directory.file("app.clbake")}});
      const cl_program program = scene.build(one.source, one.options);
      const cl_kernel kernel = scene.kernel(program);
      BOOST_TEST_INFO(one.what << ": " << scene.log());
      BOOST_TEST(fake::compilations() == 2U);
      BOOST_TEST_INFO(one.what << ": " << scene.log());
      BOOST_TEST(has(scene.log(), one.line));
      BOOST_TEST(has(scene.log(), "compiled by the driver"));
      scene.cl().clReleaseKernel(kernel);
      scene.cl().clReleaseProgram(program);
    }
    check_nothing_is_left();
  }
}

BOOST_AUTO_TEST_CASE(OptionsOfTheEnvironmentLeaveProgramsToTheDriver) {
  for (const char* name : {"POCL_EXTRA_BUILD_FLAGS", "AMD_OCL_BUILD_OPTIONS"}) {
    {
      tests::TemporaryDirectory directory;
      for_both(directory.file("app.clbake"));
      const LayerScene scene({{"CLBAKE_BUNDLE", directory.file("app.clbake")}});
      os::set_variable(name, "-DK=7");  // as the program itself may do
      const cl_program program = scene.build(kSource, kOptions);
      os::unset_variable(name);
      BOOST_TEST(fake::compilations() == 2U);
      BOOST_TEST(has(scene.log(), name));
      scene.cl().clReleaseProgram(program);
    }
    check_nothing_is_left();
  }
}

BOOST_AUTO_TEST_CASE(ABundleThatNoKeySignedServesNothing) {
  {
    tests::TemporaryDirectory directory;
    for_both(directory.file("app.clbake"));
    const std::string key = "58" + std::string(62, '6');
    const LayerScene scene({{"CLBAKE_BUNDLE", directory.file("app.clbake")}, {"CLBAKE_TRUST", key}});
    scene.cl().clReleaseProgram(scene.build(kSource, kOptions));
    BOOST_TEST(fake::compilations() == 2U);
    BOOST_TEST(has(scene.log(), directory.file("app.clbake")));
    BOOST_TEST(has(scene.log(), "not trusted"));
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(ASourceThatDoesNotCompileFailsWithItsLog) {
  {
    tests::TemporaryDirectory directory;
    for_both(directory.file("app.clbake"));
    const LayerScene scene({{"CLBAKE_BUNDLE", directory.file("app.clbake")}});
    const cl_program program = scene.create("#error mine");
    BOOST_TEST(scene.cl().clBuildProgram(program, 0, nullptr, "", nullptr, nullptr) == CL_BUILD_PROGRAM_FAILURE);
    BOOST_TEST(scene.build_text(program, CL_PROGRAM_BUILD_LOG) == "#error mine");
    cl_build_status status = CL_BUILD_SUCCESS;
    scene.cl().clGetProgramBuildInfo(program, scene.device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr);
    BOOST_TEST(status == CL_BUILD_ERROR);
    cl_int error = CL_SUCCESS;
    BOOST_TEST(!scene.cl().clCreateKernel(program, "clbake_gemm", &error));
    BOOST_TEST(error == CL_INVALID_PROGRAM_EXECUTABLE);
    scene.cl().clReleaseProgram(program);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(ACallThatIsWrongFailsAsWithoutTheLayer) {
  {
    tests::TemporaryDirectory directory;
    for_both(directory.file("app.clbake"));
    const LayerScene scene({{"CLBAKE_BUNDLE", directory.file("app.clbake")}});
    const cl_icd_dispatch& cl = scene.cl();
    cl_int error = CL_SUCCESS;
    BOOST_TEST(!cl.clCreateProgramWithSource(scene.context, 0, nullptr, nullptr, &error));
    BOOST_TEST(error == CL_INVALID_VALUE);
    BOOST_TEST(!cl.clCreateProgramWithSource(scene.context, 0, nullptr, nullptr, nullptr));
    BOOST_TEST(cl.clBuildProgram(nullptr, 0, nullptr, "", nullptr, nullptr) == CL_INVALID_PROGRAM);
    BOOST_TEST(cl.clRetainProgram(nullptr) == CL_INVALID_PROGRAM);
    BOOST_TEST(cl.clReleaseProgram(nullptr) == CL_INVALID_PROGRAM);
    BOOST_TEST(cl.clRetainKernel(nullptr) == CL_INVALID_KERNEL);
    BOOST_TEST(cl.clReleaseKernel(nullptr) == CL_INVALID_KERNEL);
    BOOST_TEST(!cl.clCreateKernel(nullptr, "clbake_gemm", &error));
    BOOST_TEST(error == CL_INVALID_PROGRAM);
    BOOST_TEST(!cl.clLinkProgram(scene.context, 0, nullptr, "", 0, nullptr, nullptr, nullptr, &error));
    BOOST_TEST(error == CL_INVALID_VALUE);
    const cl_program program = scene.create(kSource);
    const cl_device_id none = nullptr;
    BOOST_TEST(cl.clBuildProgram(program, 1, &none, kOptions, nullptr, nullptr) == CL_INVALID_DEVICE);
    cl.clReleaseProgram(program);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(ALoaderThatGivesPropertiesGetsTheSameTable) {
  const tests::TemporaryDirectory directory;
  std::filesystem::copy_file(CLBAKE_LAYER, directory.file("layer.so"));
  const Result<os::LibraryHandle> library = os::open_library(directory.file("layer.so"));
  BOOST_REQUIRE_MESSAGE(library.ok(), library.status().message());
  using Init = cl_int(cl_uint, const cl_icd_dispatch*, cl_uint*, const cl_icd_dispatch**, const cl_properties*);
  auto* const init = reinterpret_cast<Init*>(os::symbol(*library, "clInitLayerWithProperties"));
  BOOST_REQUIRE(init);
  const LayerScene other({});  // of a library of its own
  const cl_icd_dispatch* table = nullptr;
  cl_uint entries = 0;
  os::set_variable("CLBAKE_BUNDLE", "app.clbake");
  BOOST_TEST(init(other.entries(), &other.cl(), &entries, &table, nullptr) == CL_SUCCESS);
  os::unset_variable("CLBAKE_BUNDLE");
  BOOST_TEST(entries == other.entries());
  BOOST_TEST((table && table->clBuildProgram != other.cl().clBuildProgram));
  BOOST_TEST((table && table->clFinish == other.cl().clFinish));
}
