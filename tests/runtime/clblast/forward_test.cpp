// What clbake does not serve goes to CLBlast, with all arguments as they were; and CLBlast is opened when it is first
// needed. fake_clblast.cpp is in its place.
#include "clblast/door_scene.hpp"
#include "clblast/fake_clblast.hpp"
#include "clblast/forwarded_calls.hpp"

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

BOOST_AUTO_TEST_CASE(AllArgumentsArrive) {
  for (int i = 0; i < 2; ++i) {  // by way of the lookup, and directly
    BOOST_TEST(every_register_arrives());
    BOOST_TEST(clblast_is_in_the_process());
    BOOST_TEST(real_routine_arrives());
    BOOST_TEST(complex_routine_arrives());
    BOOST_TEST(routine_of_c_arrives());
    BOOST_TEST(references_arrive());
  }
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

// CLBlast does not look at the leading dimensions of A and B there: lines may overlap.
BOOST_AUTO_TEST_CASE(ABatchWhoseLinesOverlapGoesThere) {
  const Matrices<float> on{Shape()};
  cl_command_queue q = queue();
  const float alphas[] = {1, 3}, betas[] = {0, 9};
  const std::size_t as[] = {0, 5}, bs[] = {0, 7}, cs[] = {0, 11};
  const auto batch_of = [&](std::size_t count) {
    return clblast::GemmBatched<float>(Layout::kRowMajor, Transpose::kNo, Transpose::kYes, 3, 2, 4, alphas, on.a.buffer,
                                       as, 1, on.b.buffer, bs, 2, betas, on.c.buffer, cs, 2, count, &q);
  };
  BOOST_TEST((batch_of(2) == kServedByClblast));
  BOOST_TEST((batch_of(1) == StatusCode::kUnexpectedError));  // it throws
}

BOOST_AUTO_TEST_CASE(OnceItIsOpenItsCacheIsClearedAndFilled) {
  BOOST_TEST((clblast::ClearCache() == kServedByClblast));
  BOOST_TEST((clblast::FillCache(device().id) == kServedByClblast));
}

int main(int argc, char** argv) {
  device();  // skips without one
  return boost::unit_test::unit_test_main(init_unit_test, argc, argv);
}
