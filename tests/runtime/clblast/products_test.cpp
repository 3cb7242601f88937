// CLBlast's products in all their forms, computed by the door, against the reference.
#include "clblast/door_scene.hpp"

#include "test_device.hpp"

#include <clblast_c.h>

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>
#include <type_traits>

using namespace clbake::tests;
using clblast::Layout;
using clblast::StatusCode;
using clblast::Transpose;

namespace {

using ComplexSingle = std::complex<float>;
using ComplexDouble = std::complex<double>;
// Half and complex double are baked on request only: few programs of them are compiled.
using Types = boost::mpl::list<cl_half, float, double, ComplexSingle, ComplexDouble>;
using BakedTypes = boost::mpl::list<float, double, ComplexSingle>;

// Double needs a device that has it.
template <typename T>
bool can_compute() {
  const bool is_double = std::is_same_v<T, double> || std::is_same_v<T, ComplexDouble>;
  const bool can = !is_double || device().limits.fp64;
  if (!can) BOOST_TEST_MESSAGE("the device has no double precision");
  return can;
}

void wait_for(cl_event event) {
  BOOST_REQUIRE(event);
  BOOST_TEST(clWaitForEvents(1, &event) == CL_SUCCESS);
  clReleaseEvent(event);
}

template <typename T>
std::string failure_of(const Shape& shape) {
  const Matrices<T> matrices(shape);
  cl_event event = nullptr;
  const StatusCode status = gemm(matrices, queue(), &event);
  if (status != StatusCode::kSuccess) return "status " + std::to_string(static_cast<int>(status));
  wait_for(event);
  return matrices.failure();
}

std::string describe(const Shape& s) {
  return std::string(s.layout == Layout::kRowMajor ? "row" : "column") + "-major, " +
         std::to_string(static_cast<int>(s.trans_a)) + " " + std::to_string(static_cast<int>(s.trans_b)) +
         ", padding " + std::to_string(s.padding) + ": ";
}

using Numbers = std::vector<std::complex<double>>;

template <typename T>
StatusCode batched(const Matrices<T>& on, const Numbers& alphas, const Numbers& betas, cl_event* event) {
  const Shape& s = on.shape;
  std::vector<T> alpha, beta;
  for (const std::complex<double> x : alphas) alpha.push_back(scalar<T>(x));
  for (const std::complex<double> x : betas) beta.push_back(scalar<T>(x));
  cl_command_queue q = queue();
  return clblast::GemmBatched<T>(s.layout, s.trans_a, s.trans_b, s.m, s.n, s.k, alpha.data(), on.a.buffer,
                                 on.a_starts.data(), s.lda(), on.b.buffer, on.b_starts.data(), s.ldb(), beta.data(),
                                 on.c.buffer, on.c_starts.data(), s.ldc(), alphas.size(), &q, event);
}

}  // namespace

BOOST_AUTO_TEST_CASE_TEMPLATE(EveryLayoutAndTransposeIsRight, T, BakedTypes) {
  if (!can_compute<T>()) return;
  for (const Layout layout : {Layout::kRowMajor, Layout::kColMajor}) {
    for (const Transpose trans_a : {Transpose::kNo, Transpose::kYes, Transpose::kConjugate}) {
      for (const Transpose trans_b : {Transpose::kNo, Transpose::kYes, Transpose::kConjugate}) {
        for (const std::size_t padding : {0, 5}) {
          Shape shape;
          shape.layout = layout;
          shape.trans_a = trans_a;
          shape.trans_b = trans_b;
          shape.padding = padding;
          shape.a_offset = padding;
          shape.b_offset = 2 * padding;
          shape.c_offset = 3 * padding;
          if (padding > 0) shape.beta = {0.5, 2};
          const std::string failure = failure_of<T>(shape);
          BOOST_TEST(failure.empty(), describe(shape) << failure);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(ABatchWithOffsetsHasItsOwnScalars, T, Types) {
  if (!can_compute<T>()) return;
  Shape shape;
  shape.layout = Layout::kColMajor;
  shape.beta = 1;
  const std::size_t c = c_extent(shape) + 9;
  const Matrices<T> on(shape, {0, 3, 100, 7}, {1, 0, 50, 2}, {2 * c, 0, 3 * c, c});
  const Numbers alphas = {1, 1, {-0.5, 1}, {2, 3}}, betas = {1, 1, {0.25, 0.5}, 0};
  cl_event event = nullptr;
  BOOST_REQUIRE((batched(on, alphas, betas, &event) == StatusCode::kSuccess));
  wait_for(event);
  const std::string failure = on.failure(alphas, betas);
  BOOST_TEST(failure.empty(), failure);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(ABatchWithStridesIsRight, T, Types) {
  if (!can_compute<T>()) return;
  Shape s;
  s.padding = 3;
  s.a_offset = 5;
  s.c_offset = 2;
  s.beta = -1;
  const std::size_t a = 0, b = b_extent(s) + 4, c = c_extent(s) + 6;  // A is shared
  const Matrices<T> on(s, {5, 5, 5}, {0, b, 2 * b}, {2, 2 + c, 2 + 2 * c});
  cl_command_queue q = queue();
  BOOST_TEST(
      (clblast::GemmStridedBatched<T>(s.layout, s.trans_a, s.trans_b, s.m, s.n, s.k, scalar<T>(s.alpha), on.a.buffer,
                                      s.a_offset, s.lda(), a, on.b.buffer, s.b_offset, s.ldb(), b, scalar<T>(s.beta),
                                      on.c.buffer, s.c_offset, s.ldc(), c, 3, &q, nullptr) == StatusCode::kSuccess));
  clFinish(queue());
  const std::string failure = on.failure();
  BOOST_TEST(failure.empty(), failure);
}

BOOST_AUTO_TEST_CASE(HalfNeedsNoExtensionOfTheDevice) {
  Shape shape;
  shape.padding = 2;
  shape.beta = -0.5;
  const std::string failure = failure_of<cl_half>(shape);
  BOOST_TEST(failure.empty(), failure);
}

// CLBlast refuses it; clbake scales C.
BOOST_AUTO_TEST_CASE(WithoutADepthCIsScaled) {
  Shape shape;
  shape.beta = 0.5;
  const Matrices<float> on(shape);
  cl_command_queue q = queue();
  BOOST_TEST(
      (clblast::Gemm<float>(shape.layout, shape.trans_a, shape.trans_b, shape.m, shape.n, 0, 1, nullptr, 0, 1, nullptr,
                            0, shape.n, 0.5F, on.c.buffer, 0, shape.ldc(), &q, nullptr) == StatusCode::kSuccess));
  const std::vector<float> result = on.c.read();
  for (std::size_t i = 0; i < c_extent(shape); ++i) BOOST_TEST(result[i] == on.c.values[i] * 0.5F);
}

// Its scalars are pairs of numbers.
BOOST_AUTO_TEST_CASE(AComplexBatchOfTheApiForCIsRight) {
  Shape s;
  s.trans_b = Transpose::kConjugate;
  s.beta = 1;
  const Matrices<ComplexSingle> on(s, {0, 1}, {0, 1}, {0, c_extent(s)});
  const cl_float2 alphas[] = {{{1, 2}}, {{-0.5F, 1}}}, betas[] = {{{1, -1}}, {{0.25F, 0.5F}}};
  cl_command_queue q = queue();
  BOOST_TEST(CLBlastCgemmBatched(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeConjugate, s.m, s.n, s.k,
                                 alphas, on.a.buffer, on.a_starts.data(), s.lda(), on.b.buffer, on.b_starts.data(),
                                 s.ldb(), betas, on.c.buffer, on.c_starts.data(), s.ldc(), 2, &q,
                                 nullptr) == CLBlastSuccess);
  clFinish(q);
  const std::string failure = on.failure({{1, 2}, {-0.5, 1}}, {{1, -1}, {0.25, 0.5}});
  BOOST_TEST(failure.empty(), failure);
}

int main(int argc, char** argv) {
  device();  // skips without one
  return boost::unit_test::unit_test_main(init_unit_test, argc, argv);
}
