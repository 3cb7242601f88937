// One layer of a transformer with weights of 4 bits: how long from an existing OpenCL context until its first result?
//
//   transformer BUNDLE [DEVICE]   a part of the device's or its platform's name; default: the first device
//
// Four products of packed weights and three kernels of the application's own, all from BUNDLE; what it lacks for the
// device is compiled, and the line says so. Prints milliseconds: until the first result is on the host, the library's
// start included; the median of ten later results. Each is checked against one in double precision. Exit status 1 when
// one is wrong, 77 without a device.
#include "model.hpp"

#include <clbake/clbake.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <future>
#include <string>

namespace {

using clbake::Result;
using Clock = std::chrono::steady_clock;

constexpr double kTolerance = 5e-3;  // halves between the products

int fail(const std::string& what) {
  std::fprintf(stderr, "transformer: %s\n", what.c_str());
  return 1;
}

// The first device whose platform's name and own name together contain `wanted`; null when there is none.
cl_device_id find_device(const std::string& wanted) {
  cl_platform_id platforms[16];
  cl_uint platform_count = 0;
  if (clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS) return nullptr;
  for (cl_uint p = 0; p < std::min(platform_count, 16U); ++p) {
    char platform[256] = "", name[256] = "";
    cl_device_id device = nullptr;
    clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof platform, platform, nullptr);
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) continue;
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, nullptr);
    if ((std::string(platform) + ' ' + name).find(wanted) != std::string::npos) return device;
  }
  return nullptr;
}

// The layer's programs, loaded.
struct Layer {
  std::vector<clbake::Gemm> products;  // to q, k and v; from all heads; to gate and up; from the hidden values
  cl_kernel norm = nullptr, attend = nullptr, gate = nullptr;
};

struct Buffers {
  cl_mem qkv, out, gate_up, down, gain_1, gain_2;  // the model's
  cl_mem x, normed, mixed, attended, halves, gated;
};

Result<Layer> load(const clbake::Library& library) {
  using clbake::Element;
  const clbake::Precision precision = clbake::mixed(Element::half, Element::q4, Element::half);
  constexpr std::size_t sizes[][2] = {{3 * width, width}, {width, width}, {2 * hidden, width}, {width, hidden}};
  std::vector<std::future<Result<clbake::Gemm>>> loading;  // side by side, as each driver call may wait for the disk
  for (const auto& [n, k] : sizes) {
    const clbake::Problem problem = clbake::make_problem({precision}, rows, n, k);
    loading.push_back(std::async(std::launch::async, [&library, problem] { return library.prepare(problem); }));
  }
  const Result<clbake::LoadedProgram> program = library.program("layer");
  Layer layer;
  for (auto& each : loading) {
    Result<clbake::Gemm> product = each.get();
    if (!product) return product.status();
    layer.products.push_back(std::move(*product));
  }
  if (!program) return program.status();
  const auto kernel = [&program](const char* name) { return clCreateKernel(program->get(), name, nullptr); };
  layer.norm = kernel("norm"), layer.attend = kernel("attend"), layer.gate = kernel("gate");
  return layer;
}

template <typename... Arguments>
bool launch(cl_command_queue queue, cl_kernel kernel, std::size_t x, std::size_t y, Arguments... arguments) {
  cl_uint index = 0;
  const bool set = ((clSetKernelArg(kernel, index++, sizeof arguments, &arguments) == CL_SUCCESS) && ...);
  const std::size_t global[] = {x, y}, local[] = {64, 1};
  const cl_uint dimensions = y > 1 ? 2 : 1;
  return set &&
         clEnqueueNDRangeKernel(queue, kernel, dimensions, nullptr, global, local, 0, nullptr, nullptr) == CL_SUCCESS;
}

bool enqueue(cl_command_queue queue, Layer& l, const Buffers& b) {
  const cl_int n = width, head = width / heads, f = hidden;
  const auto multiply = [&](std::size_t i, cl_mem x, cl_mem weights, double beta, cl_mem y) {
    return l.products[i].enqueue(queue, 1.0, {x}, {weights}, beta, {y}).ok();
  };
  return launch(queue, l.norm, rows * 64, 1, b.x, b.gain_1, b.normed, n) && multiply(0, b.normed, b.qkv, 0, b.mixed) &&
         launch(queue, l.attend, rows * 64, heads, b.mixed, b.attended, n, head) &&
         multiply(1, b.attended, b.out, 1, b.x) &&  // beta of 1: added to the layer's input
         launch(queue, l.norm, rows * 64, 1, b.x, b.gain_2, b.normed, n) &&
         multiply(2, b.normed, b.gate_up, 0, b.halves) &&
         launch(queue, l.gate, rows * hidden, 1, b.halves, b.gated, f) && multiply(3, b.gated, b.down, 1, b.x);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fail("usage: transformer BUNDLE [DEVICE]");
  cl_device_id device = find_device(argc > 2 ? argv[2] : "");
  if (!device) return fail("no such OpenCL device"), 77;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue queue = context ? clCreateCommandQueue(context, device, 0, nullptr) : nullptr;
  if (!queue) return fail("no context or no queue on the device");

  const Model model = make_model();
  std::vector<cl_mem> all;
  const auto upload = [&](const void* from, std::size_t bytes) {
    cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, nullptr);
    if (from) clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, bytes, from, 0, nullptr, nullptr);
    return all.emplace_back(memory);
  };
  const auto of = [&](const auto& values) { return upload(values.data(), values.size() * sizeof values[0]); };
  const auto halves = [&](std::size_t columns) { return upload(nullptr, rows * columns * sizeof(cl_half)); };
  const Buffers b{of(model.qkv), of(model.out), of(model.gate_up), of(model.down), of(model.gain_1),   of(model.gain_2),
                  halves(width), halves(width), halves(3 * width), halves(width),  halves(2 * hidden), halves(hidden)};

  std::vector<double> ms;
  Result<Layer> layer = Layer();
  while (ms.size() < 11) {
    std::vector<cl_half> result(rows * width);
    if (clEnqueueWriteBuffer(queue, b.x, CL_TRUE, 0, 2 * result.size(), model.input.data(), 0, nullptr, nullptr) !=
        CL_SUCCESS) {
      return fail("no memory on the device");
    }
    const Clock::time_point start = Clock::now();
    if (ms.empty()) {
      const Result<clbake::Bundle> bundle = clbake::Bundle::open(argv[1]);
      if (!bundle) return fail(bundle.status().message());
      const Result<clbake::Library> library = clbake::Library::create(context, device, {*bundle});
      if (!library) return fail(library.status().message());
      layer = load(*library);
      if (!layer) return fail(layer.status().message());
    }
    if (!enqueue(queue, *layer, b)) return fail("a call fails");
    if (clEnqueueReadBuffer(queue, b.x, CL_TRUE, 0, 2 * result.size(), result.data(), 0, nullptr, nullptr) !=
        CL_SUCCESS) {
      return fail("the result cannot be read");
    }
    ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    const double error = error_of(model, result);
    if (!(error <= kTolerance)) return fail("the result is wrong by " + std::to_string(error));
  }
  std::nth_element(ms.begin() + 1, ms.begin() + 6, ms.end());
  const bool is_native = layer->products[0].explanation().origin == clbake::Origin::native;
  std::printf("%s: right; ms: first %.2f later %.2f\n", is_native ? "from the bundle" : "compiled", ms[0], ms[6]);
  for (cl_kernel kernel : {layer->norm, layer->attend, layer->gate}) clReleaseKernel(kernel);
  for (cl_mem memory : all) clReleaseMemObject(memory);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
