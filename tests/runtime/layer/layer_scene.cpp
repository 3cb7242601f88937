#include "layer/layer_scene.hpp"

#include <clbake/cache/writer.hpp>
#include <clbake/clbake.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/os/libraries.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace clbake::test {
namespace {

// As clGetDeviceGlobalVariablePointerINTEL: every variable is the program itself.
cl_int variable_pointer(cl_device_id /*device*/, cl_program program, const char* /*name*/, std::size_t* /*size*/,
                        void** pointer) {
  *pointer = program;
  return CL_SUCCESS;
}

// The loader's table above the fake driver. `launches`: kernels run, and need their arguments; else every launch
// succeeds.
cl_icd_dispatch fake_table(bool launches) {
  cl_icd_dispatch table = {};
#define FILL(name) table.name = name;
  FAKE_OPENCL_FUNCTIONS(FILL)
#undef FILL
  table.clGetExtensionFunctionAddressForPlatform = [](cl_platform_id, const char* name) -> void* {
    if (std::strcmp(name, "clCreateProgramWithILKHR") == 0) return reinterpret_cast<void*>(&clCreateProgramWithIL);
    const bool is_variable = std::strcmp(name, "clGetDeviceGlobalVariablePointerINTEL") == 0;
    return is_variable ? reinterpret_cast<void*>(&variable_pointer) : nullptr;
  };
  if (launches) return table;
  table.clEnqueueNDRangeKernel = [](cl_command_queue, cl_kernel, cl_uint, const std::size_t*, const std::size_t*,
                                    const std::size_t*, cl_uint, const cl_event*, cl_event*) { return CL_SUCCESS; };
  return table;
}

template <typename Function>
Function* symbol(os::LibraryHandle library, const char* name) {
  void* const found = os::symbol(library, name);
  BOOST_REQUIRE(found);
  return reinterpret_cast<Function*>(found);
}

cache::Variant variant_of(const ProgramText& text, std::uint32_t source) {
  cache::Variant variant;
  variant.name = content_name(*content_digest(text));
  variant.family = "program";
  variant.precision = no_precision;
  variant.contract = 1;
  variant.content = *content_digest(text);
  variant.parts = *part_digests(text);
  variant.build_options = text.options;
  variant.source = source;
  variant.launches = {{cache::Role::kernel, "clbake_gemm", {4, 1, 1}, 1, 1}};
  return variant;
}

// The options by which the fake driver's compiler builds the program.
std::string build_options(const ProgramText& text) {
  return text.parts.empty() ? text.options : text.parts.back().options + " " + text.options;
}

}  // namespace

ProgramText text_of(const std::string& source, const std::string& options) {
  ProgramText text;
  text.sources = {source};
  text.options = options;
  return text;
}

cache::Contents contents_of(const std::vector<ProgramText>& programs, const std::vector<int>& devices) {
  cl_device_id handles[2] = {};
  cl_platform_id platform = nullptr;
  clGetPlatformIDs(1, &platform, nullptr);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, handles, nullptr);
  cache::Contents all;
  for (const int device : devices) all.targets.push_back(*identify(handles[device]));
  for (const ProgramText& text : programs) {
    const auto index = static_cast<std::uint32_t>(all.variants.size());
    all.sources.push_back({"program" + std::to_string(index), encode(text)});
    all.variants.push_back(variant_of(text, index));
    for (std::size_t i = 0; i < devices.size(); ++i) {
      cache::Entry entry;
      entry.target = static_cast<std::uint32_t>(i);
      entry.variant = index;
      entry.program = fake::binary_for(devices[i], build_options(text));
      all.entries.push_back(entry);
    }
  }
  return all;
}

void write_contents(const std::string& path, const cache::Contents& contents) {
  const Result<cache::Bytes> bytes = cache::encode(contents, cache::Packing::plain);
  BOOST_REQUIRE_EQUAL(bytes.status().message(), "");
  const Status written = cache::write_file(path, {bytes->data(), bytes->size()});
  BOOST_REQUIRE_EQUAL(written.message(), "");
}

void write_bundle(const std::string& path, const std::vector<ProgramText>& programs, const std::vector<int>& devices) {
  write_contents(path, contents_of(programs, devices));
}

LayerScene::LayerScene(Environment environment, cl_uint entries) {
  environment.emplace("CLBAKE_OVERLAY", "off");
  environment.emplace("CLBAKE_LOG", directory_.file("log"));
  for (const auto& [name, value] : environment) os::set_variable(name, value);
  // A copy is another library, with variables of its own.
  const std::string copy = directory_.file("layer.so");
  std::filesystem::copy_file(CLBAKE_LAYER, copy);
  const Result<os::LibraryHandle> library = os::open_library(copy);
  BOOST_REQUIRE_MESSAGE(library.ok(), library.status().message());
  // The first scene of a test program decides for all.
  static const cl_icd_dispatch below = fake_table(environment.count("CLBAKE_RECORD") != 0);
  const cl_uint all = sizeof below / sizeof(void*);
  const cl_int error =
      symbol<decltype(clInitLayer)>(*library, "clInitLayer")(entries == 0 ? all : entries, &below, &entries_, &table_);
  BOOST_REQUIRE_EQUAL(error, CL_SUCCESS);
  for (const auto& [name, value] : environment) os::unset_variable(name);
  fake::forget_calls();
}

std::string LayerScene::log() const {
  std::ifstream file(directory_.file("log"));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t LayerScene::log_lines() const {
  const std::string text = log();
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

cl_program LayerScene::create(const std::string& source) const {
  const char* text = source.c_str();
  cl_int error = CL_SUCCESS;
  const cl_program program = cl().clCreateProgramWithSource(context, 1, &text, nullptr, &error);
  BOOST_REQUIRE_EQUAL(error, CL_SUCCESS);
  return program;
}

cl_program LayerScene::build(const std::string& source, const std::string& options,
                             std::vector<cl_device_id> devices) const {
  const cl_program program = create(source);
  const cl_int error =
      cl().clBuildProgram(program, static_cast<cl_uint>(devices.size()), devices.empty() ? nullptr : devices.data(),
                          options.c_str(), nullptr, nullptr);
  BOOST_REQUIRE_EQUAL(error, CL_SUCCESS);
  return program;
}

cl_kernel LayerScene::kernel(cl_program program, const char* name) const {
  cl_int error = CL_SUCCESS;
  const cl_kernel kernel = cl().clCreateKernel(program, name, &error);
  BOOST_REQUIRE_EQUAL(error, CL_SUCCESS);
  return kernel;
}

std::string LayerScene::build_text(cl_program program, cl_program_build_info what) const {
  char text[256] = {};
  BOOST_TEST(cl().clGetProgramBuildInfo(program, device, what, sizeof text, text, nullptr) == CL_SUCCESS);
  return text;
}

cl_uint LayerScene::references(cl_program program) const {
  cl_uint count = 0;
  BOOST_TEST(cl().clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof count, &count, nullptr) == CL_SUCCESS);
  return count;
}

cl_program LayerScene::program_of(cl_kernel kernel) const {
  cl_program program = nullptr;
  BOOST_TEST(cl().clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr) == CL_SUCCESS);
  return program;
}

}  // namespace clbake::test
