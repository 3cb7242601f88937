// What clbake does not serve: the same results as CLBlast's, with all arguments as they were, from a library that is
// opened when it is first needed. Skipped without CLBlast.
#include "clblast/door_scene.hpp"

#include "test_device.hpp"

#include <clblast_c.h>

#include <dlfcn.h>
#include <boost/test/unit_test.hpp>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace clbake::tests;
using clblast::StatusCode;

namespace {

template <typename T>
class Vector {
 public:
  explicit Vector(std::vector<T> values) : values_(std::move(values)) {
    buffer =
        clCreateBuffer(session().context(), CL_MEM_COPY_HOST_PTR, values_.size() * sizeof(T), values_.data(), nullptr);
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;
  ~Vector() { clReleaseMemObject(buffer); }

  std::vector<T> read() {
    clEnqueueReadBuffer(queue(), buffer, CL_TRUE, 0, values_.size() * sizeof(T), values_.data(), 0, nullptr, nullptr);
    return values_;
  }

  cl_mem buffer = nullptr;

 private:
  std::vector<T> values_;
};

bool clblast_is_in_the_process() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("libclblast.so") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

// The first test of all.
BOOST_AUTO_TEST_CASE(APureGemmProgramNeverOpensClblast) {
  const Matrices<float> on{Shape()};
  BOOST_TEST((gemm(on, queue()) == StatusCode::kSuccess));
  BOOST_TEST((clblast::ClearCache() == StatusCode::kSuccess));
  BOOST_TEST((clblast::FillCache(device().id) == StatusCode::kSuccess));
  BOOST_TEST(!clblast_is_in_the_process());
}

BOOST_AUTO_TEST_CASE(ArgumentsInRegistersAndOnTheStackArrive) {
  Vector<float> x({1, 2, 3, 4}), y({10, 20, 30, 40});
  cl_command_queue q = queue();
  cl_event event = nullptr;
  BOOST_TEST((clblast::Axpy<float>(3, 2.5F, x.buffer, 1, 1, y.buffer, 0, 1, &q, &event) == StatusCode::kSuccess));
  BOOST_TEST(clblast_is_in_the_process());
  BOOST_REQUIRE(event);
  clWaitForEvents(1, &event);
  clReleaseEvent(event);
  BOOST_TEST((y.read() == std::vector<float>{15, 27.5, 40, 40}));
  BOOST_TEST(CLBlastDscal(0, 1, nullptr, 0, 1, &q, nullptr) == CLBlastInvalidDimension);
}

BOOST_AUTO_TEST_CASE(ComplexScalarsArrive) {
  using Complex = std::complex<double>;
  Vector<Complex> x({{1, 2}, {3, 4}}), y({{0, 1}, {1, 0}});
  cl_command_queue q = queue();
  for (int i = 0; i < 2; ++i) {  // by way of the lookup, and directly
    BOOST_TEST((clblast::Axpy<Complex>(2, Complex(0, 2), x.buffer, 0, 1, y.buffer, 0, 1, &q) == StatusCode::kSuccess));
  }
  BOOST_TEST((y.read() == std::vector<Complex>{{-8, 5}, {-15, 12}}));
}

BOOST_AUTO_TEST_CASE(CodesOfClblastComeBack) {
  cl_command_queue q = queue();
  Vector<float> x({1, 2});
  BOOST_TEST((clblast::Scal<float>(3, 2, x.buffer, 0, 1, &q) == StatusCode::kInsufficientMemoryX));
  std::unordered_map<std::string, std::size_t> parameters;
  BOOST_TEST((clblast::RetrieveParameters(device().id, "Xgemm", clblast::Precision::kSingle, parameters) ==
              StatusCode::kSuccess));
  BOOST_TEST(parameters.count("MWG") == 1U);
  parameters.erase("MWG");
  BOOST_TEST((clblast::OverrideParameters(device().id, "Xgemm", clblast::Precision::kSingle, parameters) ==
              StatusCode::kMissingOverrideParameter));
}

// CLBlast computes what clbake refuses: here C shares elements with A, of which CLBlast makes a copy.
BOOST_AUTO_TEST_CASE(WhatClbakeRefusesGoesToClblast) {
  const Matrices<float> on{Shape()};
  cl_command_queue q = queue();
  const auto no = clblast::Transpose::kNo;
  BOOST_TEST((clblast::Gemm<float>(clblast::Layout::kRowMajor, no, no, 2, 2, 2, 1, on.a.buffer, 0, 2, on.b.buffer, 0, 2,
                                   0, on.a.buffer, 0, 2, &q) == StatusCode::kSuccess));
  clFinish(q);
}

int main(int argc, char** argv) {
  device();  // skips without one
  return boost::unit_test::unit_test_main(init_unit_test, argc, argv);
}
