// Products in command buffers (cl_khr_command_buffer), beside the same ones enqueued. Skipped where the driver has
// none.
#include "api/library_scene.hpp"
#include "driver_main.hpp"

#include <CL/cl_ext.h>

#include <random>

using namespace clbake;
using namespace clbake::tests;

namespace {

// The extension's functions that a caller needs.
struct Functions {
  template <typename Function>
  static Function of(const char* name) {
    cl_platform_id platform = nullptr;
    clGetDeviceInfo(here().device.id, CL_DEVICE_PLATFORM, sizeof platform, static_cast<void*>(&platform), nullptr);
    return reinterpret_cast<Function>(clGetExtensionFunctionAddressForPlatform(platform, name));
  }
  using Buffer = _cl_command_buffer_khr*;
  Buffer (*create)(cl_uint, const cl_command_queue*, const void*,
                   cl_int*) = of<decltype(create)>("clCreateCommandBufferKHR");
  cl_int (*finalize)(Buffer) = of<decltype(finalize)>("clFinalizeCommandBufferKHR");
  cl_int (*release)(Buffer) = of<decltype(release)>("clReleaseCommandBufferKHR");
  cl_int (*enqueue)(cl_uint, cl_command_queue*, Buffer, cl_uint, const cl_event*,
                    cl_event*) = of<decltype(enqueue)>("clEnqueueCommandBufferKHR");
};

struct Commands {
  Functions cl;
  cl_command_queue queue = here().session.queue();
  Functions::Buffer buffer = nullptr;

  Commands() {
    cl_int error = CL_SUCCESS;
    if (cl.create) buffer = cl.create(1, &queue, nullptr, &error);
    BOOST_REQUIRE(error == CL_SUCCESS);
  }
  ~Commands() {
    if (buffer) cl.release(buffer);
  }
  void run() {
    BOOST_REQUIRE(cl.enqueue(0, nullptr, buffer, 0, nullptr, nullptr) == CL_SUCCESS);
    BOOST_REQUIRE(clFinish(queue) == CL_SUCCESS);
  }
};

constexpr std::size_t kSize = 48;
constexpr std::size_t kBytes = kSize * kSize * sizeof(float);

Problem square(Precision precision = Precision::single_precision) {
  Problem problem;
  problem.precision = precision;
  problem.m = problem.n = problem.k = problem.lda = problem.ldb = problem.ldc = kSize;
  return problem;
}

struct Buffer {
  cl_mem memory = clCreateBuffer(here().session.context(), CL_MEM_READ_WRITE, kBytes, nullptr, nullptr);
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { clReleaseMemObject(memory); }
  void fill(unsigned seed) const {
    std::mt19937 random(seed);
    std::vector<float> numbers(kSize * kSize);
    for (float& x : numbers) x = static_cast<float>(random() % 2001) / 1000 - 1;
    clEnqueueWriteBuffer(here().session.queue(), memory, CL_TRUE, 0, kBytes, numbers.data(), 0, nullptr, nullptr);
  }
  std::vector<float> read() const {
    std::vector<float> numbers(kSize * kSize);
    clEnqueueReadBuffer(here().session.queue(), memory, CL_TRUE, 0, kBytes, numbers.data(), 0, nullptr, nullptr);
    return numbers;
  }
};

}  // namespace

// A * B, then its square, with the variant's packing and reducing launches in between; twice, with another A.
BOOST_AUTO_TEST_CASE(RecordedProductsAreThoseThatAreEnqueued) {
  const Bundle bundle = baked();
  const Library library = library_of(bundle);
  const Buffer a, b, c, d, expected, expected_square;
  std::size_t tried = 0;
  for (std::uint32_t v = 0; v < bundle.variant_count(); ++v) {
    const cache::Variant variant = required(bundle.variant(v));
    Problem problem = square();
    problem.kind() = variant.kind();
    if (variant.is_program() || !(variant.kind() == GemmKind())) continue;
    Result<Gemm> first = library.prepare(problem, variant.name);
    Result<Gemm> second = library.prepare(problem, variant.name);
    if (!first || !second) continue;
    Commands commands;
    if (!commands.buffer) return;
    cl_uint point = 0, end = 0;
    Status recorded = first->record(commands.buffer, 1.5, {a.memory}, {b.memory}, 0, {c.memory}, {}, {}, &point);
    BOOST_REQUIRE_MESSAGE(recorded.ok(), variant.name << ": " << recorded.message());
    recorded = second->record(commands.buffer, 1, {c.memory}, {c.memory}, -2, {d.memory}, {}, {point}, &end);
    BOOST_REQUIRE_MESSAGE(recorded.ok(), variant.name << ": " << recorded.message());
    BOOST_REQUIRE(commands.cl.finalize(commands.buffer) == CL_SUCCESS);
    for (const unsigned seed : {1U, 2U}) {
      a.fill(seed);
      b.fill(3);
      d.fill(4);
      expected_square.fill(4);
      commands.run();
      const cl_command_queue queue = here().session.queue();
      BOOST_REQUIRE(first->enqueue(queue, 1.5, {a.memory}, {b.memory}, 0, {expected.memory}).ok());
      BOOST_REQUIRE(second->enqueue(queue, 1, {expected.memory}, {expected.memory}, -2, {expected_square.memory}).ok());
      BOOST_TEST((c.read() == expected.read()), variant.name);
      BOOST_TEST((d.read() == expected_square.read()), variant.name);
    }
    ++tried;
  }
  BOOST_TEST(tried > 0U);
}

BOOST_AUTO_TEST_CASE(WhatCannotBeRecordedIsNamed) {
  const Library library = library_of(baked());
  const Buffer a, b, c;
  Gemm gemm = required(library.prepare(square()));
  Commands commands;
  if (!commands.buffer) {
    const Status status = gemm.record(nullptr, 1, {a.memory}, {b.memory}, 0, {c.memory});
    BOOST_TEST(status.message() == "clCommandNDRangeKernelKHR: the platform lacks cl_khr_command_buffer");
    return;
  }
  BOOST_TEST(gemm.record(nullptr, 1, {a.memory}, {b.memory}, 0, {c.memory}).message() == "the command buffer is null");
  Status status = gemm.record(commands.buffer, 1, {a.memory}, {b.memory}, 0, {a.memory});
  BOOST_TEST((status.argument() == Argument::c_alias));
  status = gemm.record(commands.buffer, 1, {a.memory}, {nullptr}, 0, {c.memory});
  BOOST_TEST((status.argument() == Argument::b));
  status = gemm.record(commands.buffer, 1, {a.memory}, {b.memory, 1}, 0, {c.memory});
  BOOST_TEST((status.argument() == Argument::b_size));
  Problem none = square();
  none.m = 0;
  Gemm empty = required(library.prepare(none));
  status = empty.record(commands.buffer, 1, {a.memory}, {b.memory}, 0, {c.memory});
  BOOST_TEST(status.message() == "nothing to record: the product has no launch");
  const Gemm moved = std::move(gemm);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested
  BOOST_TEST((gemm.record(commands.buffer, 1, {a.memory}, {b.memory}, 0, {c.memory}).argument() == Argument::gemm));
}
