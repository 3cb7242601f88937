// app MODE: an OpenCL program that knows nothing of clbake, for the tests of `clbake record`. Exit status 77 without a
// device, 1 when a call fails or a result is wrong.
#undef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

void need(bool good, const char* step) {
  if (good) return;
  std::fprintf(stderr, "app: %s failed\n", step);
  std::exit(1);
}
void need(cl_int error, const char* step) { need(error == CL_SUCCESS, step); }

using Floats = std::vector<float>;

struct App {
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

  explicit App(cl_command_queue_properties properties = 0) {
    cl_platform_id platform = nullptr;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) std::exit(77);
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) std::exit(77);
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    queue = clCreateCommandQueue(context, device, properties, nullptr);
    if (!queue) queue = clCreateCommandQueue(context, device, 0, nullptr);  // not every device has out-of-order queues
    need(context && queue, "clCreateContext");
  }

  cl_program created(const std::string& source) const {
    const char* text = source.c_str();
    return clCreateProgramWithSource(context, 1, &text, nullptr, nullptr);
  }

  cl_program built(const std::string& source, const char* options = nullptr) const {
    cl_program program = created(source);
    need(clBuildProgram(program, 1, &device, options, nullptr, nullptr), "clBuildProgram");
    return program;
  }

  cl_mem buffer(const Floats& values, cl_mem_flags flags = CL_MEM_READ_WRITE) const {
    return clCreateBuffer(context, flags | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(float),
                          const_cast<float*>(values.data()), nullptr);
  }

  // An image of 4 x 2 pixels.
  cl_mem image(cl_mem_flags flags, void* pixels) const {
    const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    cl_image_desc description = {};
    description.image_type = CL_MEM_OBJECT_IMAGE2D;
    description.image_width = 4;
    description.image_height = 2;
    return clCreateImage(context, flags, &format, &description, pixels, nullptr);
  }

  void run(cl_kernel kernel, std::size_t global, std::size_t local, std::size_t offset = 0) const {
    need(clEnqueueNDRangeKernel(queue, kernel, 1, offset ? &offset : nullptr, &global, local ? &local : nullptr, 0,
                                nullptr, nullptr),
         "clEnqueueNDRangeKernel");
    finish();
  }

  void finish() const { need(clFinish(queue), "clFinish"); }
};

cl_kernel kernel_of(cl_program program, const char* name) {
  cl_kernel kernel = clCreateKernel(program, name, nullptr);
  need(kernel != nullptr, name);
  return kernel;
}

template <typename T>
void set(cl_kernel kernel, cl_uint index, const T& value) {
  need(clSetKernelArg(kernel, index, sizeof value, &value), "clSetKernelArg");
}

Floats count_up(std::size_t count) {
  Floats values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

constexpr const char* kScale = "kernel void scale(global float* x, float f) { x[get_global_id(0)] *= f; }";

void scale(const App& app, std::size_t count, std::size_t local, std::size_t offset = 0) {
  cl_kernel kernel = kernel_of(app.built(kScale), "scale");
  static std::mutex one_at_a_time;  // Oclgrind runs no two kernels at once
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  set(kernel, 0, app.buffer(count_up(count + offset)));
  set(kernel, 1, 2.0F);
  app.run(kernel, count, local, offset);
}

// ---- Modes ----

// Each kind of argument.
void arguments() {
  const App app;
  cl_program program = app.built(
      "typedef struct { float f[9]; } Nine;\n"
      "kernel void every(global float* x, global float* part, read_only image2d_t in, write_only image2d_t out,\n"
      "                  sampler_t s, local float* t, Nine nine, global float* none, global float* again, ulong zero) "
      "{\n"
      "  int i = get_global_id(0);\n"
      "  t[get_local_id(0)] = x[i];\n"
      "  write_imagef(out, (int2)(i % 4, i / 4), read_imagef(in, s, (int2)(i % 4, i / 4)));\n"
      "  part[i] += t[get_local_id(0)] + nine.f[8] + zero + (none ? 1 : 0) + (again == x ? 0 : 1);\n"
      "}");
  cl_kernel kernel = kernel_of(program, "every");
  cl_mem whole = app.buffer(Floats(64, 5));
  const cl_buffer_region region = {128, 32};
  cl_mem x = app.buffer(count_up(8));
  std::vector<unsigned char> pixels(32, 7);
  struct {
    float f[9];
  } nine = {{0, 1, 2, 3, 4, 5, 6, 7, 8}};
  set(kernel, 0, x);
  set(kernel, 1, clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, nullptr));
  set(kernel, 2, app.image(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, pixels.data()));
  set(kernel, 3, app.image(CL_MEM_WRITE_ONLY, nullptr));
  set(kernel, 4, clCreateSampler(app.context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, nullptr));
  need(clSetKernelArg(kernel, 5, 16, nullptr), "local memory");
  set(kernel, 6, nine);
  need(clSetKernelArg(kernel, 7, sizeof(cl_mem), nullptr), "a NULL buffer");
  set(kernel, 8, x);
  set(kernel, 9, cl_ulong{0});
  app.run(kernel, 8, 4);
}

// NULL buffers, in both ways to set them, of a program whose arguments PoCL 3.1 does not describe, as it has options.
void nulls() {
  const App app;
  cl_program program = app.built(
      "kernel void nulls(global float* x, global float* a, global float* b) {\n"
      "  x[get_global_id(0)] += (a ? 1 : 0) + (b ? 1 : 0);\n"
      "}",
      "-cl-mad-enable");
  cl_kernel kernel = kernel_of(program, "nulls");
  set(kernel, 0, app.buffer(count_up(8)));
  set(kernel, 1, cl_mem{nullptr});
  need(clSetKernelArg(kernel, 2, sizeof(cl_mem), nullptr), "a NULL buffer");
  app.run(kernel, 8, 8);
}

// Commands of an out-of-order queue that all wait, when they are enqueued, for the program to go on.
void order() {
  const App app(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_program program =
      app.built(std::string(kScale) + "kernel void add(global float* x) { x[get_global_id(0)] += 1; }");
  cl_kernel scale = kernel_of(program, "scale"), add = kernel_of(program, "add");
  cl_mem x = app.buffer(Floats(8, 0));
  set(scale, 0, x);
  set(scale, 1, 2.0F);
  set(add, 0, x);
  cl_event start = clCreateUserEvent(app.context, nullptr), written = nullptr, scaled = nullptr, added = nullptr;
  const Floats first(8, 3);
  const std::size_t size = 8;
  need(clEnqueueWriteBuffer(app.queue, x, CL_FALSE, 0, 32, first.data(), 1, &start, &written), "write");
  need(clEnqueueNDRangeKernel(app.queue, scale, 1, nullptr, &size, &size, 1, &written, &scaled), "scale");
  need(clEnqueueNDRangeKernel(app.queue, add, 1, nullptr, &size, &size, 1, &scaled, &added), "add");
  need(clSetUserEventStatus(start, CL_COMPLETE), "clSetUserEventStatus");
  Floats result(8);
  need(clEnqueueReadBuffer(app.queue, x, CL_TRUE, 0, 32, result.data(), 1, &added, nullptr), "read");
  need(result == Floats(8, 7), "the right result");
}

// One text, built by two contexts and four threads; a text that does not build; one that is built meanwhile.
void builds() {
  const App app, other;
  scale(other, 64, 64);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { scale(app, 64, 16); });
  for (std::thread& thread : threads) thread.join();
  cl_program wrong = app.created("kernel void wrong( {");
  need(clBuildProgram(wrong, 0, nullptr, nullptr, nullptr, nullptr) != CL_SUCCESS, "a failing build");
  static std::atomic<bool> ended = false;
  cl_program later = app.created("kernel void later(global float* x) { x[0] = 1; }");
  need(clBuildProgram(
           later, 0, nullptr, "-DLATER", [](cl_program, void*) { ended = true; }, nullptr),
       "later");
  while (!ended) std::this_thread::yield();
  cl_kernel kernels[2] = {};
  cl_uint count = 0;
  need(clCreateKernelsInProgram(later, 2, kernels, &count), "clCreateKernelsInProgram");
  set(kernels[0], 0, app.buffer(Floats(8, 0)));
  need(clEnqueueTask(app.queue, kernels[0], 0, nullptr, nullptr), "clEnqueueTask");
  app.finish();
}

void link() {
  const App app;
  cl_program header = app.created("float twice(float x);");
  cl_program parts[] = {app.created("#include \"twice.h\"\nfloat twice(float x) { return x + x; }"),
                        app.created("#include \"twice.h\"\n"
                                    "kernel void use(global float* x) { x[0] = twice(x[0]); }")};
  const char* name = "twice.h";
  for (cl_program part : parts) {
    need(clCompileProgram(part, 1, &app.device, "-DPART", 1, &header, &name, nullptr, nullptr), "clCompileProgram");
  }
  cl_program linked = clLinkProgram(app.context, 1, &app.device, nullptr, 2, parts, nullptr, nullptr, nullptr);
  need(linked != nullptr, "clLinkProgram");
  cl_kernel kernel = kernel_of(linked, "use");
  set(kernel, 0, app.buffer(Floats(1, 4)));
  app.run(kernel, 1, 1);
}

// Includes DIR/a.h by a macro's name, which includes b.h beside it.
void include(const char* directory) {
  const App app;
  const std::string options = "-I " + std::string(directory) + " -D NAME=a.h -D TEXT(x)=#x -D FILE(x)=TEXT(x)";
  app.built("#include FILE(NAME)\nkernel void use(global float* x) { x[0] = A + B; }", options.c_str());
}

void forked() {
  const pid_t child = fork();
  const App app;
  cl_program program = app.built(child == 0 ? "kernel void child(global float* x) { x[0] = 1; }"
                                            : "kernel void parent(global float* x) { x[0] = 1; }");
  cl_kernel kernel = kernel_of(program, child == 0 ? "child" : "parent");
  set(kernel, 0, app.buffer(Floats(1, 4)));
  app.run(kernel, 1, 1);
  int status = 0;
  if (child != 0) need(waitpid(child, &status, 0) == child && status == 0, "the child");
}

// Launches that differ in what drivers compile for: a NULL size, a large grid, an offset.
void launches() {
  const App app;
  for (int i = 0; i < 3; ++i) scale(app, 64, 64);
  scale(app, 256, 0);
  scale(app, 65536, 64);
  scale(app, 64, 64, 8);
}

// Kernels without a launch.
void untried() {
  const App app;
  kernel_of(app.built("kernel void idle(global float* x) { x[0] = 1; }"), "idle");
  app.built("kernel void unmade(global float* x) { x[0] = 1; }");
}

// Exit status 3 without shared virtual memory: Oclgrind's clSVMAlloc never returns.
void shared() {
  const App app;
  cl_device_svm_capabilities shared_memory = 0;
  clGetDeviceInfo(app.device, CL_DEVICE_SVM_CAPABILITIES, sizeof shared_memory, &shared_memory, nullptr);
  if (shared_memory == 0) std::exit(3);
  cl_kernel kernel = kernel_of(app.built("kernel void shared(global float* x) { x[get_global_id(0)] = 1; }"), "shared");
  void* memory = clSVMAlloc(app.context, CL_MEM_READ_WRITE, 256, 0);
  need(clSetKernelArgSVMPointer(kernel, 0, memory), "clSetKernelArgSVMPointer");
  app.run(kernel, 64, 64);
}

// Memory that the host may not read.
void hidden() {
  const App app;
  cl_program program = app.built(
      "kernel void hidden(global float* x, read_only image2d_t in) { x[get_global_id(0)] += get_image_width(in); }");
  cl_kernel kernel = kernel_of(program, "hidden");
  std::vector<unsigned char> pixels(32, 7);
  set(kernel, 0, app.buffer(count_up(4), CL_MEM_HOST_NO_ACCESS));
  set(kernel, 1, app.image(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR | CL_MEM_HOST_WRITE_ONLY, pixels.data()));
  app.run(kernel, 4, 4);
}

void large() {
  const App app;
  scale(app, std::size_t{1} << 21, 64);
}

// The way of programs with a cache: from source, if the driver does not take the binary.
void cache(const char* file) {
  const App app;
  std::ifstream in(file, std::ios::binary);
  const std::string found((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto* bytes = reinterpret_cast<const unsigned char*>(found.data());
  std::size_t size = found.size();
  cl_program program = nullptr;
  if (size) program = clCreateProgramWithBinary(app.context, 1, &app.device, &size, &bytes, nullptr, nullptr);
  const bool cached = program != nullptr;
  if (!cached) program = app.created(kScale);
  need(clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr), "clBuildProgram");
  kernel_of(program, "scale");
  if (cached) return;
  need(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr), "sizes");
  std::string binary(size, '\0');
  char* to = binary.data();
  need(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof to, &to, nullptr), "binaries");
  std::ofstream(file, std::ios::binary) << binary;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "arguments") arguments();
  if (mode == "nulls") nulls();
  if (mode == "order") order();
  if (mode == "builds") builds();
  if (mode == "link") link();
  if (mode == "include") include(argv[2]);
  if (mode == "forked") forked();
  if (mode == "launches") launches();
  if (mode == "untried") untried();
  if (mode == "shared") shared();
  if (mode == "hidden") hidden();
  if (mode == "large") large();
  if (mode == "cache") cache(argv[2]);
  if (mode == "killed") {
    scale(App(), 64, 64);
    ::kill(getpid(), SIGKILL);
  }
  return mode == "status" ? (scale(App(), 64, 64), 7) : 0;
}
