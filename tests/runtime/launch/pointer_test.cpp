// Matrices at pointers: shared virtual memory (OpenCL 2.0), and cl_intel_unified_shared_memory. What the driver lacks
// is skipped.
#include "driver_main.hpp"
#include "launch/commands.hpp"

#include <cmath>
#include <limits>

using namespace clbake;
using namespace clbake::tests;

namespace {

constexpr std::size_t kM = 37, kN = 41, kK = 43;
constexpr std::size_t kGuard = 24;  // elements before and after a matrix
using Numbers = std::vector<float>;
using Copy = decltype(&clEnqueueSVMMemcpy);  // and clEnqueueMemcpyINTEL

const char* const kMemories[] = {"svm", "clHostMemAllocINTEL", "clDeviceMemAllocINTEL", "clSharedMemAllocINTEL"};

// Memory of a kind, with the numbers between guards; null where the driver has none.
class Memory {
 public:
  Memory(const std::string& kind, Numbers numbers) : svm_(kind == "svm"), numbers_(std::move(numbers)) {
    const cl_context context = here().session.context();
    cl_int error = CL_SUCCESS;
    if (svm_) {
      cl_ulong capabilities = 0;
      clGetDeviceInfo(here().device.id, CL_DEVICE_SVM_CAPABILITIES, sizeof capabilities, &capabilities, nullptr);
      if (capabilities != 0) at_ = clSVMAlloc(context, CL_MEM_READ_WRITE, bytes(), 0);
    } else if (kind == "clHostMemAllocINTEL") {
      const auto allocate =
          extension<void* (*)(cl_context, const cl_ulong*, std::size_t, cl_uint, cl_int*)>(kind.c_str());
      if (allocate) at_ = allocate(context, nullptr, bytes(), 0, &error);
    } else {
      const auto allocate =
          extension<void* (*)(cl_context, cl_device_id, const cl_ulong*, std::size_t, cl_uint, cl_int*)>(kind.c_str());
      if (allocate) at_ = allocate(context, here().device.id, nullptr, bytes(), 0, &error);
    }
    BOOST_REQUIRE(error == CL_SUCCESS);
    if (at_) copy(at_, numbers_.data());
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    clFinish(here().session.queue());
    if (at_ && svm_) clSVMFree(here().session.context(), at_);
    if (at_ && !svm_) extension<cl_int (*)(cl_context, void*)>("clMemFreeINTEL")(here().session.context(), at_);
  }
  std::size_t bytes() const { return numbers_.size() * sizeof(float); }
  explicit operator bool() const { return at_ != nullptr; }
  void* at() const { return at_; }
  // The matrix after `shift` elements, of which USM's pointer takes half.
  Matrix matrix(std::size_t shift = kGuard) const {
    const std::size_t half = svm_ ? 0 : shift / 2;
    const float* pointer = static_cast<const float*>(at_) + half;
    return svm_ ? svm(pointer, shift) : usm(pointer, shift - half);
  }
  Numbers read() {
    copy(numbers_.data(), at_);
    return numbers_;
  }

 private:
  void copy(void* to, const void* from) const {
    const Copy function = svm_ ? clEnqueueSVMMemcpy : extension<Copy>("clEnqueueMemcpyINTEL");
    BOOST_REQUIRE(function(here().session.queue(), CL_TRUE, to, from, bytes(), 0, nullptr, nullptr) == CL_SUCCESS);
  }

  const bool svm_;
  Numbers numbers_;
  void* at_ = nullptr;
};

struct Buffer {
  explicit Buffer(Numbers all)
      : numbers(std::move(all)),
        memory(clCreateBuffer(here().session.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                              numbers.size() * sizeof(float), numbers.data(), nullptr)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { clReleaseMemObject(memory); }
  Numbers read() {
    clEnqueueReadBuffer(here().session.queue(), memory, CL_TRUE, 0, numbers.size() * sizeof(float), numbers.data(), 0,
                        nullptr, nullptr);
    return numbers;
  }
  Numbers numbers;
  cl_mem memory;
};

// Whole numbers between guards of NaN; `seed` 0: NaN all over.
Numbers numbers(std::size_t count, unsigned seed) {
  Numbers all(count + 2 * kGuard, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; seed > 0 && i < count; ++i) all[kGuard + i] = static_cast<float>((i * 7 + seed) % 11) - 5;
  return all;
}

bool same_bits(const Numbers& x, const Numbers& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

// With a bias and a D.
Problem problem() {
  Problem p = small_problem();
  p.epilogue.bias = Bias::per_row;
  p.epilogue.has_d = true;
  p.epilogue.ldd = p.ldc;
  return p;
}

}  // namespace

// By each variant, enqueued and recorded: the bits that the product in buffers has, with NaN in C and around all.
BOOST_AUTO_TEST_CASE(EachKindOfMemoryIsMultiplied) {
  const cl_command_queue queue = here().session.queue();
  const Bundle bundle = baked();
  const Library library = library_of(bundle);
  Buffer a(numbers(kM * kK, 1)), b(numbers(kK * kN, 2)), d(numbers(kM * kN, 3)), bias(numbers(kM, 4));
  for (const std::string kind : kMemories) {
    const Memory at_a(kind, a.numbers), at_b(kind, b.numbers), at_d(kind, d.numbers), at_bias(kind, bias.numbers);
    if (!at_a) continue;
    const EpilogueBuffers more = {{bias.memory, kGuard}, {d.memory, kGuard}};
    const EpilogueBuffers at_more = {at_bias.matrix(), at_d.matrix()};
    std::size_t tried = 0;
    for (std::uint32_t v = 0; v < bundle.variant_count(); ++v) {
      const cache::Variant variant = required(bundle.variant(v));
      if (variant.is_program() || !(variant.kind() == GemmKind())) continue;
      Gemm gemm = required(library.prepare(problem(), variant.name));
      Buffer c(numbers(kM * kN, 0));
      Memory at_c(kind, c.numbers), recorded_c(kind, c.numbers);
      BOOST_REQUIRE(gemm.enqueue(queue, 2, {a.memory, kGuard}, {b.memory, kGuard}, -1, {c.memory, kGuard}, more).ok());
      Status status = gemm.enqueue(queue, 2, at_a.matrix(), at_b.matrix(), -1, at_c.matrix(), at_more);
      BOOST_REQUIRE_MESSAGE(status.ok(), kind << ", " << variant.name << ": " << status.message());
      BOOST_REQUIRE(clFinish(queue) == CL_SUCCESS);
      BOOST_TEST(!std::isnan(c.read()[kGuard]));
      BOOST_TEST(same_bits(at_c.read(), c.read()), kind << ", " << variant.name);
      const Commands commands;
      if (commands.buffer) {
        status = gemm.record(commands.buffer, 2, at_a.matrix(), at_b.matrix(), -1, recorded_c.matrix(), at_more);
        BOOST_REQUIRE_MESSAGE(status.ok(), kind << ", " << variant.name << ": " << status.message());
        commands.finalize();
        commands.run();
        BOOST_TEST(same_bits(recorded_c.read(), c.read()), kind << ", " << variant.name << ", recorded");
      }
      ++tried;
    }
    BOOST_TEST(tried > 0U);
  }
}

// A recorded product moves from buffers to pointers and back.
BOOST_AUTO_TEST_CASE(RecordedProductsMoveToPointers) {
  const Library library = library_of(baked());
  Gemm gemm = required(library.prepare(problem()));
  Buffer a(numbers(kM * kK, 1)), b(numbers(kK * kN, 2)), d(numbers(kM * kN, 3)), bias(numbers(kM, 4));
  for (const std::string kind : kMemories) {
    Buffer c(numbers(kM * kN, 0)), again(c.numbers);
    const Memory at_a(kind, a.numbers), at_bias(kind, bias.numbers);
    Memory at_c(kind, c.numbers);
    const Commands commands(true);
    if (!at_a || !commands.buffer) continue;
    RecordedGemm recorded;
    const EpilogueBuffers more = {{bias.memory, kGuard}, {d.memory, kGuard}};
    BOOST_REQUIRE(gemm.record(commands.buffer, 2, {a.memory, kGuard}, {b.memory, kGuard}, -1, {c.memory, kGuard}, more,
                              {}, nullptr, &recorded)
                      .ok());
    commands.finalize();
    commands.run();
    Status status = recorded.update(2, at_a.matrix(), {b.memory, kGuard}, -1, at_c.matrix(),
                                    {at_bias.matrix(), {d.memory, kGuard}});
    BOOST_REQUIRE_MESSAGE(status.ok(), kind << ": " << status.message());
    commands.run();
    BOOST_TEST(same_bits(at_c.read(), c.read()), kind);
    status = recorded.update(2, {a.memory, kGuard}, {b.memory, kGuard}, -1, {again.memory, kGuard}, more);
    BOOST_REQUIRE_MESSAGE(status.ok(), kind << ": " << status.message());
    commands.run();
    BOOST_TEST(same_bits(again.read(), c.read()), kind);
  }
}

BOOST_AUTO_TEST_CASE(WrongPointersAreNamed) {
  const cl_command_queue queue = here().session.queue();
  Gemm gemm = required(library_of(baked()).prepare(small_problem()));
  Numbers own = numbers(kM * kK, 1);
  const auto refused = [&](const Matrix& a, const Matrix& b, const Matrix& c, Argument argument, const char* message) {
    const Status status = gemm.enqueue(queue, 1, a, b, 0, c);
    BOOST_TEST((status.argument() == argument), status.message());
    BOOST_TEST(has(status.message(), message), status.message());
  };
  refused(svm(nullptr), svm(own.data()), svm(own.data()), Argument::a, "A: the pointer is null");
  refused(svm(own.data()), {}, {}, Argument::a, "A: ");  // none that clSVMAlloc returned, or there is no such memory
  refused(usm(own.data()), {}, {}, Argument::a, "A: ");
  for (const std::string kind : kMemories) {
    const Memory a(kind, numbers(kM * kK, 1)), b(kind, numbers(kK * kN, 2)), c(kind, numbers(kM * kN, 0));
    if (!a) continue;
    const auto at = [&](void* pointer, std::size_t offset = 0) {
      return kind == "svm" ? svm(pointer, offset) : usm(pointer, offset);
    };
    refused(a.matrix(), at(own.data()), c.matrix(), Argument::b,
            kind == "svm" ? "B: the pointer is none that clSVMAlloc returned"
                          : "B: the pointer is in no unified shared memory of the context");
    refused(at(static_cast<char*>(a.at()) + 2), b.matrix(), c.matrix(), Argument::a,
            "A: the pointer is no multiple of an element's size");
    refused(a.matrix(2 * kGuard + 1), b.matrix(), c.matrix(), Argument::a_size, "A needs");
    refused(a.matrix(), b.matrix(), at(c.at(), SIZE_MAX / 16), Argument::c_size, "C needs");
    refused(a.matrix(), b.matrix(), a.matrix(), Argument::c_alias, "C and A share elements");
  }
}

// Disjoint parts of one allocation may be operand and C; parts that share elements are found, whatever the pointers.
BOOST_AUTO_TEST_CASE(PartsOfOneAllocation) {
  const cl_command_queue queue = here().session.queue();
  Gemm gemm = required(library_of(baked()).prepare(small_problem()));
  for (const std::string kind : kMemories) {
    const Memory b(kind, numbers(kK * kN, 2)), both(kind, numbers(kM * kK + kM * kN, 1));
    if (!b) continue;
    const Status status = gemm.enqueue(queue, 1, both.matrix(), b.matrix(), 0, both.matrix(kGuard + kM * kK));
    BOOST_TEST(status.ok(), status.message());
    for (const std::size_t less : {1U, 2U, 13U}) {
      const Status shared = gemm.enqueue(queue, 1, both.matrix(), b.matrix(), 0, both.matrix(kGuard + kM * kK - less));
      BOOST_TEST((shared.argument() == Argument::c_alias), shared.message());
    }
  }
}
