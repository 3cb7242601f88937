// Programs that a bundle has: the application sees what it would see without the layer, but nothing is compiled.
#include "layer/layer_scene.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

using namespace clbake;
using namespace clbake::test;

namespace {

// A program's own view of OpenCL: the same calls above the layer and above the driver, and what they answer.
class Transcript {
 public:
  explicit Transcript(const cl_icd_dispatch* layer) : layer_(layer) {}

#define CALL(name, ...) note(#name, layer_ ? layer_->name(__VA_ARGS__) : ::name(__VA_ARGS__))
#define MAKE(name, ...) (layer_ ? layer_->name(__VA_ARGS__) : ::name(__VA_ARGS__))

  std::string of_a_program(const Scene& scene) {
    cl_int error = CL_SUCCESS;
    const char* parts[] = {"kernel void ", "mine() {}__"};
    const std::size_t lengths[] = {0, 9};
    const cl_program program = MAKE(clCreateProgramWithSource, scene.context, 2, parts, lengths, &error);
    program_ = program;
    describe("created", scene);
    CALL(clBuildProgram, program, 0, &scene.device, kOptions, nullptr, nullptr);  // wrong
    CALL(clBuildProgram, program, 1, nullptr, kOptions, nullptr, nullptr);        // wrong
    CALL(clBuildProgram, program, 0, nullptr, kOptions, nullptr, nullptr);
    describe("built", scene);
    const cl_kernel kernel = MAKE(clCreateKernel, program, "clbake_reduce", &error);
    note("clCreateKernel", error);
    MAKE(clCreateKernel, program, "missing", &error);
    note("clCreateKernel missing", error);
    MAKE(clCreateKernel, program, nullptr, &error);
    note("clCreateKernel null", error);
    describe("with a kernel", scene);
    describe(kernel);
    cl_kernel kernels[3] = {};
    cl_uint count = 0;
    CALL(clCreateKernelsInProgram, program, 1, kernels, &count);  // too few
    CALL(clCreateKernelsInProgram, program, 3, kernels, &count);
    number("kernels", count);
    const cl_kernel clone = MAKE(clCloneKernel, kernel, &error);
    describe(clone);
    describe("with four kernels", scene);
    CALL(clBuildProgram, program, 0, nullptr, "-DSPLIT_K=1", nullptr, nullptr);
    describe("not built again", scene);
    CALL(clRetainKernel, clone);
    describe(clone);
    for (const cl_kernel one : {kernels[0], kernels[1], clone, clone}) CALL(clReleaseKernel, one);
    describe("with one kernel", scene);
    CALL(clReleaseProgram, program);
    describe("held by its kernel", scene);
    CALL(clRetainProgram, program);
    describe("retained again", scene);
    CALL(clReleaseKernel, kernel);
    describe("without kernels", scene);
    CALL(clBuildProgram, program, 0, nullptr, "-DSPLIT_K=1", nullptr, nullptr);
    describe("built again", scene);
    CALL(clBuildProgram, program, 1, &scene.other_device, "-DSPLIT_K=1", nullptr, nullptr);
    describe("built for one device", scene);
    CALL(clReleaseProgram, program);
    return text_.str();
  }

 private:
  void note(const char* what, cl_int error) { text_ << what << ": " << error << "\n"; }
  void number(const char* what, std::size_t number) { text_ << what << " = " << number << "\n"; }

  void info(const char* name, cl_program_info what) {
    unsigned char bytes[512] = {};
    std::size_t size = 0;
    const cl_int error = MAKE(clGetProgramInfo, program_, what, sizeof bytes, bytes, &size);
    text_ << "  " << name << ": " << error;
    if (error == CL_SUCCESS) text_ << ", " << std::string(bytes, bytes + size);
    text_ << "\n";
  }

  void build_info(const char* name, cl_device_id device, cl_program_build_info what) {
    unsigned char bytes[512] = {};
    std::size_t size = 0;
    const cl_int error = MAKE(clGetProgramBuildInfo, program_, device, what, sizeof bytes, bytes, &size);
    text_ << "  " << name << ": " << error << ", " << std::string(bytes, bytes + (error == CL_SUCCESS ? size : 0))
          << "\n";
    text_ << "    too small: " << MAKE(clGetProgramBuildInfo, program_, device, what, 0, bytes, nullptr) << "\n";
  }

  void describe(const char* when, const Scene& scene) {
    text_ << when << "\n";
    info("references", CL_PROGRAM_REFERENCE_COUNT);
    info("source", CL_PROGRAM_SOURCE);
    info("devices", CL_PROGRAM_DEVICES);
    info("kernels", CL_PROGRAM_NUM_KERNELS);
    info("names", CL_PROGRAM_KERNEL_NAMES);
    info("sizes", CL_PROGRAM_BINARY_SIZES);
    for (const cl_device_id device : {scene.device, scene.other_device}) {
      build_info("status", device, CL_PROGRAM_BUILD_STATUS);
      build_info("options", device, CL_PROGRAM_BUILD_OPTIONS);
      build_info("log", device, CL_PROGRAM_BUILD_LOG);
      build_info("type", device, CL_PROGRAM_BINARY_TYPE);
    }
    std::vector<unsigned char> first(200), second(200);
    unsigned char* binaries[] = {first.data(), second.data()};
    CALL(clGetProgramInfo, program_, CL_PROGRAM_BINARIES, sizeof binaries, binaries, nullptr);
    text_ << "  " << first.data() << " " << second.data() << "\n";
  }

  void describe(cl_kernel kernel) {
    cl_program of = nullptr;
    cl_uint references = 0;
    char name[64] = {};
    CALL(clGetKernelInfo, kernel, CL_KERNEL_PROGRAM, sizeof of, &of, nullptr);
    CALL(clGetKernelInfo, kernel, CL_KERNEL_REFERENCE_COUNT, sizeof references, &references, nullptr);
    CALL(clGetKernelInfo, kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, nullptr);
    text_ << "  " << name << ", " << references << (of == program_ ? " of this program" : " of another one") << "\n";
  }

  const cl_icd_dispatch* layer_;
  cl_program program_ = nullptr;
  std::ostringstream text_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(AServedProgramIsNotCompiled) {
  {
    const Served served;
    const LayerScene& scene = served.scene;
    const cl_program program = scene.build(kSource, kOptions);
    const cl_kernel kernel = scene.kernel(program);
    BOOST_TEST(fake::compilations() == 0U);
    BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 1U);
    BOOST_TEST(scene.log_lines() == 1U);
    BOOST_TEST(has(scene.log(), "is from " + served.path));
    BOOST_TEST(scene.program_of(kernel) == program);
    scene.cl().clReleaseKernel(kernel);
    scene.cl().clReleaseProgram(program);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(AProgramSeesWhatItWouldSeeWithoutTheLayer) {
  std::string without, with;
  {
    const Scene scene;
    without = Transcript(nullptr).of_a_program(scene);
  }
  check_nothing_is_left();
  {
    const Served served;
    with = Transcript(&served.scene.cl()).of_a_program(served.scene);
    BOOST_TEST(fake::compilations() == 0U);  // not even for the kernel that there is not
  }
  check_nothing_is_left();
  std::istringstream left(with), right(without);
  for (std::string a, b; std::getline(left, a) && std::getline(right, b);) BOOST_REQUIRE_EQUAL(a, b);
  BOOST_TEST(with.size() == without.size());
}

BOOST_AUTO_TEST_CASE(TheLogOfTheBakedBuildIsAnswered) {
  {
    tests::TemporaryDirectory directory;
    cache::Contents contents = contents_of({text_of(kSource, kOptions)}, {0, 1});
    for (cache::Entry& entry : contents.entries) entry.proof.log = "warning: mine";
    write_contents(directory.file("app.clbake"), contents);
    const LayerScene scene({{"CLBAKE_BUNDLE", directory.file("app.clbake")}});
    const cl_program program = scene.build(kSource, kOptions);
    BOOST_TEST(scene.build_text(program, CL_PROGRAM_BUILD_LOG) == "warning: mine");
    scene.cl().clReleaseProgram(program);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(AProgramForOneOfTwoDevicesIsServed) {
  {
    const Served served;
    const LayerScene& scene = served.scene;
    const cl_program program = scene.build(kSource, kOptions, {scene.other_device});
    BOOST_TEST(fake::compilations() == 0U);
    scene.cl().clReleaseProgram(program);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(TheCallbackHearsOfTheApplicationsProgram) {
  for (const bool in_thread : {false, true}) {
    {
      const Served served;
      const LayerScene& scene = served.scene;
      fake::set_reports_in_threads(in_thread);
      struct Heard {
        const LayerScene& scene;
        std::atomic<cl_program> program{nullptr};
      } heard{scene};
      const cl_program program = scene.create(kSource);
      // The application may have released the program, which it can still use here.
      const auto notify = [](cl_program of, void* data) {
        auto& to = *static_cast<Heard*>(data);
        to.scene.cl().clReleaseKernel(to.scene.kernel(of));
        to.program = of;
      };
      BOOST_TEST(scene.cl().clBuildProgram(program, 0, nullptr, kOptions, notify, &heard) == CL_SUCCESS);
      scene.cl().clReleaseProgram(program);  // the driver keeps it until it has reported
      fake::finish_reports();
      BOOST_TEST(heard.program == program);
      BOOST_TEST(fake::compilations() == 0U);
    }
    check_nothing_is_left();
  }
}

BOOST_AUTO_TEST_CASE(ExtensionsGetTheProgramThatTheDriverBuilt) {
  {
    const Served served;
    const LayerScene& scene = served.scene;
    using Variable = cl_int(cl_device_id, cl_program, const char*, std::size_t*, void**);
    auto* const variable = reinterpret_cast<Variable*>(
        scene.cl().clGetExtensionFunctionAddressForPlatform(nullptr, "clGetDeviceGlobalVariablePointerINTEL"));
    for (const bool hit : {true, false}) {
      const cl_program program = scene.build(kSource, hit ? kOptions : "-DSPLIT_K=3");
      void* pointer = nullptr;
      BOOST_TEST(variable(scene.device, program, "v", nullptr, &pointer) == CL_SUCCESS);
      BOOST_TEST((pointer == program) != hit);
      scene.cl().clReleaseProgram(program);
    }
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(ArgumentsOfKernelsAreAnsweredFromTheSource) {
  {
    const Served served;
    const LayerScene& scene = served.scene;
    const cl_program program = scene.build(kSource, kOptions);
    const cl_kernel kernel = scene.kernel(program);
    for (cl_uint i = 0; i < 2; ++i) {
      char name[32] = {};
      BOOST_TEST(scene.cl().clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof name, name, nullptr) ==
                 CL_SUCCESS);
      BOOST_TEST(name == "argument_" + std::to_string(i));
    }
    BOOST_TEST(fake::compilations() == 2U);  // once, for two devices
    BOOST_TEST(scene.references(program) == 2U);
    BOOST_TEST(scene.cl().clGetKernelArgInfo(kernel, 99, CL_KERNEL_ARG_NAME, 0, nullptr, nullptr) ==
               CL_INVALID_ARG_INDEX);
    scene.cl().clReleaseProgram(program);
    scene.cl().clReleaseKernel(kernel);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(SpirvIsServedByEitherFunction) {
  ProgramText text;
  text.il = std::string("\x03\x02\x23\x07spirv", 9);
  {
    tests::TemporaryDirectory directory;
    write_bundle(directory.file("app.clbake"), {text}, {0, 1});
    const LayerScene scene({{"CLBAKE_BUNDLE", directory.file("app.clbake")}});
    cl_platform_id platform = nullptr;
    scene.cl().clGetPlatformIDs(1, &platform, nullptr);
    const auto extension = reinterpret_cast<clCreateProgramWithILKHR_fn>(
        scene.cl().clGetExtensionFunctionAddressForPlatform(platform, "clCreateProgramWithILKHR"));
    for (const auto create : {scene.cl().clCreateProgramWithIL, extension}) {
      const cl_program program = create(scene.context, text.il.data(), text.il.size(), nullptr);
      BOOST_TEST(scene.cl().clBuildProgram(program, 0, nullptr, "", nullptr, nullptr) == CL_SUCCESS);
      scene.cl().clReleaseProgram(program);
    }
    BOOST_TEST(fake::compilations() == 0U);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(LinkedProgramsAreServed) {
  ProgramText first = text_of("int one() { return 1; }", "-DA"), second = text_of(kSource, kOptions), linked;
  second.headers = {{"a.h", "#define A"}};
  linked.parts = {first, second};
  linked.options = "-DLINKED";
  {
    tests::TemporaryDirectory directory;
    write_bundle(directory.file("app.clbake"), {linked}, {0, 1});
    for (const bool hit : {true, false}) {
      const LayerScene scene({{"CLBAKE_BUNDLE", directory.file("app.clbake")}});
      const cl_icd_dispatch& cl = scene.cl();
      const cl_program header = scene.create("#define A"), one = scene.create(first.sources[0]),
                       two = scene.create(kSource);
      const char* name = "a.h";
      BOOST_TEST(cl.clCompileProgram(one, 0, nullptr, "-DA", 0, nullptr, nullptr, nullptr, nullptr) == CL_SUCCESS);
      BOOST_TEST(cl.clCompileProgram(two, 0, nullptr, kOptions, 1, &header, &name, nullptr, nullptr) == CL_SUCCESS);
      cl.clReleaseProgram(header);
      BOOST_TEST(scene.build_text(one, CL_PROGRAM_BUILD_OPTIONS) == "-DA");
      const cl_program parts[] = {one, two};
      cl_int error = CL_SUCCESS;
      const cl_program program =
          cl.clLinkProgram(scene.context, 0, nullptr, hit ? "-DLINKED" : "-DOTHER", 2, parts, nullptr, nullptr, &error);
      BOOST_TEST(error == CL_SUCCESS);
      BOOST_TEST(fake::compilations() == (hit ? 0U : 2U));
      BOOST_TEST(fake::calls(fake::Function::clCompileProgram) == (hit ? 0U : 2U));
      BOOST_TEST(scene.build_text(program, CL_PROGRAM_BUILD_OPTIONS) == (hit ? "-DLINKED" : "-DSPLIT_K=2 -DOTHER"));
      const cl_kernel kernel = scene.kernel(program, "clbake_reduce");
      BOOST_TEST(scene.program_of(kernel) == program);
      BOOST_TEST(scene.references(program) == 2U);
      char argument[32] = {};
      BOOST_TEST(cl.clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_NAME, sizeof argument, argument, nullptr) ==
                 CL_SUCCESS);
      BOOST_TEST(std::string(argument) == "argument_0");
      for (const cl_program each : {one, two, program}) cl.clReleaseProgram(each);
      cl.clReleaseKernel(kernel);
    }
  }
  check_nothing_is_left();
}

// Parts that are compiled later are what they were when the application compiled them.
BOOST_AUTO_TEST_CASE(APartIsCompiledFromTheFilesOfItsTime) {
  {
    tests::TemporaryDirectory directory;
    const auto write = [&](const std::string& text) { std::ofstream(directory.file("a.h")) << text; };
    write("#define EARLY");
    const std::string source = "#include \"a.h\"", options = "-DSPLIT_K=2 -I " + directory.path;
    ProgramText linked;
    linked.parts = {text_of(source, options)};
    write_bundle(directory.file("app.clbake"), {linked}, {0, 1});
    const LayerScene scene({{"CLBAKE_BUNDLE", directory.file("app.clbake")}});
    const cl_icd_dispatch& cl = scene.cl();
    for (const bool hit : {true, false}) {
      write("#define EARLY");
      std::string seen;
      fake::set_witness([&](const std::string& bytes) { seen += bytes; });
      const cl_program part = scene.create(source);
      BOOST_TEST(cl.clCompileProgram(part, 0, nullptr, options.c_str(), 0, nullptr, nullptr, nullptr, nullptr) ==
                 CL_SUCCESS);
      write("#define LATE");
      cl_int error = CL_SUCCESS;
      const cl_program program =
          cl.clLinkProgram(scene.context, 0, nullptr, hit ? "" : "-DOTHER", 1, &part, nullptr, nullptr, &error);
      BOOST_TEST(error == CL_SUCCESS);
      BOOST_TEST(fake::compilations() == (hit ? 0U : 2U));
      BOOST_TEST(has(seen, "EARLY") == !hit);
      BOOST_TEST(scene.build_text(part, CL_PROGRAM_BUILD_OPTIONS) == options);
      for (const cl_program each : {part, program}) cl.clReleaseProgram(each);
    }
    fake::set_witness(nullptr);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(ManyThreadsAreServedAtOnce) {
  {
    const Served served;
    const LayerScene& scene = served.scene;
    const cl_program shared = scene.build(kSource, kOptions);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        const cl_icd_dispatch& cl = scene.cl();
        for (int i = 0; i < 50; ++i) {
          const char* text = kSource;
          const cl_program mine = cl.clCreateProgramWithSource(scene.context, 1, &text, nullptr, nullptr);
          wrong +=
              cl.clBuildProgram(mine, 0, nullptr, t % 2 ? kOptions : "-DSPLIT_K=1", nullptr, nullptr) != CL_SUCCESS;
          const cl_program of = i % 2 ? mine : shared;
          const cl_kernel kernel = cl.clCreateKernel(of, "clbake_gemm", nullptr);
          cl_program found = nullptr;
          cl.clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof found, &found, nullptr);
          wrong += found != of;
          cl.clReleaseProgram(mine);
          cl.clRetainKernel(kernel);
          cl.clReleaseKernel(kernel);
          cl.clReleaseKernel(kernel);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    BOOST_TEST(wrong == 0);
    BOOST_TEST(fake::compilations() == 0U);
    BOOST_TEST(scene.references(shared) == 1U);
    scene.cl().clReleaseProgram(shared);
  }
  check_nothing_is_left();
}

// Tables of older and newer loaders.
BOOST_AUTO_TEST_CASE(TheTableHasAsManyEntriesAsTheLoaders) {
  const cl_uint known = sizeof(cl_icd_dispatch) / sizeof(void*);
  for (const cl_uint entries : {known - 20, known}) {
    const LayerScene scene({{"CLBAKE_BUNDLE", "/missing.clbake"}}, entries);
    BOOST_TEST(scene.entries() == entries);
    BOOST_TEST((scene.cl().clBuildProgram != &clBuildProgram));
    BOOST_TEST((scene.cl().clEnqueueReadBuffer == &clEnqueueReadBuffer));
  }
}

BOOST_AUTO_TEST_CASE(WithoutBundleAndOverlayNothingIsReplaced) {
  const LayerScene scene({});
  BOOST_TEST((scene.cl().clBuildProgram == &clBuildProgram));
}
