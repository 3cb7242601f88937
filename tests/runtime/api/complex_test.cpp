// Complex problems, and scalars for each product, as a caller meets them: refusals, what is read, workspaces, misses.
#include "complex_scene.hpp"

#include <array>
#include <cmath>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;

namespace {

constexpr std::size_t kSize = 5;
using Element = std::complex<float>;

const Library& library() { return scene().where.library; }
cl_command_queue queue() { return scene().where.session.queue(); }
cl_context context() { return scene().where.session.context(); }

Problem complex_problem() { return make_problem({Precision::complex_single}, kSize, kSize, kSize); }

Gemm prepared(const Problem& problem) {
  Result<Gemm> gemm = library().prepare(problem, kernels::name(variant_for(kWays[0], problem)));
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  return std::move(*gemm);
}

cl_mem buffer_of(std::vector<Element> elements) {
  return clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, elements.size() * sizeof(Element),
                        elements.data(), nullptr);
}

std::vector<Element> contents_of(cl_mem buffer, std::size_t count) {
  std::vector<Element> elements(count);
  BOOST_REQUIRE(clEnqueueReadBuffer(queue(), buffer, CL_TRUE, 0, count * sizeof(Element), elements.data(), 0, nullptr,
                                    nullptr) == CL_SUCCESS);
  return elements;
}

// Square matrices of one number each.
struct Buffers {
  Buffers(Element of_a, Element of_b, Element of_c)
      : a(buffer_of(std::vector<Element>(kSize * kSize, of_a))),
        b(buffer_of(std::vector<Element>(kSize * kSize, of_b))),
        c(buffer_of(std::vector<Element>(kSize * kSize, of_c))) {}
  ~Buffers() {
    for (const cl_mem buffer : {a, b, c}) clReleaseMemObject(buffer);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  void require_all(Element expected) const {
    for (const Element& element : contents_of(c, kSize * kSize)) BOOST_TEST((element == expected), element);
  }

  cl_mem a, b, c;
};

void require_refused(const Status& status, Argument argument) {
  BOOST_TEST(name(status.code()) == name(Code::invalid_argument));
  BOOST_TEST(static_cast<int>(status.argument()) == static_cast<int>(argument), status.message());
}

const Element kNan(std::nanf(""), std::nanf(""));

}  // namespace

BOOST_AUTO_TEST_CASE(ComplexScalarsWithARealProblemAreRefused) {
  const Problem real = make_problem({Precision::single_precision}, kSize, kSize, kSize);
  Gemm gemm = prepared(real);
  const Buffers m(1, 1, 1);
  require_refused(gemm.enqueue(queue(), {1, 2}, {m.a}, {m.b}, 0, {m.c}), Argument::alpha);
  require_refused(gemm.enqueue(queue(), 1, {m.a}, {m.b}, {0, 1}, {m.c}), Argument::beta);
  require_refused(gemm.enqueue(queue(), {{1, {0, 1}}}, {m.a}, {m.b}, {m.c}), Argument::beta);
}

BOOST_AUTO_TEST_CASE(ScalarsAreOneForEachProduct) {
  Problem batch = complex_problem();
  batch.batch = 2;
  batch.c_stride = kSize * kSize;
  Gemm gemm = prepared(batch);
  const Buffers m(1, 1, 1);
  for (const std::size_t count : {0, 1, 3}) {
    require_refused(gemm.enqueue(queue(), std::vector<Scalars>(count), {m.a}, {m.b}, {m.c}), Argument::scalars);
  }
  // C holds one product: the second one lies outside.
  require_refused(gemm.enqueue(queue(), std::vector<Scalars>(2), {m.a}, {m.b}, {m.c}), Argument::c_size);
}

BOOST_AUTO_TEST_CASE(AlphaZeroReadsNeitherANorB) {
  Gemm gemm = prepared(complex_problem());
  const Buffers m(kNan, kNan, Element(2, 3));
  BOOST_TEST(gemm.enqueue(queue(), 0, {}, {}, {0, 2}, {m.c}).ok());
  m.require_all({-6, 4});
  BOOST_TEST(gemm.enqueue(queue(), 0, {m.a}, {m.b}, 0.5, {m.c}).ok());
  m.require_all({-3, 2});
}

BOOST_AUTO_TEST_CASE(BetaZeroReadsNoC) {
  Gemm gemm = prepared(complex_problem());
  const Buffers m(Element(1, 1), Element(2, -1), kNan);
  BOOST_TEST(gemm.enqueue(queue(), {0, 1}, {m.a}, {m.b}, 0, {m.c}).ok());
  m.require_all({-5, 15});  // i (1 + i) (2 - i) = -1 + 3 i
}

BOOST_AUTO_TEST_CASE(OneCallDoesTheSame) {
  const Buffers m(Element(1, 1), Element(2, -1), Element(1, 0));
  const auto call = [&] { return library().gemm(queue(), complex_problem(), 1, {m.a}, {m.b}, {0, 1}, {m.c}); };
  const Status first = call();
  BOOST_TEST(first.ok(), first.message());
  m.require_all({15, 6});  // 5 (3 + i) + i
  BOOST_TEST(library().gemm(queue(), complex_problem(), {{1, {0, 1}}}, {m.a}, {m.b}, {m.c}).ok());
  m.require_all({9, 20});  // 15 + 5 i + i (15 + 6 i)
}

BOOST_AUTO_TEST_CASE(TheCallersWorkspaceServes) {
  Problem problem = complex_problem();
  problem.conj_a = problem.trans_a = true;
  PrepareOptions options;
  options.variant = kernels::name(variant_for(kWays[2], problem));
  options.caller_workspace = true;
  Result<Gemm> gemm = library().prepare(problem, options);
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  const Buffers m(Element(1, -1), Element(2, -1), kNan);
  require_refused(gemm->enqueue(queue(), 1, {m.a}, {m.b}, 0, {m.c}), Argument::workspace);
  const std::size_t bytes = gemm->workspace_bytes();
  BOOST_TEST(bytes >= 6 * kSize * kSize * sizeof(Element) / 2);
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

BOOST_AUTO_TEST_CASE(OperandsThatShareElementsWithCAreRefused) {
  Gemm gemm = prepared(complex_problem());
  const cl_mem all = buffer_of(std::vector<Element>(3 * kSize * kSize));
  const auto at = [&](std::size_t offset) { return Matrix{all, offset}; };
  require_refused(gemm.enqueue(queue(), 1, at(0), at(kSize), 0, at(kSize * kSize - 1)), Argument::c_alias);
  BOOST_TEST(gemm.enqueue(queue(), 1, at(0), at(kSize), 0, at(kSize * kSize + kSize)).ok());
  require_refused(gemm.enqueue(queue(), 1, at(0), at(0), 0, at(2 * kSize * kSize + 1)), Argument::c_size);
  BOOST_TEST(clFinish(queue()) == CL_SUCCESS);
  clReleaseMemObject(all);
}

BOOST_AUTO_TEST_CASE(ABundleWithoutTheKernelsIsNamed) {
  const Device& device = devices()->front();
  const kernels::Params params = variant_for(kWays[0], complex_problem());
  cache::Contents contents;
  contents.targets = {device.target};
  add_job(contents, make_job(device.target, kernels::generate(params), params));
  const cache::Bytes bytes = *cache::encode(contents);
  const Bundle bundle = *Bundle::from_memory({bytes.data(), bytes.size()});
  const Library without = *Library::create(context(), device.id, {bundle});
  const Result<Gemm> gemm = without.prepare(complex_problem(), kernels::name(params));
  BOOST_TEST(name(gemm.status().code()) == name(Code::no_variant));
  BOOST_TEST(gemm.status().message().find("complex-single") != std::string::npos, gemm.status().message());
  BOOST_TEST(without.counters().failed == 1U);
}

// The kernels may be in another bundle than the variant.
BOOST_AUTO_TEST_CASE(BothProgramsAreExplained) {
  const Problem problem = complex_problem();
  Gemm gemm = prepared(problem);
  const Explanation& e = gemm.explanation();
  BOOST_TEST(e.variant == kernels::name(variant_for(kWays[0], problem)));
  BOOST_TEST((e.origin == Origin::source && e.miss != Code::ok));
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
