// The C header: what a C caller can do wrong is named, with nothing written.
#include "api/c_scene.hpp"

#include <cstring>

using namespace clbake;
using namespace clbake::test;

// An older caller's struct is smaller, a newer one's larger, an uninitialised one's is any size.
BOOST_AUTO_TEST_CASE(StructsOfAnotherSizeAreRefusedAndNotWritten) {
  BOOST_TEST(sizeof(clbake_error) == 1024U);  // in every version
  BOOST_TEST(clbake_version() == CLBAKE_VERSION_NUMBER);
  CScene scene;
  clbake_error& error = scene.error;
  const CLibrary library(scene);
  clbake_problem problem = c_problem_of(Case::native);
  clbake_explanation explanation;
  clbake_counters counters;
  clbake_options options;
  clbake_explanation_init(&explanation);
  clbake_counters_init(&counters);
  clbake_options_init(&options);
  const auto refused = [&](clbake_code code, const char* name) {
    check_refused(code, error, CLBAKE_ARGUMENT_STRUCT_SIZE, std::string(name) + ".struct_size");
  };
  for (const std::size_t size : {std::size_t{0}, sizeof problem - 8, sizeof problem + 8}) {
    problem.struct_size = size;
    refused(clbake_library_explain(library, &problem, &explanation, &error), "problem");
    refused(clbake_library_warm(library, &problem, 1, nullptr, nullptr, &error), "problem");
  }
  problem.struct_size = sizeof problem;
  clbake_library* another = nullptr;
  for (const std::size_t size : {std::size_t{0}, sizeof options - 8, sizeof options + 8}) {
    options.struct_size = size;
    refused(clbake_library_create(scene.context, scene.device, nullptr, 0, &options, &another, &error), "options");
  }
  BOOST_TEST(another == nullptr);
  explanation.struct_size = sizeof explanation - 8;
  counters.struct_size = sizeof counters - 8;
  refused(clbake_library_explain(library, &problem, &explanation, &error), "explanation");
  refused(clbake_library_explain_program(library, "any", &explanation, &error), "explanation");
  refused(clbake_library_counters(library, &counters, &error), "counters");
  BOOST_TEST(std::strlen(explanation.variant) == 0U);
  // Fields that a newer header added come after those that this library writes.
  explanation.struct_size = sizeof explanation + 8;
  BOOST_TEST(clbake_library_explain(library, &problem, &explanation, &error) == CLBAKE_OK);
  BOOST_TEST(explanation.struct_size == sizeof explanation + 8);
  BOOST_TEST(std::string(explanation.variant) == "native");
}

BOOST_AUTO_TEST_CASE(NullArgumentsOfBundlesAndLibrariesAreNamed) {
  CScene scene;
  clbake_error& error = scene.error;
  clbake_bundle* bundle = nullptr;
  check_refused(clbake_bundle_open(nullptr, &bundle, &error), error, CLBAKE_ARGUMENT_OTHER, "path is null");
  check_refused(clbake_bundle_open("any", nullptr, &error), error, CLBAKE_ARGUMENT_OUTPUT, "bundle is null");
  for (const auto read : {clbake_bundle_from_memory, clbake_bundle_copy_memory}) {
    check_refused(read(nullptr, 10, &bundle, &error), error, CLBAKE_ARGUMENT_OTHER, "bytes is null");
    check_refused(read("any", 3, nullptr, &error), error, CLBAKE_ARGUMENT_OUTPUT, "bundle is null");
    BOOST_TEST(read("any", 3, &bundle, &error) == CLBAKE_NOT_A_BUNDLE);
  }
  BOOST_TEST(bundle == nullptr);

  clbake_library* library = nullptr;
  const auto refused = [&](cl_context context, clbake_bundle* const* bundles, clbake_library** to,
                           clbake_argument argument, const char* words) {
    check_refused(clbake_library_create(context, scene.device, bundles, 1, nullptr, to, &error), error, argument,
                  words);
  };
  refused(nullptr, &scene.bundle, &library, CLBAKE_ARGUMENT_CONTEXT, "context is null");
  refused(scene.context, nullptr, &library, CLBAKE_ARGUMENT_BUNDLE, "bundles is null");
  refused(scene.context, &bundle, &library, CLBAKE_ARGUMENT_BUNDLE, "a bundle of the list is null");
  refused(scene.context, &scene.bundle, nullptr, CLBAKE_ARGUMENT_OUTPUT, "library is null");
  BOOST_TEST(library == nullptr);
  clbake_bundle_release(nullptr);
  clbake_library_release(nullptr);
  clbake_overlay_release(nullptr);
  BOOST_TEST(clbake_library_retain(nullptr) == nullptr);
}

// Each function of a library, with nothing in the library's place.
BOOST_AUTO_TEST_CASE(AMissingLibraryIsNamed) {
  clbake_error error{};
  const clbake_problem problem = c_problem_of(Case::native);
  const clbake_scalars scalars = {1, 0, 0, 0};
  clbake_explanation explanation;
  clbake_counters counters;
  clbake_explanation_init(&explanation);
  clbake_counters_init(&counters);
  clbake_gemm* gemm = nullptr;
  clbake_program* program = nullptr;
  std::size_t bytes = 77;
  const auto refused = [&](clbake_code code) {
    check_refused(code, error, CLBAKE_ARGUMENT_LIBRARY, "library is null");
  };
  refused(clbake_library_gemm(nullptr, nullptr, &problem, 1, nullptr, 0, nullptr, 0, 0, nullptr, 0, nullptr, 0, nullptr,
                              nullptr, &error));
  refused(clbake_library_gemm_scaled(nullptr, nullptr, &problem, &scalars, 1, nullptr, 0, nullptr, 0, nullptr, 0,
                                     nullptr, 0, nullptr, nullptr, &error));
  refused(clbake_library_warm(nullptr, &problem, 1, nullptr, nullptr, &error));
  refused(clbake_library_explain(nullptr, &problem, &explanation, &error));
  refused(clbake_library_workspace_bytes(nullptr, &problem, &bytes, &error));
  refused(clbake_library_counters(nullptr, &counters, &error));
  refused(clbake_library_write_recording(nullptr, "any", &error));
  refused(clbake_gemm_prepare(nullptr, &problem, nullptr, 0, &gemm, &error));
  refused(clbake_library_program(nullptr, "any", &program, &error));
  refused(clbake_library_explain_program(nullptr, "any", &explanation, &error));
  BOOST_TEST(gemm == nullptr);
  BOOST_TEST(program == nullptr);
  BOOST_TEST(bytes == 77U);
  BOOST_TEST(clbake_library_contains(nullptr, &problem) == 0);
  clbake_library_finish(nullptr);
}

BOOST_AUTO_TEST_CASE(OtherNullArgumentsAreNamed) {
  {
    CScene scene;
    clbake_error& error = scene.error;
    const CLibrary library(scene);
    const clbake_problem problem = c_problem_of(Case::native);
    clbake_gemm* gemm = nullptr;
    std::size_t bytes = 0;
    const auto no_output = [&](clbake_code code, const char* name) {
      check_refused(code, error, CLBAKE_ARGUMENT_OUTPUT, std::string(name) + " is null");
    };
    no_output(clbake_gemm_prepare(library, &problem, nullptr, 0, nullptr, &error), "gemm");
    no_output(clbake_library_explain(library, &problem, nullptr, &error), "explanation");
    no_output(clbake_library_explain_program(library, "any", nullptr, &error), "explanation");
    no_output(clbake_library_workspace_bytes(library, &problem, nullptr, &error), "bytes");
    no_output(clbake_library_counters(library, nullptr, &error), "counters");

    const auto no_problem = [&](clbake_code code, const char* words = "problem is null") {
      check_refused(code, error, CLBAKE_ARGUMENT_OTHER, words);
    };
    clbake_explanation explanation;
    clbake_explanation_init(&explanation);
    no_problem(clbake_gemm_prepare(library, nullptr, nullptr, 0, &gemm, &error));
    no_problem(clbake_library_explain(library, nullptr, &explanation, &error));
    no_problem(clbake_library_workspace_bytes(library, nullptr, &bytes, &error));
    no_problem(clbake_library_gemm(library, scene.queue, nullptr, 1, nullptr, 0, nullptr, 0, 0, nullptr, 0, nullptr, 0,
                                   nullptr, nullptr, &error));
    no_problem(clbake_library_gemm_scaled(library, scene.queue, nullptr, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, 0,
                                          nullptr, 0, nullptr, nullptr, &error));
    no_problem(clbake_library_warm(library, nullptr, 2, nullptr, nullptr, &error), "problems is null");
    no_problem(clbake_library_explain_program(library, nullptr, &explanation, &error), "name is null");
    no_problem(clbake_library_write_recording(library, nullptr, &error), "path is null");
    check_refused(clbake_library_gemm(library, nullptr, &problem, 1, nullptr, 0, nullptr, 0, 0, nullptr, 0, nullptr, 0,
                                      nullptr, nullptr, &error),
                  error, CLBAKE_ARGUMENT_QUEUE, "queue");
    check_refused(clbake_library_gemm(library, scene.queue, &problem, 1, nullptr, 0, nullptr, 0, 0, nullptr, 0, nullptr,
                                      0, nullptr, nullptr, &error),
                  error, CLBAKE_ARGUMENT_A, "A");
    for (const std::size_t count : {1, 2}) {
      check_refused(clbake_library_gemm_scaled(library, scene.queue, &problem, nullptr, count, nullptr, 0, nullptr, 0,
                                               nullptr, 0, nullptr, 0, nullptr, nullptr, &error),
                    error, CLBAKE_ARGUMENT_SCALARS, "scalars is null");
    }
    BOOST_TEST(gemm == nullptr);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(AMissingHandleIsNamed) {
  CScene scene;
  clbake_error& error = scene.error;
  const CLibrary library(scene);
  const clbake_problem problem = c_problem_of(Case::native);
  clbake_explanation explanation;
  clbake_explanation_init(&explanation);
  const clbake_scalars scalars = {1, 0, 0, 0};
  clbake_gemm* gemm = nullptr;
  const auto refused = [&](clbake_code code) { check_refused(code, error, CLBAKE_ARGUMENT_GEMM, "gemm is null"); };
  refused(clbake_gemm_clone(nullptr, &gemm, &error));
  refused(clbake_gemm_use_workspace(nullptr, nullptr, 0, &error));
  refused(clbake_gemm_explanation(nullptr, &explanation, &error));
  refused(clbake_gemm_enqueue(nullptr, scene.queue, 1, nullptr, 0, nullptr, 0, 0, nullptr, 0, nullptr, 0, nullptr,
                              nullptr, &error));
  refused(clbake_gemm_enqueue_scaled(nullptr, scene.queue, &scalars, 1, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, 0,
                                     nullptr, nullptr, &error));
  BOOST_TEST(gemm == nullptr);
  BOOST_TEST(clbake_gemm_workspace_bytes(nullptr) == 0U);
  clbake_gemm_release(nullptr);

  BOOST_REQUIRE(clbake_gemm_prepare(library, &problem, nullptr, 0, &gemm, &error) == CLBAKE_OK);
  check_refused(clbake_gemm_clone(gemm, nullptr, &error), error, CLBAKE_ARGUMENT_OUTPUT, "clone is null");
  check_refused(clbake_gemm_explanation(gemm, nullptr, &error), error, CLBAKE_ARGUMENT_OUTPUT, "explanation is null");
  check_refused(clbake_gemm_enqueue_scaled(gemm, scene.queue, nullptr, 1, nullptr, 0, nullptr, 0, nullptr, 0, nullptr,
                                           0, nullptr, nullptr, &error),
                error, CLBAKE_ARGUMENT_SCALARS, "scalars is null");
  clbake_gemm_release(gemm);
}

BOOST_AUTO_TEST_CASE(ImpossibleProblemsAreNamed) {
  CScene scene;
  clbake_error& error = scene.error;
  const CLibrary library(scene);
  clbake_explanation explanation;
  clbake_explanation_init(&explanation);
  clbake_problem problem = c_problem_of(Case::native);
  const auto refused = [&](clbake_argument argument, const char* words) {
    check_refused(clbake_library_explain(library, &problem, &explanation, &error), error, argument, words);
    problem = c_problem_of(Case::native);
  };
  problem.lda = 3;
  refused(CLBAKE_ARGUMENT_LDA, "lda");
  const int wrong = 9;  // what a caller in C may well pass
  std::memcpy(&problem.precision, &wrong, sizeof wrong);
  refused(CLBAKE_ARGUMENT_PRECISION, "precision");
  std::memset(&problem.precision, 0, sizeof problem.precision);
  refused(CLBAKE_ARGUMENT_PRECISION, "precision");
  std::memcpy(&problem.layout, &wrong, sizeof wrong);
  refused(CLBAKE_ARGUMENT_LAYOUT, "layout");
  for (const int bias : {-1, 3}) {
    std::memcpy(&problem.bias, &bias, sizeof bias);
    refused(CLBAKE_ARGUMENT_BIAS, "bias");
  }
  for (const int activation : {-1, 7}) {
    std::memcpy(&problem.activation, &activation, sizeof activation);
    refused(CLBAKE_ARGUMENT_ACTIVATION, "activation");
  }
  problem.activation = CLBAKE_CLAMP;
  problem.low = 1;
  refused(CLBAKE_ARGUMENT_BOUNDS, "clamp");
  problem.m = static_cast<std::size_t>(-1);
  refused(CLBAKE_ARGUMENT_M, "m = ");
  const clbake_batch_offsets offsets[2] = {};
  problem.offsets = offsets;
  problem.batch = static_cast<std::size_t>(1) << 40;  // must not be read
  refused(CLBAKE_ARGUMENT_BATCH, "batch");
  BOOST_TEST(std::strlen(explanation.variant) == 0U);
}

BOOST_AUTO_TEST_CASE(AFailedCallIsCountedAndNeedsNoError) {
  CScene scene;
  const CLibrary library(scene);
  clbake_problem problem = c_problem_of(Case::native);
  problem.ldb = 3;
  check_refused(clbake_library_warm(library, &problem, 1, nullptr, nullptr, &scene.error), scene.error,
                CLBAKE_ARGUMENT_LDB, "ldb");
  BOOST_TEST(scene.error.opencl_code == 0);
  BOOST_TEST(clbake_library_warm(library, &problem, 1, nullptr, nullptr, nullptr) == CLBAKE_INVALID_ARGUMENT);
  clbake_counters counters;
  clbake_counters_init(&counters);
  BOOST_TEST(clbake_library_counters(library, &counters, &scene.error) == CLBAKE_OK);
  BOOST_TEST(counters.failed == 2U);
  BOOST_TEST(counters.native == 0U);
}
