// CLBlast's products in all their forms, computed by the door, against the reference.
#include "clblast/door_scene.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/reference.hpp>

#include <clblast_c.h>

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

using namespace clbake;
using namespace clbake::tests;
using builder::GemmRunOptions;
using clblast::Transpose;

namespace {

using ComplexSingle = std::complex<float>;
using ComplexDouble = std::complex<double>;
// Half and complex double are baked on request only: few programs of them are compiled.
using Types = boost::mpl::list<cl_half, float, double, ComplexSingle, ComplexDouble>;
using BakedTypes = boost::mpl::list<float, double, ComplexSingle>;

template <typename T>
constexpr Precision kPrecision = Precision::half_precision;  // cl_half
template <>
constexpr Precision kPrecision<float> = Precision::single_precision;
template <>
constexpr Precision kPrecision<double> = Precision::double_precision;
template <>
constexpr Precision kPrecision<ComplexSingle> = Precision::complex_single;
template <>
constexpr Precision kPrecision<ComplexDouble> = Precision::complex_double;

// Double needs a device that has it.
template <typename T>
bool can_compute() {
  const bool is_double = real_precision(kPrecision<T>) == Precision::double_precision;
  const bool can = !is_double || device().limits.fp64;
  if (!can) BOOST_TEST_MESSAGE("the device has no double precision");
  return can;
}

// alpha or beta as CLBlast gets it; a real one is the real part.
template <typename T>
T scalar(std::complex<double> value) {
  if constexpr (std::is_same_v<T, cl_half>) {
    return builder::Half(value.real()).bits;
  } else if constexpr (builder::is_complex_type<T>) {
    return T(value);
  } else {
    return static_cast<T>(value.real());
  }
}

// A product of 37 x 41 x 43; the leading dimensions are `padding` more than they must be.
template <typename T>
Problem problem_of(std::size_t padding = 0, Transpose trans_a = Transpose::kNo, Transpose trans_b = Transpose::kNo,
                   Layout layout = Layout::row_major) {
  Problem p = make_problem({kPrecision<T>, trans_a != Transpose::kNo, trans_b != Transpose::kNo}, 37, 41, 43, layout);
  p.conj_a = is_complex(p.precision) && trans_a == Transpose::kConjugate;
  p.conj_b = is_complex(p.precision) && trans_b == Transpose::kConjugate;
  for (std::size_t* ld : {&p.lda, &p.ldb, &p.ldc}) *ld += padding;
  return p;
}

// Runs `call`(A, B, C, queue, event) once; empty when its event completes and C is right within the tolerance, with
// nothing written outside it.
template <typename Call>
std::string failure_of(const Problem& problem, const GemmRunOptions& options, const Call& call) {
  const Result<builder::GemmRun> run = builder::GemmRun::create(session(), device(), problem, options);
  if (!run) return run.status().message();
  const auto [a, b, c] = run->buffers();
  cl_command_queue q = queue();
  cl_event event = nullptr;
  const auto status = static_cast<int>(call(a, b, c, &q, &event));
  if (status != 0) return "status " + std::to_string(status);
  if (!event || clWaitForEvents(1, &event) != CL_SUCCESS) return "the event does not complete";
  clReleaseEvent(event);
  const builder::Check check = *run->check();
  if (check.ok()) return {};
  return "error " + std::to_string(check.max_error) + ", tolerance " + std::to_string(check.tolerance) +
         (check.guards_intact ? "" : "; wrote outside C");
}

template <typename T>
std::string failure_of(const Problem& p, const GemmRunOptions& o, Transpose trans_a = Transpose::kNo,
                       Transpose trans_b = Transpose::kNo) {
  const auto layout = p.layout == Layout::row_major ? clblast::Layout::kRowMajor : clblast::Layout::kColMajor;
  return failure_of(p, o, [&](cl_mem a, cl_mem b, cl_mem c, cl_command_queue* q, cl_event* event) {
    return clblast::Gemm<T>(layout, trans_a, trans_b, p.m, p.n, p.k, scalar<T>(o.alpha), a, o.a_offset, p.lda, b,
                            o.b_offset, p.ldb, scalar<T>(o.beta), c, o.c_offset, p.ldc, q, event);
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE_TEMPLATE(EveryLayoutAndTransposeIsRight, T, BakedTypes) {
  if (!can_compute<T>()) return;
  for (const Layout layout : {Layout::row_major, Layout::column_major}) {
    for (const Transpose trans_a : {Transpose::kNo, Transpose::kYes, Transpose::kConjugate}) {
      for (const Transpose trans_b : {Transpose::kNo, Transpose::kYes, Transpose::kConjugate}) {
        for (const std::size_t padding : {0U, 5U}) {
          const bool complex = is_complex(kPrecision<T>);
          GemmRunOptions options;
          options.alpha = {1.5, complex ? -0.5 : 0};
          options.a_offset = padding;
          options.b_offset = 2 * padding;
          options.c_offset = 3 * padding;
          if (padding > 0) options.beta = {0.5, complex ? 2.0 : 0};
          const Problem problem = problem_of<T>(padding, trans_a, trans_b, layout);
          const std::string failure = failure_of<T>(problem, options, trans_a, trans_b);
          BOOST_TEST(failure.empty(), (layout == Layout::row_major ? "rows, " : "columns, ")
                                          << static_cast<int>(trans_a) << " " << static_cast<int>(trans_b)
                                          << ", padding " << padding << ": " << failure);
        }
      }
    }
  }
}

// The products lie out of order, with gaps.
BOOST_AUTO_TEST_CASE_TEMPLATE(ABatchWithOffsetsHasItsOwnScalars, T, Types) {
  if (!can_compute<T>()) return;
  Problem p = problem_of<T>();
  const std::size_t a[] = {0, 3, 100, 7}, b[] = {1, 0, 50, 2}, c = p.m * p.ldc + 9, cs[] = {2 * c, 0, 3 * c, c};
  p.batch = 4;
  for (std::size_t i = 0; i < 4; ++i) p.offsets.push_back({a[i], b[i], cs[i]});
  const double i = is_complex(p.precision) ? 1 : 0;
  GemmRunOptions o;
  o.each = {{1, 1}, {1, 1}, {{-0.5, i}, {0.25, i / 2}}, {{2, 3 * i}, 0}};
  std::vector<T> alphas, betas;
  for (const Scalars& s : o.each) alphas.push_back(scalar<T>(s.alpha)), betas.push_back(scalar<T>(s.beta));
  const std::string failure =
      failure_of(p, o, [&](cl_mem in_a, cl_mem in_b, cl_mem in_c, cl_command_queue* q, cl_event* event) {
        return clblast::GemmBatched<T>(clblast::Layout::kRowMajor, Transpose::kNo, Transpose::kNo, p.m, p.n, p.k,
                                       alphas.data(), in_a, a, p.lda, in_b, b, p.ldb, betas.data(), in_c, cs, p.ldc, 4,
                                       q, event);
      });
  BOOST_TEST(failure.empty(), failure);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(ABatchWithStridesIsRight, T, Types) {
  if (!can_compute<T>()) return;
  Problem p = problem_of<T>(3);
  p.batch = 3;
  p.a_stride = 0;  // A is shared
  p.b_stride = p.k * p.ldb + 4;
  p.c_stride = p.m * p.ldc + 6;
  GemmRunOptions o;
  o.beta = -1;
  o.a_offset = 5;
  o.c_offset = 2;
  const std::string failure = failure_of(p, o, [&](cl_mem a, cl_mem b, cl_mem c, cl_command_queue* q, cl_event* event) {
    return clblast::GemmStridedBatched<T>(clblast::Layout::kRowMajor, Transpose::kNo, Transpose::kNo, p.m, p.n, p.k,
                                          scalar<T>(o.alpha), a, o.a_offset, p.lda, p.a_stride, b, 0, p.ldb, p.b_stride,
                                          scalar<T>(o.beta), c, o.c_offset, p.ldc, p.c_stride, 3, q, event);
  });
  BOOST_TEST(failure.empty(), failure);
}

BOOST_AUTO_TEST_CASE(HalfNeedsNoExtensionOfTheDevice) {
  GemmRunOptions options;
  options.beta = -0.5;
  BOOST_TEST(failure_of<cl_half>(problem_of<cl_half>(2), options) == "");
}

// CLBlast refuses it; clbake scales C.
BOOST_AUTO_TEST_CASE(WithoutADepthCIsScaled) {
  Problem problem = problem_of<float>();
  problem.k = 0;
  GemmRunOptions options;
  options.beta = 0.5;
  BOOST_TEST(failure_of<float>(problem, options) == "");
}

// Its scalars are pairs of numbers.
BOOST_AUTO_TEST_CASE(AComplexBatchOfTheApiForCIsRight) {
  Problem p = problem_of<ComplexSingle>(0, Transpose::kNo, Transpose::kConjugate);
  const std::size_t as[] = {0, 1}, cs[] = {0, p.m * p.ldc};
  p.batch = 2;
  p.offsets = {{as[0], as[0], cs[0]}, {as[1], as[1], cs[1]}};
  GemmRunOptions o;
  o.each = {{{1, 2}, {1, -1}}, {{-0.5, 1}, {0.25, 0.5}}};
  const cl_float2 alphas[] = {{{1, 2}}, {{-0.5F, 1}}}, betas[] = {{{1, -1}}, {{0.25F, 0.5F}}};
  const std::string failure = failure_of(p, o, [&](cl_mem a, cl_mem b, cl_mem c, cl_command_queue* q, cl_event* event) {
    return CLBlastCgemmBatched(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeConjugate, p.m, p.n, p.k,
                               alphas, a, as, p.lda, b, as, p.ldb, betas, c, cs, p.ldc, 2, q, event);
  });
  BOOST_TEST(failure.empty(), failure);
}

int main(int argc, char** argv) {
  device();  // skips without one
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
