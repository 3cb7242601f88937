// Complex products on this machine's device: what is read, the caller's workspace, failed events.
#include "complex_scene.hpp"

#include <array>
#include <cmath>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;

namespace {

constexpr std::size_t kSize = 5;
using Complex = std::complex<float>;

const Library& library() { return scene().where.library; }
cl_command_queue queue() { return scene().where.session.queue(); }
cl_context context() { return scene().where.session.context(); }

Problem complex_problem() { return make_problem({Precision::complex_single}, kSize, kSize, kSize); }

Gemm prepared(const Problem& problem) {
  Result<Gemm> gemm = library().prepare(problem, kernels::name(variant_for(kWays[0], problem)));
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  return std::move(*gemm);
}

cl_mem buffer_of(std::vector<Complex> elements) {
  return clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, elements.size() * sizeof(Complex),
                        elements.data(), nullptr);
}

std::vector<Complex> contents_of(cl_mem buffer, std::size_t count) {
  std::vector<Complex> elements(count);
  BOOST_REQUIRE(clEnqueueReadBuffer(queue(), buffer, CL_TRUE, 0, count * sizeof(Complex), elements.data(), 0, nullptr,
                                    nullptr) == CL_SUCCESS);
  return elements;
}

// Square matrices of one number each.
struct Buffers {
  Buffers(Complex of_a, Complex of_b, Complex of_c)
      : a(buffer_of(std::vector<Complex>(kSize * kSize, of_a))),
        b(buffer_of(std::vector<Complex>(kSize * kSize, of_b))),
        c(buffer_of(std::vector<Complex>(kSize * kSize, of_c))) {}
  ~Buffers() {
    for (const cl_mem buffer : {a, b, c}) clReleaseMemObject(buffer);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  void require_all(Complex expected) const {
    for (const Complex& element : contents_of(c, kSize * kSize)) BOOST_TEST((element == expected), element);
  }

  cl_mem a, b, c;
};

void require_refused(const Status& status, Argument argument) {
  BOOST_TEST(name(status.code()) == name(Code::invalid_argument));
  BOOST_TEST(static_cast<int>(status.argument()) == static_cast<int>(argument), status.message());
}

const Complex kNan(std::nanf(""), std::nanf(""));

}  // namespace

BOOST_AUTO_TEST_CASE(AlphaZeroReadsNeitherANorB) {
  Gemm gemm = prepared(complex_problem());
  const Buffers m(kNan, kNan, Complex(2, 3));
  BOOST_TEST(gemm.enqueue(queue(), 0, {}, {}, {0, 2}, {m.c}).ok());
  m.require_all({-6, 4});
  BOOST_TEST(gemm.enqueue(queue(), 0, {m.a}, {m.b}, 0.5, {m.c}).ok());
  m.require_all({-3, 2});
}

BOOST_AUTO_TEST_CASE(BetaZeroReadsNoC) {
  Gemm gemm = prepared(complex_problem());
  const Buffers m(Complex(1, 1), Complex(2, -1), kNan);
  BOOST_TEST(gemm.enqueue(queue(), {0, 1}, {m.a}, {m.b}, 0, {m.c}).ok());
  m.require_all({-5, 15});  // i (1 + i) (2 - i) = -1 + 3 i
}

BOOST_AUTO_TEST_CASE(TheCallersWorkspaceServes) {
  Problem problem = complex_problem();
  problem.conj_a = problem.trans_a = true;
  PrepareOptions options;
  options.variant = kernels::name(variant_for(kWays[2], problem));
  options.caller_workspace = true;
  Result<Gemm> gemm = library().prepare(problem, options);
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  const Buffers m(Complex(1, -1), Complex(2, -1), kNan);
  require_refused(gemm->enqueue(queue(), 1, {m.a}, {m.b}, 0, {m.c}), Argument::workspace);
  const std::size_t bytes = gemm->workspace_bytes();
  BOOST_TEST(bytes >= 6 * kSize * kSize * sizeof(Complex) / 2);
  const cl_mem short_by_one = clCreateBuffer(context(), CL_MEM_READ_WRITE, bytes - 1, nullptr, nullptr);
  const cl_mem workspace = clCreateBuffer(context(), CL_MEM_READ_WRITE, bytes, nullptr, nullptr);
  require_refused(gemm->use_workspace(short_by_one), Argument::workspace);
  BOOST_TEST(gemm->use_workspace(workspace).ok());
  BOOST_TEST(gemm->enqueue(queue(), 1, {m.a}, {m.b}, 0, {m.c}).ok());
  m.require_all({15, 5});
  Result<Gemm> clone = gemm->clone();
  BOOST_REQUIRE(clone.ok());
  BOOST_TEST(clone->enqueue(queue(), 2, {m.a}, {m.b}, 0, {m.c}).ok());
  m.require_all({30, 10});
  clReleaseMemObject(short_by_one);
  clReleaseMemObject(workspace);
}

// PoCL 3.1 aborts the process when a failure reaches an event that nobody holds. The library holds
// the events of handles that are gone.
BOOST_AUTO_TEST_CASE(AFailedWaitEndsCallsWhoseHandleIsGone) {
  const Problem problem = complex_problem();
  const Buffers on(1, 1, 7);
  cl_int error = CL_SUCCESS;
  cl_event gate = clCreateUserEvent(context(), &error);
  BOOST_REQUIRE(error == CL_SUCCESS);
  std::array<cl_event, 2> done{};
  {
    Gemm gemm = prepared(problem);
    for (cl_event& event : done) {
      BOOST_TEST(gemm.enqueue(queue(), 1, {on.a}, {on.b}, 0, {on.c}, 1, &gate, &event).ok());
    }
  }
  BOOST_TEST(clSetUserEventStatus(gate, -5) == CL_SUCCESS);
  for (const cl_event& event : done) {
    BOOST_TEST(clWaitForEvents(1, &event) != CL_SUCCESS);
    clReleaseEvent(event);
  }
  clReleaseEvent(gate);
  on.require_all(7);
}
