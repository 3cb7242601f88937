// Matrices at pointers: shared virtual memory (OpenCL 2.0), and cl_intel_unified_shared_memory. What the driver lacks
// is skipped.
#include "driver_main.hpp"
#include "launch/commands.hpp"

#include <cmath>
#include <limits>

using namespace clbake;
using namespace clbake::tests;

namespace {

constexpr std::size_t kM = 37, kN = 41, kK = 43;  // of small_problem()
constexpr std::size_t kGuard = 24;                // elements before and after a matrix
using Numbers = std::vector<float>;

const char* const kPointers[] = {"svm", "clHostMemAllocINTEL", "clDeviceMemAllocINTEL", "clSharedMemAllocINTEL"};

// Whole numbers between guards of NaN; `seed` 0: NaN all over.
Numbers numbers(std::size_t count, unsigned seed) {
  Numbers all(count + 2 * kGuard, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; seed > 0 && i < count; ++i) all[kGuard + i] = static_cast<float>((i * 7 + seed) % 11) - 5;
  return all;
}

// Memory of a kind, "buffer" or one of kPointers, with these numbers; null where the driver has none.
class Memory {
 public:
  Memory(std::string kind, Numbers numbers) : kind_(std::move(kind)), numbers_(std::move(numbers)) {
    const cl_context context = here().session.context();
    const std::size_t bytes = numbers_.size() * sizeof(float);
    cl_int error = CL_SUCCESS;
    if (kind_ == "buffer") {
      at_ = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &error);
    } else if (kind_ == "svm") {
      cl_ulong capabilities = 0;
      clGetDeviceInfo(here().device.id, CL_DEVICE_SVM_CAPABILITIES, sizeof capabilities, &capabilities, nullptr);
      if (capabilities != 0) at_ = clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0);
    } else if (kind_ == "clHostMemAllocINTEL") {
      const auto allocate =
          extension<void* (*)(cl_context, const cl_ulong*, std::size_t, cl_uint, cl_int*)>(kind_.c_str());
      if (allocate) at_ = allocate(context, nullptr, bytes, 0, &error);
    } else {
      const auto allocate =
          extension<void* (*)(cl_context, cl_device_id, const cl_ulong*, std::size_t, cl_uint, cl_int*)>(kind_.c_str());
      if (allocate) at_ = allocate(context, here().device.id, nullptr, bytes, 0, &error);
    }
    BOOST_REQUIRE(error == CL_SUCCESS);
    if (at_) copy(true);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    const cl_context context = here().session.context();
    clFinish(here().session.queue());
    if (!at_) return;
    if (kind_ == "buffer") {
      clReleaseMemObject(static_cast<cl_mem>(at_));
    } else if (kind_ == "svm") {
      clSVMFree(context, at_);
    } else {
      extension<cl_int (*)(cl_context, void*)>("clMemFreeINTEL")(context, at_);
    }
  }
  explicit operator bool() const { return at_ != nullptr; }
  char* at() const { return static_cast<char*>(at_); }
  // The matrix after `shift` elements, of which USM's pointer takes half.
  Matrix matrix(std::size_t shift = kGuard) const {
    if (kind_ == "buffer") return {static_cast<cl_mem>(at_), shift};
    if (kind_ == "svm") return svm(at_, shift);
    return usm(at() + shift / 2 * sizeof(float), shift - shift / 2);
  }
  // The same bits as the other's, guards included.
  bool equals(Memory& other) {
    copy(false);
    other.copy(false);
    return std::memcmp(numbers_.data(), other.numbers_.data(), numbers_.size() * sizeof(float)) == 0;
  }
  float first() const { return numbers_[kGuard]; }

 private:
  void copy(bool write) {
    const cl_command_queue queue = here().session.queue();
    const std::size_t bytes = numbers_.size() * sizeof(float);
    void* const host = numbers_.data();
    const auto function =
        kind_ == "svm" ? clEnqueueSVMMemcpy : extension<decltype(&clEnqueueSVMMemcpy)>("clEnqueueMemcpyINTEL");
    cl_int error = CL_SUCCESS;
    if (kind_ != "buffer") {
      error = function(queue, CL_TRUE, write ? at_ : host, write ? host : at_, bytes, 0, nullptr, nullptr);
    } else if (write) {
      error = clEnqueueWriteBuffer(queue, static_cast<cl_mem>(at_), CL_TRUE, 0, bytes, host, 0, nullptr, nullptr);
    } else {
      error = clEnqueueReadBuffer(queue, static_cast<cl_mem>(at_), CL_TRUE, 0, bytes, host, 0, nullptr, nullptr);
    }
    BOOST_REQUIRE(error == CL_SUCCESS);
  }

  const std::string kind_;
  Numbers numbers_;
  void* at_ = nullptr;
};

// A product with a bias and a D.
struct Operands {
  explicit Operands(const std::string& kind)
      : a(kind, numbers(kM * kK, 1)),
        b(kind, numbers(kK * kN, 2)),
        c(kind, numbers(kM * kN, 0)),
        d(kind, numbers(kM * kN, 3)),
        bias(kind, numbers(kM, 4)) {}
  static Problem problem() {
    Problem p = small_problem();
    p.epilogue.bias = Bias::per_row;
    p.epilogue.has_d = true;
    p.epilogue.ldd = p.ldc;
    return p;
  }
  EpilogueBuffers more() const { return {bias.matrix(), d.matrix()}; }
  Status enqueue(Gemm& gemm) const {
    return gemm.enqueue(here().session.queue(), 2, a.matrix(), b.matrix(), -1, c.matrix(), more());
  }
  Status record(Gemm& gemm, const Commands& commands, RecordedGemm* recorded = nullptr) const {
    return gemm.record(commands.buffer, 2, a.matrix(), b.matrix(), -1, c.matrix(), more(), {}, nullptr, recorded);
  }
  Memory a, b, c, d, bias;
};

}  // namespace

// By each variant, enqueued and recorded: the bits that the product in buffers has, with NaN in C and around all.
BOOST_AUTO_TEST_CASE(EachKindOfMemoryIsMultiplied) {
  const Bundle bundle = baked();
  const Library library = library_of(bundle);
  for (const std::string kind : kPointers) {
    if (!Memory(kind, {0})) continue;
    std::size_t tried = 0;
    for (std::uint32_t v = 0; v < bundle.variant_count(); ++v) {
      const cache::Variant variant = required(bundle.variant(v));
      if (variant.is_program() || !(variant.kind() == GemmKind())) continue;
      Gemm gemm = required(library.prepare(Operands::problem(), variant.name));
      Operands expected("buffer"), enqueued(kind), recorded(kind);
      BOOST_REQUIRE(expected.enqueue(gemm).ok());
      const Status status = enqueued.enqueue(gemm);
      BOOST_REQUIRE_MESSAGE(status.ok(), kind << ", " << variant.name << ": " << status.message());
      BOOST_REQUIRE(clFinish(here().session.queue()) == CL_SUCCESS);
      BOOST_TEST(enqueued.c.equals(expected.c), kind << ", " << variant.name);
      BOOST_TEST(!std::isnan(expected.c.first()));
      const Commands commands;
      if (commands.buffer) {
        BOOST_REQUIRE(recorded.record(gemm, commands).ok());
        commands.finalize();
        commands.run();
        BOOST_TEST(recorded.c.equals(expected.c), kind << ", " << variant.name << ", recorded");
      }
      ++tried;
    }
    BOOST_TEST(tried > 0U);
  }
}

// A recorded product moves from buffers to pointers and back.
BOOST_AUTO_TEST_CASE(RecordedProductsMoveToPointers) {
  Gemm gemm = required(library_of(baked()).prepare(Operands::problem()));
  for (const std::string kind : kPointers) {
    const Commands commands(true);
    if (!commands.buffer || !Memory(kind, {0})) continue;
    Operands expected("buffer"), first("buffer"), at_pointers(kind);
    BOOST_REQUIRE(expected.enqueue(gemm).ok());
    RecordedGemm recorded;
    BOOST_REQUIRE(first.record(gemm, commands, &recorded).ok());
    commands.finalize();
    for (Operands* next : {&at_pointers, &first}) {
      const Status status = recorded.update(2, next->a.matrix(), first.b.matrix(), -1, next->c.matrix(), next->more());
      BOOST_REQUIRE_MESSAGE(status.ok(), kind << ": " << status.message());
      commands.run();
      BOOST_TEST(next->c.equals(expected.c), kind);
    }
  }
}

BOOST_AUTO_TEST_CASE(WrongPointersAreNamed) {
  Gemm gemm = required(library_of(baked()).prepare(small_problem()));
  Numbers own = numbers(kM * kK, 1);
  const auto refused = [&](const Matrix& a, const Matrix& b, const Matrix& c, Argument argument, const char* message) {
    const Status status = gemm.enqueue(here().session.queue(), 1, a, b, 0, c);
    BOOST_TEST((status.argument() == argument), status.message());
    BOOST_TEST(has(status.message(), message), status.message());
  };
  refused(svm(nullptr), {}, {}, Argument::a, "A: the pointer is null");
  refused(svm(own.data()), {}, {}, Argument::a, "A: ");  // none that clSVMAlloc returned, or there is no such memory
  refused(usm(own.data()), {}, {}, Argument::a, "A: ");
  for (const std::string kind : kPointers) {
    const Operands o(kind);
    if (!o.a) continue;
    const auto at = [&](void* pointer, std::size_t offset = 0) {
      return kind == "svm" ? svm(pointer, offset) : usm(pointer, offset);
    };
    refused(o.a.matrix(), at(own.data()), o.c.matrix(), Argument::b,
            kind == "svm" ? "B: the pointer is none that clSVMAlloc returned"
                          : "B: the pointer is in no unified shared memory of the context");
    refused(at(o.a.at() + 2), {}, {}, Argument::a, "A: the pointer is no multiple of an element's size");
    refused(o.a.matrix(2 * kGuard + 1), {}, {}, Argument::a_size, "A needs 1591 elements from offset ");
    refused(o.a.matrix(), o.b.matrix(), at(o.c.at(), SIZE_MAX / 16), Argument::c_size, "C needs");
    refused(o.a.matrix(), o.b.matrix(), o.a.matrix(), Argument::c_alias, "C and A share elements");
    // Disjoint parts of one allocation serve; those that share elements are found, whatever the pointers.
    const Memory both(kind, numbers(kM * kK + kM * kN, 1));
    for (const std::size_t less : {1U, 2U, 13U}) {
      refused(both.matrix(), o.b.matrix(), both.matrix(kGuard + kM * kK - less), Argument::c_alias, "share elements");
    }
    BOOST_TEST(
        gemm.enqueue(here().session.queue(), 1, both.matrix(), o.b.matrix(), 0, both.matrix(kGuard + kM * kK)).ok());
  }
}
