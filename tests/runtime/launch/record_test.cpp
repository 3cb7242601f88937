// Products in command buffers (cl_khr_command_buffer), beside the same ones enqueued. Skipped where the driver has
// none.
#include "driver_main.hpp"
#include "launch/commands.hpp"

#include <random>

using namespace clbake;
using namespace clbake::tests;

namespace {

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
    commands.finalize();
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

// Each variant's product is recorded once, and gets other scalars and matrices, back and forth.
BOOST_AUTO_TEST_CASE(RecordedProductsChange) {
  const Bundle bundle = baked();
  const Library library = library_of(bundle);
  const Buffer a, b, c, other_c, expected;
  b.fill(3);
  for (std::uint32_t v = 0; v < bundle.variant_count(); ++v) {
    const cache::Variant variant = required(bundle.variant(v));
    if (variant.is_program() || !(variant.kind() == GemmKind())) continue;
    Gemm gemm = required(library.prepare(square(), variant.name));
    const Commands commands(true);
    if (!commands.buffer) return;
    RecordedGemm recorded;
    BOOST_TEST((recorded.update(1, {a.memory}, {b.memory}, 0, {c.memory}).argument() == Argument::gemm));
    Status status =
        gemm.record(commands.buffer, 1.5, {a.memory}, {b.memory}, 0, {c.memory}, {}, {}, nullptr, &recorded);
    BOOST_REQUIRE_MESSAGE(status.ok(), variant.name << ": " << status.message());
    commands.finalize();
    const Buffer* written = &c;
    Scalars scalars{1.5, 0};
    for (const bool update : {false, true, true}) {
      if (update) {
        scalars = {scalars.alpha.real() - 3, scalars.beta.real() + 2};
        written = written == &c ? &other_c : &c;
        status = recorded.update(scalars.alpha, {b.memory}, {a.memory}, scalars.beta, {written->memory});
        BOOST_REQUIRE_MESSAGE(status.ok(), variant.name << ": " << status.message());
      }
      a.fill(1);
      written->fill(4);
      expected.fill(4);
      commands.run();
      BOOST_REQUIRE(gemm.enqueue(here().session.queue(), scalars.alpha, {update ? b.memory : a.memory},
                                 {update ? a.memory : b.memory}, scalars.beta, {expected.memory})
                        .ok());
      BOOST_TEST((written->read() == expected.read()), variant.name << (update ? " updated" : " recorded"));
    }
    // Refused, and the commands stay as they were.
    BOOST_TEST((recorded.update(1, {a.memory}, {b.memory}, 0, {a.memory}).argument() == Argument::c_alias));
    BOOST_TEST((recorded.update(1, {nullptr}, {b.memory}, 0, {c.memory}).argument() == Argument::a));
    status = recorded.update(0, {nullptr}, {nullptr}, 0, {other_c.memory});
    if (gemm.workspace_bytes() > 0) BOOST_TEST((status.argument() == Argument::scalars), status.message());
    c.fill(4);
    commands.run();
    if (!status) BOOST_TEST((c.read() == expected.read()), variant.name);
  }
}

BOOST_AUTO_TEST_CASE(WhatCannotBeChangedIsNamed) {
  const Buffer a, b, c;
  Gemm gemm = required(library_of(baked()).prepare(square()));
  const Commands commands;
  if (!commands.buffer) return;
  RecordedGemm recorded;
  const Status status =
      gemm.record(commands.buffer, 1, {a.memory}, {b.memory}, 0, {c.memory}, {}, {}, nullptr, &recorded);
  const std::string& message = status.message();
  const bool lacks = extension<void*>("clUpdateMutableCommandsKHR") == nullptr;
  BOOST_TEST(!status.ok());  // the extension, or the command buffer's flag
  BOOST_TEST((has(message, "cl_khr_command_buffer_mutable_dispatch") == lacks), message);
  BOOST_TEST((recorded.update(1, {a.memory}, {b.memory}, 0, {c.memory}).argument() == Argument::gemm));
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
