// What clbake does not serve goes to CLBlast, with all arguments as they were; and CLBlast is opened when it is first
// needed. fake_clblast.cpp is in its place.
#include "clblast/door_scene.hpp"
#include "clblast/fake_clblast.hpp"

#include "test_device.hpp"

#include <clblast_c.h>

#include <boost/test/unit_test.hpp>
#include <fstream>

using namespace clbake::tests;
using clblast::Layout;
using clblast::StatusCode;
using clblast::Transpose;

namespace {

bool clblast_is_in_the_process() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("fake_clblast.so") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

// The first test of all.
BOOST_AUTO_TEST_CASE(AProgramThatOnlyMultipliesNeverOpensClblast) {
  const Matrices<float> on{Shape()};
  BOOST_TEST((gemm(on, queue()) == StatusCode::kSuccess));
  BOOST_TEST((clblast::ClearCache() == StatusCode::kSuccess));
  BOOST_TEST((clblast::FillCache(device().id) == StatusCode::kSuccess));
  BOOST_TEST(!clblast_is_in_the_process());
}

BOOST_AUTO_TEST_CASE(ArgumentsInRegistersAndOnTheStackArrive) {
  auto* q = handle<cl_command_queue>(14);
  for (int i = 0; i < 2; ++i) {  // by way of the lookup, and directly
    BOOST_TEST((clblast::Gemv<float>(Layout::kColMajor, Transpose::kYes, 1, 2, 3, handle<cl_mem>(4), 5, 6,
                                     handle<cl_mem>(7), 8, 9, 10, handle<cl_mem>(11), 12, 13, &q,
                                     handle<cl_event*>(15)) == StatusCode::kSuccess));
    BOOST_TEST(clblast_is_in_the_process());
  }
}

BOOST_AUTO_TEST_CASE(ComplexScalarsArrive) {
  auto* q = handle<cl_command_queue>(10);
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST((clblast::Axpy<std::complex<double>>(1, {2, 3}, handle<cl_mem>(4), 5, 6, handle<cl_mem>(7), 8, 9, &q,
                                                    nullptr) == StatusCode::kSuccess));
  }
}

BOOST_AUTO_TEST_CASE(TheApiForCIsForwardedToo) {
  auto* q = handle<cl_command_queue>(9);
  BOOST_TEST(CLBlastSrotg(handle<cl_mem>(1), 2, handle<cl_mem>(3), 4, handle<cl_mem>(5), 6, handle<cl_mem>(7), 8, &q,
                          nullptr) == CLBlastSuccess);
}

BOOST_AUTO_TEST_CASE(ReferencesArrive) {
  std::unordered_map<std::string, std::size_t> parameters;
  BOOST_TEST((clblast::RetrieveParameters(handle<cl_device_id>(1), "Xgemm", clblast::Precision::kSingle, parameters) ==
              StatusCode::kSuccess));
  BOOST_TEST(parameters["MWG"] == 64U);
}

BOOST_AUTO_TEST_CASE(ARoutineThatThisClblastLacksIsNotImplemented) {
  BOOST_TEST((clblast::Scal<float>(1, 2, nullptr, 0, 1, nullptr) == StatusCode::kNotImplemented));
}

BOOST_AUTO_TEST_CASE(WhatClbakeRefusesAndClblastDoesNotGoesThere) {
  Shape shape;
  const Matrices<float> on(shape);
  cl_command_queue q = queue();
  BOOST_TEST(
      (clblast::Gemm<float>(Layout::kRowMajor, Transpose::kNo, Transpose::kYes, 3, 2, 4, 0.5F, on.a.buffer, 1, 5,
                            on.b.buffer, 2, 6, 2, on.a.buffer, 3, 7, &q, nullptr, on.c.buffer) == kServedByClblast));
}

BOOST_AUTO_TEST_CASE(OnceItIsOpenItsCacheIsClearedAndFilled) {
  BOOST_TEST((clblast::ClearCache() == kServedByClblast));
  BOOST_TEST((clblast::FillCache(device().id) == kServedByClblast));
}

int main(int argc, char** argv) {
  device();  // skips without one
  return boost::unit_test::unit_test_main(init_unit_test, argc, argv);
}
