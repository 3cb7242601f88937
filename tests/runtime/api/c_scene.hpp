// The C header on the driver in memory.
#pragma once

#include "faults/fake_scene.hpp"
#include "system/temporary_directory.hpp"

#include <clbake/clbake.h>

#include <string>

namespace clbake::test {

// The scene's problem, in C.
inline clbake_problem c_problem_of(Case which, std::size_t batch = 1) {
  const Problem from = problem_of(which, batch);
  clbake_problem p;
  clbake_problem_init(&p, static_cast<clbake_precision>(from.precision), from.m, from.n, from.k);
  p.trans_a = from.trans_a ? 1 : 0;
  p.trans_b = from.trans_b ? 1 : 0;
  p.conj_a = from.conj_a ? 1 : 0;
  p.lda = from.lda;
  p.ldb = from.ldb;
  p.ldc = from.ldc;
  p.batch = from.batch;
  p.a_stride = from.a_stride;
  p.b_stride = from.b_stride;
  p.c_stride = from.c_stride;
  return p;
}

// The scene's handles and its bundle.
struct CScene : Scene {
  CScene() {
    const clbake_code code = clbake_bundle_from_memory(bundle_bytes().data(), bundle_bytes().size(), &bundle, &error);
    BOOST_REQUIRE_MESSAGE(code == CLBAKE_OK, error.message);
  }
  ~CScene() { clbake_bundle_release(bundle); }
  CScene(const CScene&) = delete;
  CScene& operator=(const CScene&) = delete;

  clbake_error error{};
  clbake_bundle* bundle = nullptr;
};

// A library of the scene's bundle.
struct CLibrary {
  explicit CLibrary(CScene& scene, const clbake_options* options = nullptr) {
    const clbake_code code =
        clbake_library_create(scene.context, scene.device, &scene.bundle, 1, options, &library, &scene.error);
    BOOST_REQUIRE_MESSAGE(code == CLBAKE_OK, scene.error.message);
  }
  ~CLibrary() { clbake_library_release(library); }
  CLibrary(const CLibrary&) = delete;
  CLibrary& operator=(const CLibrary&) = delete;

  clbake_library* library = nullptr;
  operator clbake_library*() const { return library; }  // NOLINT(google-explicit-constructor): as in C
};

// Released at the end.
struct Handle {
  Handle() = default;
  ~Handle() { clbake_gemm_release(gemm); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  clbake_gemm* gemm = nullptr;
  operator clbake_gemm*() const { return gemm; }  // NOLINT(google-explicit-constructor): as in C
};

inline clbake_counters counters_of(clbake_library* library) {
  clbake_counters counters;
  clbake_counters_init(&counters);
  BOOST_TEST(clbake_library_counters(library, &counters, nullptr) == CLBAKE_OK);
  return counters;
}

using Directory = tests::TemporaryDirectory;

// That the call failed for this argument, and says so in these words.
inline void check_refused(clbake_code code, const clbake_error& error, clbake_argument argument,
                          const std::string& words) {
  BOOST_TEST(code == CLBAKE_INVALID_ARGUMENT);
  BOOST_TEST(error.code == code);
  BOOST_TEST(error.argument == argument, words << ": " << error.argument << " is named, not " << argument);
  BOOST_TEST(std::string(error.message).find(words) != std::string::npos, words << " is not in: " << error.message);
}

}  // namespace clbake::test
