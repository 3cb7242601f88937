// The C header: a program in C, and what a C caller can do wrong.
#include "api/baked_bundle.hpp"
#include "driver_main.hpp"

#include <clbake/clbake.h>

#include <cstring>
#include <string>

using namespace clbake;
using namespace clbake::tests;

extern "C" int multiply_in_c(cl_context context, cl_device_id device, cl_command_queue queue, const char* path);

namespace {

const char* path() { return std::getenv("CLBAKE_TEST_BUNDLE"); }

clbake_library* library_from(const char* file) {
  clbake_error error{};
  clbake_bundle* bundle = nullptr;
  clbake_library* library = nullptr;
  BOOST_REQUIRE_MESSAGE(clbake_bundle_open(file, &bundle, &error) == CLBAKE_OK, error.message);
  const clbake_code made =
      clbake_library_create(here().session.context(), here().device.id, &bundle, 1, nullptr, &library, &error);
  BOOST_REQUIRE_MESSAGE(made == CLBAKE_OK, error.message);
  clbake_bundle_release(bundle);
  return library;
}

// That the call failed for the argument.
void check_refused(clbake_code code, const clbake_error& error, const std::string& argument) {
  BOOST_TEST(static_cast<int>(code) == static_cast<int>(CLBAKE_INVALID_ARGUMENT));
  BOOST_TEST(static_cast<int>(error.code) == static_cast<int>(code));
  BOOST_TEST(std::string(error.message).find(argument) != std::string::npos, error.message);
}

}  // namespace

BOOST_AUTO_TEST_CASE(AProgramInCMultiplies) {
  BOOST_TEST(multiply_in_c(here().session.context(), here().device.id, here().session.queue(), path()) == 0);
}

BOOST_AUTO_TEST_CASE(CodesAreTheSameNumbers) {
  for (const Code code : {Code::ok,
                          Code::invalid_argument,
                          Code::out_of_memory,
                          Code::cancelled,
                          Code::not_found,
                          Code::io,
                          Code::not_a_bundle,
                          Code::truncated,
                          Code::checksum,
                          Code::unsupported_version,
                          Code::malformed,
                          Code::no_target,
                          Code::other_driver,
                          Code::no_variant,
                          Code::no_entry,
                          Code::driver_rejected,
                          Code::build_failed,
                          Code::opencl,
                          Code::no_device,
                          Code::wrong_result}) {
    BOOST_TEST(clbake_code_name(static_cast<clbake_code>(code)) == name(code));
  }
  BOOST_TEST(static_cast<int>(CLBAKE_DRIVER_REJECTED) == static_cast<int>(Code::driver_rejected));
  BOOST_TEST(static_cast<int>(CLBAKE_WRONG_RESULT) == static_cast<int>(Code::wrong_result));
  BOOST_TEST(static_cast<int>(CLBAKE_HALF) == static_cast<int>(Precision::half_precision));
  BOOST_TEST(static_cast<int>(CLBAKE_BFLOAT16) == static_cast<int>(Precision::bfloat16));
  BOOST_TEST(static_cast<int>(CLBAKE_COMPLEX_SINGLE) == static_cast<int>(Precision::complex_single));
  BOOST_TEST(static_cast<int>(CLBAKE_COMPLEX_DOUBLE) == static_cast<int>(Precision::complex_double));
  BOOST_TEST(static_cast<int>(CLBAKE_DOUBLE) == static_cast<int>(Precision::double_precision));
}

BOOST_AUTO_TEST_CASE(ArgumentsAreTheSameNumbers) {
  const auto same = [](clbake_argument c, Argument argument) {
    BOOST_TEST(static_cast<int>(c) == static_cast<int>(argument));
  };
  same(CLBAKE_ARGUMENT_NONE, Argument::none);
  same(CLBAKE_ARGUMENT_PRECISION, Argument::precision);
  same(CLBAKE_ARGUMENT_LAYOUT, Argument::layout);
  same(CLBAKE_ARGUMENT_M, Argument::m);
  same(CLBAKE_ARGUMENT_N, Argument::n);
  same(CLBAKE_ARGUMENT_K, Argument::k);
  same(CLBAKE_ARGUMENT_LDA, Argument::lda);
  same(CLBAKE_ARGUMENT_LDB, Argument::ldb);
  same(CLBAKE_ARGUMENT_LDC, Argument::ldc);
  same(CLBAKE_ARGUMENT_BATCH, Argument::batch);
  same(CLBAKE_ARGUMENT_A_STRIDE, Argument::a_stride);
  same(CLBAKE_ARGUMENT_B_STRIDE, Argument::b_stride);
  same(CLBAKE_ARGUMENT_C_STRIDE, Argument::c_stride);
  same(CLBAKE_ARGUMENT_OFFSETS, Argument::offsets);
  same(CLBAKE_ARGUMENT_BIAS, Argument::bias);
  same(CLBAKE_ARGUMENT_BIAS_STRIDE, Argument::bias_stride);
  same(CLBAKE_ARGUMENT_ACTIVATION, Argument::activation);
  same(CLBAKE_ARGUMENT_BOUNDS, Argument::bounds);
  same(CLBAKE_ARGUMENT_LDD, Argument::ldd);
  same(CLBAKE_ARGUMENT_D_STRIDE, Argument::d_stride);
  same(CLBAKE_ARGUMENT_CONJ_A, Argument::conj_a);
  same(CLBAKE_ARGUMENT_CONJ_B, Argument::conj_b);
  same(CLBAKE_ARGUMENT_ALPHA, Argument::alpha);
  same(CLBAKE_ARGUMENT_BETA, Argument::beta);
  same(CLBAKE_ARGUMENT_SCALARS, Argument::scalars);
  same(CLBAKE_ARGUMENT_D, Argument::d);
  same(CLBAKE_ARGUMENT_D_SIZE, Argument::d_size);
  same(CLBAKE_ARGUMENT_D_ALIAS, Argument::d_alias);
  same(CLBAKE_ARGUMENT_BIAS_VECTOR, Argument::bias_vector);
  same(CLBAKE_ARGUMENT_BIAS_SIZE, Argument::bias_size);
  same(CLBAKE_ARGUMENT_BIAS_ALIAS, Argument::bias_alias);
  same(CLBAKE_ARGUMENT_A, Argument::a);
  same(CLBAKE_ARGUMENT_B, Argument::b);
  same(CLBAKE_ARGUMENT_C, Argument::c);
  same(CLBAKE_ARGUMENT_A_SIZE, Argument::a_size);
  same(CLBAKE_ARGUMENT_B_SIZE, Argument::b_size);
  same(CLBAKE_ARGUMENT_C_SIZE, Argument::c_size);
  same(CLBAKE_ARGUMENT_C_ALIAS, Argument::c_alias);
  same(CLBAKE_ARGUMENT_C_READ_ONLY, Argument::c_read_only);
  same(CLBAKE_ARGUMENT_WORKSPACE, Argument::workspace);
  same(CLBAKE_ARGUMENT_QUEUE, Argument::queue);
  same(CLBAKE_ARGUMENT_WAIT_LIST, Argument::wait_list);
  same(CLBAKE_ARGUMENT_CONTEXT, Argument::context);
  same(CLBAKE_ARGUMENT_DEVICE, Argument::device);
  same(CLBAKE_ARGUMENT_PLATFORM, Argument::platform);
  same(CLBAKE_ARGUMENT_BUNDLE, Argument::bundle);
  same(CLBAKE_ARGUMENT_LIBRARY, Argument::library);
  same(CLBAKE_ARGUMENT_GEMM, Argument::gemm);
  same(CLBAKE_ARGUMENT_OPTIONS, Argument::options);
  same(CLBAKE_ARGUMENT_STRUCT_SIZE, Argument::struct_size);
  same(CLBAKE_ARGUMENT_OUTPUT, Argument::output);
  same(CLBAKE_ARGUMENT_DIRECTORY, Argument::directory);
  same(CLBAKE_ARGUMENT_OTHER, Argument::other);
  BOOST_TEST(clbake_version() == CLBAKE_VERSION_NUMBER);
}

// An older caller's struct is smaller, a newer one's larger, an uninitialised one's is any size.
BOOST_AUTO_TEST_CASE(StructsOfAnotherSizeAreRefusedAndNotWritten) {
  BOOST_TEST(sizeof(clbake_error) == 1024U);  // in every version
  clbake_error error{};
  clbake_library* library = library_from(path());
  clbake_problem problem;
  clbake_explanation explanation;
  clbake_counters counters;
  clbake_options options;
  clbake_problem_init(&problem, CLBAKE_SINGLE, 4, 4, 4);
  clbake_explanation_init(&explanation);
  clbake_counters_init(&counters);
  clbake_options_init(&options);
  const auto refused = [&](clbake_code code, const char* name) {
    check_refused(code, error, std::string(name) + ".struct_size");
    BOOST_TEST(static_cast<int>(error.argument) == static_cast<int>(CLBAKE_ARGUMENT_STRUCT_SIZE));
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
    refused(clbake_library_create(here().session.context(), here().device.id, nullptr, 0, &options, &another, &error),
            "options");
  }
  BOOST_TEST(another == nullptr);
  explanation.struct_size = sizeof explanation - 8;
  counters.struct_size = sizeof counters - 8;
  refused(clbake_library_explain(library, &problem, &explanation, &error), "explanation");
  refused(clbake_library_counters(library, &counters, &error), "counters");
  BOOST_TEST(std::strlen(explanation.variant) == 0U);
  // Fields that a newer header added come after those that this library writes.
  explanation.struct_size = sizeof explanation + 8;
  BOOST_TEST(static_cast<int>(clbake_library_explain(library, &problem, &explanation, &error)) ==
             static_cast<int>(CLBAKE_OK));
  BOOST_TEST(explanation.struct_size == sizeof explanation + 8);
  BOOST_TEST(std::strlen(explanation.variant) > 0U);
  clbake_library_release(library);
}

BOOST_AUTO_TEST_CASE(AnErrorNamesArgumentAndOpenClCode) {
  clbake_error error{};
  clbake_library* library = library_from(path());
  clbake_problem problem;
  clbake_problem_init(&problem, CLBAKE_SINGLE, 4, 4, 4);
  problem.ldb = 3;
  check_refused(clbake_library_warm(library, &problem, 1, nullptr, nullptr, &error), error, "ldb");
  BOOST_TEST(static_cast<int>(error.argument) == static_cast<int>(CLBAKE_ARGUMENT_LDB));
  BOOST_TEST(error.opencl_code == 0);
  clbake_counters counters;
  clbake_counters_init(&counters);
  BOOST_TEST(static_cast<int>(clbake_library_counters(library, &counters, &error)) == static_cast<int>(CLBAKE_OK));
  BOOST_TEST(counters.failed == 1U);
  clbake_library_release(library);
}

BOOST_AUTO_TEST_CASE(NullArgumentsAreNamed) {
  clbake_error error{};
  clbake_bundle* bundle = nullptr;
  clbake_library* library = nullptr;
  clbake_gemm* gemm = nullptr;
  check_refused(clbake_bundle_open(nullptr, &bundle, &error), error, "path");
  check_refused(clbake_bundle_open(path(), nullptr, &error), error, "bundle");
  check_refused(clbake_bundle_from_memory(nullptr, 10, &bundle, &error), error, "bytes");
  check_refused(clbake_bundle_copy_memory(nullptr, 10, &bundle, &error), error, "bytes");
  check_refused(clbake_library_create(nullptr, here().device.id, nullptr, 0, nullptr, &library, &error), error,
                "context");
  check_refused(
      clbake_library_create(here().session.context(), here().device.id, nullptr, 1, nullptr, &library, &error), error,
      "bundles");
  check_refused(
      clbake_library_create(here().session.context(), here().device.id, &bundle, 1, nullptr, &library, &error), error,
      "bundle");
  BOOST_TEST(library == nullptr);
  library = library_from(path());
  clbake_problem problem;
  clbake_problem_init(&problem, CLBAKE_SINGLE, 4, 4, 4);
  check_refused(clbake_gemm_prepare(nullptr, &problem, nullptr, 0, &gemm, &error), error, "library");
  check_refused(clbake_gemm_prepare(library, nullptr, nullptr, 0, &gemm, &error), error, "problem");
  check_refused(clbake_gemm_prepare(library, &problem, nullptr, 0, nullptr, &error), error, "gemm");
  check_refused(clbake_gemm_clone(nullptr, &gemm, &error), error, "gemm");
  check_refused(clbake_library_gemm(library, nullptr, &problem, 1, nullptr, 0, nullptr, 0, 0, nullptr, 0, nullptr, 0,
                                    nullptr, nullptr, &error),
                error, "queue");
  check_refused(clbake_library_gemm(library, here().session.queue(), &problem, 1, nullptr, 0, nullptr, 0, 0, nullptr, 0,
                                    nullptr, 0, nullptr, nullptr, &error),
                error, "A");
  problem.bias = static_cast<clbake_bias>(3);
  check_refused(clbake_gemm_prepare(library, &problem, nullptr, 0, &gemm, &error), error, "bias");
  problem.bias = CLBAKE_BIAS_PER_ROW;
  problem.activation = static_cast<clbake_activation>(7);
  check_refused(clbake_gemm_prepare(library, &problem, nullptr, 0, &gemm, &error), error, "activation");
  problem.activation = CLBAKE_CLAMP;
  problem.low = 1;
  check_refused(clbake_gemm_prepare(library, &problem, nullptr, 0, &gemm, &error), error, "clamp");
  check_refused(clbake_library_warm(library, nullptr, 2, nullptr, nullptr, &error), error, "problems");
  const auto stop = [](std::size_t, std::size_t total, double, void* data) {
    *static_cast<std::size_t*>(data) = total;
    return 0;
  };
  std::size_t told = 0;
  clbake_problem possible;
  clbake_problem_init(&possible, CLBAKE_SINGLE, 4, 4, 4);
  BOOST_TEST(static_cast<int>(clbake_library_warm(library, &possible, 1, stop, &told, &error)) ==
             static_cast<int>(CLBAKE_CANCELLED));
  BOOST_TEST(told == 1U);
  check_refused(clbake_library_write_recording(library, nullptr, &error), error, "path");
  check_refused(clbake_library_write_recording(library, "recording", &error), error, "Options::record");
  BOOST_TEST(static_cast<int>(clbake_gemm_enqueue(nullptr, nullptr, 1, nullptr, 0, nullptr, 0, 0, nullptr, 0, nullptr,
                                                  0, nullptr, nullptr, nullptr)) ==
             static_cast<int>(CLBAKE_INVALID_ARGUMENT));
  BOOST_TEST(clbake_library_contains(nullptr, &problem) == 0);
  clbake_library_finish(nullptr);
  clbake_gemm_release(nullptr);
  clbake_bundle_release(nullptr);
  clbake_library_release(nullptr);
  clbake_library_release(library);
}

BOOST_AUTO_TEST_CASE(ImpossibleProblemsAreNamed) {
  clbake_error error{};
  clbake_library* library = library_from(path());
  clbake_explanation explanation;
  clbake_explanation_init(&explanation);
  clbake_problem problem;
  const auto refused = [&](const char* field) {
    check_refused(clbake_library_explain(library, &problem, &explanation, &error), error, field);
    clbake_problem_init(&problem, CLBAKE_SINGLE, 4, 4, 4);
  };
  clbake_problem_init(&problem, CLBAKE_SINGLE, 4, 4, 4);
  problem.lda = 3;
  refused("lda");
  const int wrong = 9;  // what a caller in C may well pass
  std::memcpy(&problem.precision, &wrong, sizeof wrong);
  refused("precision");
  std::memcpy(&problem.layout, &wrong, sizeof wrong);
  refused("layout");
  problem.m = static_cast<std::size_t>(-1);
  refused("m = ");
  const clbake_batch_offsets offsets[2] = {};
  problem.offsets = offsets;
  problem.batch = static_cast<std::size_t>(1) << 40;
  refused("batch");
  BOOST_TEST(static_cast<int>(clbake_library_explain(library, &problem, &explanation, &error)) ==
             static_cast<int>(CLBAKE_OK));
  BOOST_TEST(std::strlen(explanation.variant) > 0U);
  clbake_library_release(clbake_library_retain(library));
  BOOST_TEST(clbake_library_contains(library, &problem) == 1);
  clbake_library_release(library);
}
