// The C header on the driver in memory: every function does what its C++ counterpart does, and passes on every field.
#include "api/c_scene.hpp"

#include <algorithm>
#include <vector>

using namespace clbake;
using namespace clbake::test;

namespace {

clbake_scalars scalars_for(const Operands& operands) {
  return {operands.alpha().real(), operands.alpha().imag(), Operands::kBeta, 0};
}

void check_right(const Scene& scene, const Operands& operands) {
  const double error = operands.error(scene.queue);
  BOOST_TEST(error < kTolerance, "an error of " << error);
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryCallMultiplies) {
  {
    CScene scene;
    clbake_error& error = scene.error;
    const CLibrary library(scene);
    for (const Case which : kWithComplex) {
      const Problem shape = problem_of(which);
      const clbake_problem problem = c_problem_of(which);
      const Operands o[4] = {{scene, shape}, {scene, shape}, {scene, shape}, {scene, shape}};
      const clbake_scalars scalars = scalars_for(o[0]);
      Handle gemm, clone;
      BOOST_REQUIRE(clbake_gemm_prepare(library, &problem, nullptr, 0, &gemm.gemm, &error) == CLBAKE_OK);
      BOOST_REQUIRE(clbake_gemm_clone(gemm, &clone.gemm, &error) == CLBAKE_OK);
      BOOST_TEST(clbake_gemm_enqueue_scaled(clone, scene.queue, &scalars, 1, o[0].a.buffer, o[0].a.offset,
                                            o[0].b.buffer, o[0].b.offset, o[0].c.buffer, o[0].c.offset, nullptr, 0,
                                            nullptr, nullptr, &error) == CLBAKE_OK);
      BOOST_TEST(clbake_library_gemm_scaled(library, scene.queue, &problem, &scalars, 1, o[1].a.buffer, o[1].a.offset,
                                            o[1].b.buffer, o[1].b.offset, o[1].c.buffer, o[1].c.offset, nullptr, 0,
                                            nullptr, nullptr, &error) == CLBAKE_OK);
      check_right(scene, o[0]);
      check_right(scene, o[1]);
      if (which == Case::complex) continue;  // whose alpha is not real
      cl_event done = nullptr;
      BOOST_TEST(clbake_gemm_enqueue(gemm, scene.queue, scalars.alpha, o[2].a.buffer, o[2].a.offset, o[2].b.buffer,
                                     o[2].b.offset, scalars.beta, o[2].c.buffer, o[2].c.offset, nullptr, 0, nullptr,
                                     &done, &error) == CLBAKE_OK);
      const auto record = [&](cl_uint waits) {
        return clbake_gemm_record(gemm, nullptr, scalars.alpha, o[2].a.buffer, o[2].a.offset, o[2].b.buffer,
                                  o[2].b.offset, scalars.beta, o[2].c.buffer, o[2].c.offset, nullptr, waits, nullptr,
                                  nullptr, nullptr, &error);
      };
      BOOST_TEST(record(0) == CLBAKE_OPENCL);  // the platform has no command buffers
      check_refused(record(1), error, CLBAKE_ARGUMENT_WAIT_LIST, "wait");
      // Pointers reach the library as such; the fake driver has no memory for them.
      const auto at_pointer = [&](std::size_t flag) {
        return clbake_gemm_enqueue(gemm, scene.queue, 1, reinterpret_cast<cl_mem>(&error), flag | 3, o[2].b.buffer, 0,
                                   0, o[2].c.buffer, 0, nullptr, 0, nullptr, nullptr, &error);
      };
      check_refused(at_pointer(CLBAKE_USM), error, CLBAKE_ARGUMENT_A, "A: the platform lacks cl_intel_unified");
      check_refused(at_pointer(CLBAKE_SVM), error, CLBAKE_ARGUMENT_A, "A: the pointer is none that clSVMAlloc");
      BOOST_TEST(clbake_library_gemm(library, scene.unordered_queue, &problem, scalars.alpha, o[3].a.buffer,
                                     o[3].a.offset, o[3].b.buffer, o[3].b.offset, scalars.beta, o[3].c.buffer,
                                     o[3].c.offset, nullptr, 1, &done, nullptr, &error) == CLBAKE_OK);
      clFinish(scene.unordered_queue);
      check_right(scene, o[2]);
      check_right(scene, o[3]);
      clReleaseEvent(done);
    }
    BOOST_TEST(counters_of(library).cached == 4U);
  }
  check_nothing_is_left();
}

// Each product of the batch in a call of its own: the other's scalars leave its C as it is.
BOOST_AUTO_TEST_CASE(EachProductOfABatchHasItsScalars) {
  CScene scene;
  clbake_error& error = scene.error;
  const CLibrary library(scene);
  const Problem shape = problem_of(Case::native, 2);
  clbake_problem problem = c_problem_of(Case::native, 2);
  const clbake_batch_offsets offsets[2] = {{0, 0, 0}, {shape.a_stride, shape.b_stride, shape.c_stride}};
  for (const bool with_offsets : {false, true}) {
    problem.offsets = with_offsets ? offsets : nullptr;
    if (with_offsets) problem.a_stride = problem.b_stride = problem.c_stride = 0;
    const Operands o(scene, shape), p(scene, shape);
    Handle gemm;
    BOOST_REQUIRE(clbake_gemm_prepare(library, &problem, nullptr, 0, &gemm.gemm, &error) == CLBAKE_OK);
    const clbake_scalars own = scalars_for(o), none = {0, 0, 1, 0};
    for (const int product : {0, 1}) {
      const clbake_scalars scalars[2] = {product == 0 ? own : none, product == 1 ? own : none};
      BOOST_TEST(clbake_gemm_enqueue_scaled(gemm, scene.queue, scalars, 2, o.a.buffer, o.a.offset, o.b.buffer,
                                            o.b.offset, o.c.buffer, o.c.offset, nullptr, 0, nullptr, nullptr,
                                            &error) == CLBAKE_OK);
      BOOST_TEST(clbake_library_gemm_scaled(library, scene.queue, &problem, scalars, 2, p.a.buffer, p.a.offset,
                                            p.b.buffer, p.b.offset, p.c.buffer, p.c.offset, nullptr, 0, nullptr,
                                            nullptr, &error) == CLBAKE_OK);
    }
    check_right(scene, o);
    check_right(scene, p);
    const clbake_scalars three[3] = {own, own, own};
    check_refused(clbake_gemm_enqueue_scaled(gemm, scene.queue, three, 3, o.a.buffer, o.a.offset, o.b.buffer,
                                             o.b.offset, o.c.buffer, o.c.offset, nullptr, 0, nullptr, nullptr, &error),
                  error, CLBAKE_ARGUMENT_SCALARS, "3");
    check_right(scene, o);  // nothing was written
  }
}

// C = clamp(D + bias), with alpha = 0 and beta = 1: A, B and C are not read.
BOOST_AUTO_TEST_CASE(AnEpilogueIsPassedOn) {
  CScene scene;
  clbake_error& error = scene.error;
  const CLibrary library(scene);
  constexpr std::size_t m = 3, n = 5, ldd = 6, offset = 2;
  clbake_problem problem;
  clbake_problem_init(&problem, CLBAKE_SINGLE, m, n, 4);
  problem.bias = CLBAKE_BIAS_PER_COLUMN;
  problem.activation = CLBAKE_CLAMP;
  problem.low = 2;
  problem.high = 12;
  problem.has_d = 1;
  problem.ldd = ldd;
  std::vector<float> d(offset + m * ldd), bias(offset + n), c(m * n, -1);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = static_cast<float>(i) - offset;
  for (std::size_t j = 0; j < bias.size(); ++j) bias[j] = static_cast<float>(j) - offset - 1;
  const auto buffer = [&](std::vector<float>& data) {
    return clCreateBuffer(scene.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, data.size() * sizeof(float),
                          data.data(), nullptr);
  };
  const clbake_epilogue_buffers more = {buffer(bias), offset, buffer(d), offset, nullptr, 0, nullptr, 0};
  cl_mem to = buffer(c);
  const auto call = [&](const clbake_epilogue_buffers* buffers) {
    return clbake_library_gemm(library, scene.queue, &problem, 0, nullptr, 0, nullptr, 0, 1, to, 0, buffers, 0, nullptr,
                               nullptr, &error);
  };
  check_refused(call(nullptr), error, CLBAKE_ARGUMENT_D, "D");
  BOOST_TEST(call(&more) == CLBAKE_OK, error.message);
  clEnqueueReadBuffer(scene.queue, to, CL_TRUE, 0, c.size() * sizeof(float), c.data(), 0, nullptr, nullptr);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const float sum = static_cast<float>(i * ldd + j) + static_cast<float>(j) - 1;
      BOOST_TEST(c[i * n + j] == std::min(std::max(sum, 2.0F), 12.0F));
    }
  }
  for (cl_mem made : {more.bias, more.d, to}) clReleaseMemObject(made);
}

BOOST_AUTO_TEST_CASE(AWorkspaceOfTheCallersIsUsed) {
  CScene scene;
  clbake_error& error = scene.error;
  const CLibrary library(scene);
  const clbake_problem problem = c_problem_of(Case::launches);
  const Operands o(scene, problem_of(Case::launches));
  std::size_t bytes = 0;
  BOOST_TEST(clbake_library_workspace_bytes(library, &problem, &bytes, &error) == CLBAKE_OK);
  Handle gemm;
  BOOST_REQUIRE(clbake_gemm_prepare(library, &problem, "launches", 1, &gemm.gemm, &error) == CLBAKE_OK);
  BOOST_TEST(bytes > 0U);
  BOOST_TEST(clbake_gemm_workspace_bytes(gemm) == bytes);
  const auto multiply = [&] {
    return clbake_gemm_enqueue(gemm, scene.queue, Operands::kAlpha, o.a.buffer, o.a.offset, o.b.buffer, o.b.offset,
                               Operands::kBeta, o.c.buffer, o.c.offset, nullptr, 0, nullptr, nullptr, &error);
  };
  check_refused(multiply(), error, CLBAKE_ARGUMENT_WORKSPACE, "workspace");
  constexpr std::size_t aligned = 128;  // CL_DEVICE_MEM_BASE_ADDR_ALIGN of the fake device
  cl_mem workspace = clCreateBuffer(scene.context, CL_MEM_READ_WRITE, aligned + bytes, nullptr, nullptr);
  check_refused(clbake_gemm_use_workspace(gemm, workspace, 2 * aligned, &error), error, CLBAKE_ARGUMENT_WORKSPACE,
                std::to_string(bytes));
  BOOST_TEST(clbake_gemm_use_workspace(gemm, workspace, aligned, &error) == CLBAKE_OK);
  clReleaseMemObject(workspace);
  BOOST_TEST(multiply() == CLBAKE_OK);
  check_right(scene, o);
}

BOOST_AUTO_TEST_CASE(AnExplanationSaysWhatServesAndCountersWhatServed) {
  CScene scene;
  clbake_error& error = scene.error;
  const CLibrary library(scene);
  const clbake_problem problem = c_problem_of(Case::source);
  clbake_explanation e;
  clbake_explanation_init(&e);
  BOOST_TEST(clbake_library_contains(library, &problem) == 0);
  for (const int loaded : {0, 1}) {
    Handle gemm;
    BOOST_REQUIRE(clbake_gemm_prepare(library, &problem, nullptr, 0, &gemm.gemm, &error) == CLBAKE_OK);
    BOOST_TEST(clbake_gemm_explanation(gemm, &e, &error) == CLBAKE_OK);
    BOOST_TEST(e.origin == CLBAKE_SOURCE);
    BOOST_TEST(e.miss == CLBAKE_NO_ENTRY);
    BOOST_TEST(e.loaded == loaded);
    BOOST_TEST(e.bundle == 0U);
    BOOST_TEST(std::string(e.variant) == "source");
    BOOST_TEST(std::string(e.waits_for).empty());
    BOOST_TEST(std::string(e.baked_for).empty());
    BOOST_TEST(!std::string(e.reason).empty());
    BOOST_TEST(!std::string(e.miss_message).empty());
  }
  const clbake_problem native = c_problem_of(Case::native);
  BOOST_TEST(clbake_library_warm(library, &native, 1, nullptr, nullptr, &error) == CLBAKE_OK);
  BOOST_TEST(clbake_library_explain(library, &native, &e, &error) == CLBAKE_OK);
  BOOST_TEST(e.origin == CLBAKE_NATIVE);
  BOOST_TEST(e.miss == CLBAKE_OK);
  BOOST_TEST(clbake_library_contains(library, &native) == 1);
  const clbake_counters counters = counters_of(library);
  BOOST_TEST(counters.source == 1U);
  BOOST_TEST(counters.native == 1U);
  BOOST_TEST(counters.loaded == 1U);
  BOOST_TEST(counters.failed == 0U);
  BOOST_TEST(counters.misses[CLBAKE_NO_ENTRY] == 1U);
  BOOST_TEST(counters.misses[CLBAKE_NO_TARGET] == 0U);
}
