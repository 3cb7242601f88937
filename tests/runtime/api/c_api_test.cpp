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

BOOST_AUTO_TEST_CASE(NullArgumentsOfCallsAreNamed) {
  {
    CScene scene;
    const CLibrary library(scene);
    clbake_error& error = scene.error;
    const clbake_problem problem = c_problem_of(Case::native);
    const clbake_scalars scalars = {1, 0, 0, 0};
    clbake_explanation explanation;
    clbake_counters counters;
    clbake_explanation_init(&explanation);
    clbake_counters_init(&counters);
    Handle gemm;
    BOOST_REQUIRE(clbake_gemm_prepare(library, &problem, nullptr, 0, &gemm.gemm, &error) == CLBAKE_OK);
    clbake_gemm* no_gemm = nullptr;
    clbake_program* program = nullptr;
    std::size_t bytes = 77;
    const auto call = [&](clbake_library* on, const clbake_problem* of) {
      return clbake_library_gemm(on, scene.queue, of, 1, nullptr, 0, nullptr, 0, 0, nullptr, 0, nullptr, 0, nullptr,
                                 nullptr, &error);
    };
    const auto call_scaled = [&](clbake_library* on, const clbake_problem* of, const clbake_scalars* by) {
      return clbake_library_gemm_scaled(on, scene.queue, of, by, 1, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, 0,
                                        nullptr, nullptr, &error);
    };
    const auto enqueue_scaled = [&](clbake_gemm* on, const clbake_scalars* by) {
      return clbake_gemm_enqueue_scaled(on, scene.queue, by, 1, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, 0, nullptr,
                                        nullptr, &error);
    };
    const auto null = [&](clbake_argument argument, const char* name, clbake_code code) {
      check_refused(code, error, argument, std::string(name) + " is null");
    };
    const auto no_library = CLBAKE_ARGUMENT_LIBRARY;
    null(no_library, "library", call(nullptr, &problem));
    null(no_library, "library", call_scaled(nullptr, &problem, &scalars));
    null(no_library, "library", clbake_library_warm(nullptr, &problem, 1, nullptr, nullptr, &error));
    null(no_library, "library", clbake_library_explain(nullptr, &problem, &explanation, &error));
    null(no_library, "library", clbake_library_workspace_bytes(nullptr, &problem, &bytes, &error));
    null(no_library, "library", clbake_library_counters(nullptr, &counters, &error));
    null(no_library, "library", clbake_library_write_recording(nullptr, "any", &error));
    null(no_library, "library", clbake_gemm_prepare(nullptr, &problem, nullptr, 0, &no_gemm, &error));
    null(no_library, "library", clbake_library_program(nullptr, "any", &program, &error));
    null(no_library, "library", clbake_library_explain_program(nullptr, "any", &explanation, &error));
    BOOST_TEST(clbake_library_contains(nullptr, &problem) == 0);
    clbake_library_finish(nullptr);

    const auto other = CLBAKE_ARGUMENT_OTHER;
    null(other, "problem", clbake_gemm_prepare(library, nullptr, nullptr, 0, &no_gemm, &error));
    null(other, "problem", clbake_library_explain(library, nullptr, &explanation, &error));
    null(other, "problem", clbake_library_workspace_bytes(library, nullptr, &bytes, &error));
    null(other, "problem", call(library, nullptr));
    null(other, "problem", call_scaled(library, nullptr, &scalars));
    null(other, "problems", clbake_library_warm(library, nullptr, 2, nullptr, nullptr, &error));
    null(other, "name", clbake_library_program(library, nullptr, &program, &error));
    null(other, "name", clbake_library_explain_program(library, nullptr, &explanation, &error));
    null(other, "path", clbake_library_write_recording(library, nullptr, &error));
    null(CLBAKE_ARGUMENT_SCALARS, "scalars", call_scaled(library, &problem, nullptr));
    null(CLBAKE_ARGUMENT_SCALARS, "scalars", enqueue_scaled(gemm, nullptr));

    const auto output = CLBAKE_ARGUMENT_OUTPUT;
    null(output, "gemm", clbake_gemm_prepare(library, &problem, nullptr, 0, nullptr, &error));
    null(output, "clone", clbake_gemm_clone(gemm, nullptr, &error));
    null(output, "explanation", clbake_gemm_explanation(gemm, nullptr, &error));
    null(output, "explanation", clbake_library_explain(library, &problem, nullptr, &error));
    null(output, "explanation", clbake_library_explain_program(library, "any", nullptr, &error));
    null(output, "program", clbake_library_program(library, "any", nullptr, &error));
    null(output, "bytes", clbake_library_workspace_bytes(library, &problem, nullptr, &error));
    null(output, "counters", clbake_library_counters(library, nullptr, &error));

    null(CLBAKE_ARGUMENT_GEMM, "gemm", clbake_gemm_clone(nullptr, &no_gemm, &error));
    null(CLBAKE_ARGUMENT_GEMM, "gemm", clbake_gemm_use_workspace(nullptr, nullptr, 0, &error));
    null(CLBAKE_ARGUMENT_GEMM, "gemm", clbake_gemm_explanation(nullptr, &explanation, &error));
    null(CLBAKE_ARGUMENT_GEMM, "gemm", enqueue_scaled(nullptr, &scalars));
    null(CLBAKE_ARGUMENT_GEMM, "recorded",
         clbake_recorded_update(nullptr, 1, nullptr, 0, nullptr, 0, 0, nullptr, 0, nullptr, &error));
    BOOST_TEST(clbake_gemm_workspace_bytes(nullptr) == 0U);
    clbake_gemm_release(nullptr);
    clbake_recorded_release(nullptr);
    BOOST_TEST(no_gemm == nullptr);
    BOOST_TEST(program == nullptr);
    BOOST_TEST(bytes == 77U);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(NumbersThatAreNoEnumeratorsAreNamed) {
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
