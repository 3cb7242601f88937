// Arguments that must not be used: each refusal names them in the order that the header states, and C
// stays as it was.
#include "faults/fake_scene.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

using namespace clbake;
using namespace clbake::test;

namespace {

// That it was refused for this argument, in these words.
void check_refused(const Status& status, Argument argument, const std::string& words) {
  BOOST_TEST(name(status.code()) == "invalid argument");
  BOOST_TEST(static_cast<int>(status.argument()) == static_cast<int>(argument), words);
  BOOST_TEST(status.message().find(words) != std::string::npos, words << " is not in: " << status.message());
}

Gemm gemm_of(const Library& library, const Problem& problem) {
  Result<Gemm> gemm = library.prepare(problem);
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  return std::move(*gemm);
}

// A buffer of so many floats, all of them `value`.
class Floats {
 public:
  Floats(const Scene& scene, std::size_t count, float value) : queue_(scene.queue), data_(count, value) {
    buffer = clCreateBuffer(scene.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, count * sizeof value, data_.data(),
                            nullptr);
  }
  ~Floats() { clReleaseMemObject(buffer); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;

  const std::vector<float>& read() {
    clEnqueueReadBuffer(queue_, buffer, CL_TRUE, 0, data_.size() * sizeof(float), data_.data(), 0, nullptr, nullptr);
    return data_;
  }
  bool holds(float value) {
    const std::vector<float>& all = read();
    return std::count(all.begin(), all.end(), value) == static_cast<std::ptrdiff_t>(all.size());
  }
  cl_mem buffer = nullptr;

 private:
  cl_command_queue queue_;
  std::vector<float> data_;
};

// m x n x k without gaps.
Problem small_problem(const Epilogue& epilogue = {}) {
  Problem problem = make_problem({}, 3, 4, 2);
  problem.epilogue = epilogue;
  return problem;
}

}  // namespace

BOOST_AUTO_TEST_CASE(AContextOrDeviceThatDoesNotServeIsNamed) {
  {
    const Scene scene;
    cl_context alone = clCreateContext(nullptr, 1, &scene.other_device, nullptr, nullptr, nullptr);
    check_refused(Library::create(alone, scene.device, {}).status(), Argument::device, "none of the context's");
    check_refused(Library::create(nullptr, scene.device, {}).status(), Argument::context, "context is null");
    check_refused(Library::create(scene.context, nullptr, {}).status(), Argument::device, "device is null");
    clReleaseContext(alone);
    fake::fail(fake::Function::clGetContextInfo, 0,
               CL_INVALID_CONTEXT);  // what drivers say of a handle of another kind
    const Status status = Library::create(scene.context, scene.device, {}).status();
    check_refused(status, Argument::context, "CL_INVALID_CONTEXT");
    BOOST_TEST(status.opencl_code() == CL_INVALID_CONTEXT);
    fake::fail_nothing();
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(AQueueThatDoesNotServeIsNamed) {
  const Scene scene;
  const Library library = *open_library(scene);
  const Problem problem = problem_of(Case::native);
  const Operands o(scene, problem);
  Gemm gemm = gemm_of(library, problem);
  cl_context other = clCreateContext(nullptr, 1, &scene.device, nullptr, nullptr, nullptr);
  cl_command_queue of_other_context = clCreateCommandQueue(other, scene.device, 0, nullptr);
  cl_command_queue of_other_device = clCreateCommandQueue(scene.context, scene.other_device, 0, nullptr);
  check_refused(enqueue(gemm, nullptr, o), Argument::queue, "queue is null");
  check_refused(enqueue(gemm, of_other_context, o), Argument::queue, "another context");
  check_refused(enqueue(gemm, of_other_device, o), Argument::queue, "another device");
  fake::fail(fake::Function::clGetCommandQueueInfo, 0, CL_INVALID_COMMAND_QUEUE);
  check_refused(enqueue(gemm, scene.queue, o), Argument::queue, "CL_INVALID_COMMAND_QUEUE");
  fake::fail_nothing();
  check_refused(enqueue(gemm, scene.queue, o, 2, nullptr), Argument::wait_list, "wait_list is null");
  cl_event done = clCreateUserEvent(scene.context, nullptr);
  clSetUserEventStatus(done, CL_COMPLETE);
  const cl_event list[2] = {done, nullptr};
  check_refused(enqueue(gemm, scene.queue, o, 2, list), Argument::wait_list, "wait_list[1] is null");
  clReleaseEvent(done);
  BOOST_TEST(enqueue(gemm, scene.queue, o).ok());
  BOOST_TEST(o.error(scene.queue) < kTolerance);  // of one call: those that were refused did nothing
  clReleaseCommandQueue(of_other_device);
  clReleaseCommandQueue(of_other_context);
  clReleaseContext(other);
}

BOOST_AUTO_TEST_CASE(ABufferThatDoesNotServeIsNamed) {
  const Scene scene;
  const Library library = *open_library(scene);
  const Problem problem = small_problem();
  Gemm gemm = gemm_of(library, problem);
  Floats a(scene, 6, 1), b(scene, 8, 1), c(scene, 12, 5);
  const auto call = [&](Matrix of_a, Matrix of_b, Matrix of_c) {
    return gemm.enqueue(scene.queue, 1, of_a, of_b, 0, of_c);
  };
  const Matrix at_a{a.buffer}, at_b{b.buffer}, at_c{c.buffer};
  check_refused(call({}, at_b, at_c), Argument::a, "A: the buffer is null");
  check_refused(call(at_a, {}, at_c), Argument::b, "B: the buffer is null");
  check_refused(call(at_a, at_b, {}), Argument::c, "C: the buffer is null");
  check_refused(call({a.buffer, 1}, at_b, at_c), Argument::a_size, "A needs 6 elements from offset 1");
  check_refused(call(at_a, {b.buffer, 9}, at_c), Argument::b_size, "B needs 8 elements from offset 9");
  check_refused(call(at_a, at_b, {a.buffer, 0}), Argument::c_size, "C needs 12 elements");

  cl_context other = clCreateContext(nullptr, 1, &scene.device, nullptr, nullptr, nullptr);
  cl_mem foreign = clCreateBuffer(other, CL_MEM_READ_WRITE, 64, nullptr, nullptr);
  check_refused(call({foreign}, at_b, at_c), Argument::a, "another context");
  clReleaseMemObject(foreign);
  clReleaseContext(other);
  const cl_image_format format = {CL_RGBA, CL_FLOAT};
  cl_image_desc description = {};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = description.image_height = 16;
  cl_mem image = clCreateImage(scene.context, CL_MEM_READ_WRITE, &format, &description, nullptr, nullptr);
  check_refused(call(at_a, {image}, at_c), Argument::b, "an image or a pipe");
  clReleaseMemObject(image);
  for (std::size_t asked = 0; asked < 3; ++asked) {
    fake::fail(fake::Function::clGetMemObjectInfo, asked, CL_INVALID_MEM_OBJECT);
    check_refused(call(at_a, at_b, at_c), Argument::a, "A: CL_INVALID_MEM_OBJECT");
    fake::fail(fake::Function::clGetMemObjectInfo, asked, CL_INVALID_VALUE);
    BOOST_TEST(name(call(at_a, at_b, at_c).code()) == "OpenCL error");
    fake::fail_nothing();
  }
  BOOST_TEST(c.holds(5));
  BOOST_TEST(call(at_a, at_b, at_c).ok());
  BOOST_TEST(c.holds(2));
}

BOOST_AUTO_TEST_CASE(AProductThatIsNotComplexHasRealScalars) {
  const Scene scene;
  const Library library = *open_library(scene);
  const Problem problem = problem_of(Case::native);
  const Operands o(scene, problem);
  Gemm gemm = gemm_of(library, problem);
  const std::complex<double> i(0, 1);
  check_refused(gemm.enqueue(scene.queue, i, o.a, o.b, Operands::kBeta, o.c), Argument::alpha, "alpha is complex");
  check_refused(gemm.enqueue(scene.queue, 1, o.a, o.b, i, o.c), Argument::beta, "beta is complex");
  check_refused(library.gemm(scene.queue, problem, i, o.a, o.b, 1, o.c), Argument::alpha, "alpha is complex");
  BOOST_TEST(enqueue(gemm, scene.queue, o).ok());
  BOOST_TEST(o.error(scene.queue) < kTolerance);
}

// A and B may be read from C's buffer, as long as they share no element with it.
BOOST_AUTO_TEST_CASE(OperandsThatShareElementsWithCAreNamed) {
  const Scene scene;
  const Library library = *open_library(scene);
  Problem problem = small_problem();
  Floats all(scene, 40, 1);
  const auto at = [&](std::size_t offset) { return Matrix{all.buffer, offset}; };
  for (const Layout layout : {Layout::row_major, Layout::column_major}) {
    problem = make_problem({}, 3, 4, 2, layout);
    Gemm gemm = gemm_of(library, problem);
    // A has 6 elements, B 8, C 12.
    check_refused(gemm.enqueue(scene.queue, 1, at(15), at(32), 0, at(20)), Argument::c_alias, "C and A share");
    check_refused(gemm.enqueue(scene.queue, 1, at(0), at(31), 0, at(20)), Argument::c_alias, "C and B share");
    BOOST_TEST(all.holds(1));
    BOOST_TEST(gemm.enqueue(scene.queue, 1, at(14), at(32), 0, at(20)).ok());
    const std::vector<float>& after = all.read();
    for (std::size_t i = 0; i < after.size(); ++i) BOOST_TEST(after[i] == (i >= 20 && i < 32 ? 2 : 1));
    clFinish(scene.queue);
    BOOST_TEST(gemm.enqueue(scene.queue, 0, {}, {}, 0, at(20)).ok());
    BOOST_TEST(gemm.enqueue(scene.queue, 0, {}, {}, 0, at(20), EpilogueBuffers()).ok());
    const std::vector<float> ones(40, 1);
    clEnqueueWriteBuffer(scene.queue, all.buffer, CL_TRUE, 0, 40 * sizeof ones[0], ones.data(), 0, nullptr, nullptr);
  }
}

BOOST_AUTO_TEST_CASE(ADThatSharesElementsWithCIsItOrIsRefused) {
  const Scene scene;
  const Library library = *open_library(scene);
  Epilogue epilogue;
  epilogue.has_d = true;
  epilogue.ldd = 4;
  Problem problem = small_problem(epilogue);
  Gemm gemm = gemm_of(library, problem);
  Floats a(scene, 6, 1), b(scene, 8, 1), c(scene, 40, 3);
  const auto call = [&](Gemm& with, std::size_t d) {
    return with.enqueue(scene.queue, 1, {a.buffer}, {b.buffer}, 1, {c.buffer, 4}, {{}, {c.buffer, d}});
  };
  check_refused(call(gemm, 5), Argument::d_alias, "C and D share elements");
  check_refused(call(gemm, 0), Argument::d_alias, "not the same matrix");
  check_refused(call(gemm, 30), Argument::d_size, "D needs 12 elements");
  problem.epilogue.ldd = 5;
  Gemm wider = gemm_of(library, problem);
  check_refused(call(wider, 4), Argument::d_alias, "C and D share elements");
  BOOST_TEST(c.holds(3));
  BOOST_TEST(call(gemm, 4).ok());  // D is C
  BOOST_TEST(c.read()[4] == 5);
  BOOST_TEST(c.read()[3] == 3);
  BOOST_TEST(call(gemm, 16).ok());  // behind C
  BOOST_TEST(c.read()[15] == 5);
  BOOST_TEST(c.read()[16] == 3);
}

BOOST_AUTO_TEST_CASE(ABiasThatSharesElementsWithCIsRefused) {
  const Scene scene;
  const Library library = *open_library(scene);
  for (const Bias bias : {Bias::per_row, Bias::per_column}) {
    const std::size_t length = bias == Bias::per_row ? 3 : 4;
    Epilogue epilogue;
    epilogue.bias = bias;
    epilogue.activation = Activation::relu;
    Gemm gemm = gemm_of(library, small_problem(epilogue));
    Floats a(scene, 6, 1), b(scene, 8, -1), c(scene, 20, 4);
    const auto call = [&](Matrix at) {
      return gemm.enqueue(scene.queue, 1, {a.buffer}, {b.buffer}, 0, {c.buffer, 8}, {at, {}});
    };
    check_refused(call({}), Argument::bias_vector, "bias: the buffer is null");
    check_refused(call({c.buffer, 21 - length}), Argument::bias_size, "bias needs");
    check_refused(call({c.buffer, 9 - length}), Argument::bias_alias, "C and the bias share");
    BOOST_TEST(c.holds(4));
    BOOST_TEST(call({c.buffer, 8 - length}).ok());
    const std::vector<float>& after = c.read();
    for (std::size_t i = 0; i < after.size(); ++i) BOOST_TEST(after[i] == (i < 8 ? 4 : 2));  // relu(-2 + 4)
  }
}

BOOST_AUTO_TEST_CASE(AWorkspaceThatDoesNotServeIsRefused) {
  const Scene scene;
  const Library library = *open_library(scene);
  const Problem problem = problem_of(Case::launches);
  const Operands o(scene, problem);
  const std::size_t bytes = *library.workspace_bytes(problem);
  Gemm gemm = gemm_of(library, problem);
  BOOST_TEST(gemm.workspace_bytes() == bytes);
  cl_mem small = clCreateBuffer(scene.context, CL_MEM_READ_WRITE, bytes + 127, nullptr, nullptr);
  check_refused(gemm.use_workspace(small, 64), Argument::workspace, "64 bytes is no multiple of the device's 128");
  check_refused(gemm.use_workspace(small, 128), Argument::workspace, std::to_string(bytes));
  check_refused(gemm.use_workspace(nullptr), Argument::workspace, "null");
  fake::fail(fake::Function::clCreateSubBuffer, 0, CL_INVALID_VALUE);
  BOOST_TEST(gemm.use_workspace(small).opencl_code() == CL_INVALID_VALUE);
  fake::fail_nothing();
  clReleaseMemObject(small);
  BOOST_TEST(enqueue(gemm, scene.queue, o).ok());  // with what it had
  BOOST_TEST(o.error(scene.queue) < kTolerance);
}

BOOST_AUTO_TEST_CASE(NothingIsLoadedForAnImpossibleProblem) {
  const Scene scene;
  const Library library = *open_library(scene);
  Problem problem = problem_of(Case::native);
  problem.ldc = 3;
  fake::forget_calls();
  check_refused(library.workspace_bytes(problem).status(), Argument::ldc, "ldc = 3");
  check_refused(library.gemm(scene.queue, problem, 1, {}, {}, 0, {}), Argument::ldc, "ldc = 3");
  check_refused(library.warm({problem}), Argument::ldc, "ldc = 3");
  check_refused(library.explain(problem).status(), Argument::ldc, "ldc = 3");
  BOOST_TEST(!library.contains(problem));
  BOOST_TEST(fake::calls() == 0U);
  BOOST_TEST(library.counters().failed == 3U);
}
