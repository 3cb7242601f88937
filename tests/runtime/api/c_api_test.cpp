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
  BOOST_TEST(static_cast<int>(CLBAKE_DOUBLE) == static_cast<int>(Precision::double_precision));
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
  check_refused(clbake_library_gemm(library, nullptr, &problem, 1, nullptr, 0, nullptr, 0, 0, nullptr, 0, 0, nullptr,
                                    nullptr, &error),
                error, "queue");
  check_refused(clbake_library_gemm(library, here().session.queue(), &problem, 1, nullptr, 0, nullptr, 0, 0, nullptr, 0,
                                    0, nullptr, nullptr, &error),
                error, "A");
  check_refused(clbake_library_warm(library, nullptr, 2, &error), error, "problems");
  BOOST_TEST(static_cast<int>(clbake_gemm_enqueue(nullptr, nullptr, 1, nullptr, 0, nullptr, 0, 0, nullptr, 0, 0,
                                                  nullptr, nullptr, nullptr)) ==
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
