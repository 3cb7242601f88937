// Every default variant against a reference, at the sizes where tiles begin and end. Arguments on the command line
// after "--" choose the variants whose names contain one of them: for runs under slow checking drivers.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include "opencl_gemm.hpp"

using namespace clbake::kernels;
using clbake::test::Device;
using clbake::test::GemmKernel;
using clbake::test::Layout;
using clbake::test::Problem;

namespace {

// Opened before and closed after all tests; without a device the process ends as skipped.
struct OpenDevice {
  OpenDevice() {
    instance = &device;
    BOOST_TEST_MESSAGE("device: " << device.name());
  }
  Device device;
  static inline const Device* instance = nullptr;
};

const Device& device() { return *OpenDevice::instance; }

bool chosen(const std::string& variant) {
  const auto& suite = boost::unit_test::framework::master_test_suite();
  for (int i = 1; i < suite.argc; ++i) {
    if (variant.find(suite.argv[i]) != std::string::npos) {
      return true;
    }
  }
  return suite.argc <= 1;
}

// The default variants of both kinds of device that the first device can run, each once.
std::vector<Params> variants(Precision precision) {
  std::vector<Params> result;
  std::set<std::string> names;
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::gpu}) {
    for (const Params& p : default_variants(kind, precision)) {
      if (check(p, device().limits()).empty() && chosen(name(p)) && names.insert(name(p)).second) {
        result.push_back(p);
      }
    }
  }
  return result;
}

template <class Real>
constexpr Real nan_value = std::numeric_limits<Real>::quiet_NaN();

// A rows x columns matrix, row-major, in an array where everything else is NaN.
template <class Real>
struct Matrix {
  Matrix(std::int32_t row_count, std::int32_t column_count, std::uint64_t offset, std::int32_t row_padding)
      : rows(static_cast<std::size_t>(row_count)),
        columns(static_cast<std::size_t>(column_count)),
        layout{offset, column_count + row_padding},
        array(at_end(), nan_value<Real>) {}

  // The array ends with the last element; it holds at least one, for an OpenCL buffer cannot be empty.
  std::size_t at_end() const {
    return rows == 0 || columns == 0 ? layout.offset + 1 : index(rows - 1, columns - 1) + 1;
  }
  std::size_t index(std::size_t i, std::size_t j) const {
    return layout.offset + i * static_cast<std::size_t>(layout.ld) + j;
  }
  void fill(std::mt19937& random) {
    std::uniform_real_distribution<Real> uniform(-1, 1);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        array[index(i, j)] = uniform(random);
      }
    }
  }

  std::size_t rows, columns;
  Layout layout;
  std::vector<Real> array;
};

struct Scalars {
  double alpha, beta;
};

template <class Real>
class Case {
 public:
  Case(const Params& params, std::int32_t m, std::int32_t n, std::int32_t k, Scalars scalars)
      : params_(params),
        a_(params.trans_a ? k : m, params.trans_a ? m : k, 3, 5),
        b_(params.trans_b ? n : k, params.trans_b ? k : n, 7, 1),
        c_(m, n, 11, 3) {
    problem_ = {m, n, k, scalars.alpha, scalars.beta, a_.layout, b_.layout, c_.layout};
    std::mt19937 random(static_cast<std::uint32_t>(m * 10007 + n * 101 + k));
    // What must not be read stays NaN.
    if (scalars.alpha != 0) {
      a_.fill(random);
      b_.fill(random);
    }
    if (scalars.beta != 0) {
      c_.fill(random);
    }
    c_.array.resize(c_.array.size() + 64, nan_value<Real>);  // a guard behind C
  }

  void run(const GemmKernel& kernel) const {
    BOOST_TEST_CONTEXT(name(params_) << " m " << problem_.m << " n " << problem_.n << " k " << problem_.k << " alpha "
                                     << problem_.alpha << " beta " << problem_.beta) {
      const std::vector<Real> result = kernel.run(problem_, a_.array, b_.array, c_.array, 1);
      const double worst = worst_error(result);
      BOOST_TEST(worst <= bound(), "error " << worst << " exceeds " << bound());
      BOOST_TEST(unchanged_outside(result), "an element outside C was written");
      BOOST_TEST(same_bits(result, kernel.run(problem_, a_.array, b_.array, c_.array, 1)), "a second run differs");
    }
  }

 private:
  // u * min(k + 3, 4 sqrt(k) + 16): the worst case of k + 3 roundings, and for large k what random roundings stay
  // far below.
  double bound() const {
    const double k = problem_.k;
    return std::numeric_limits<Real>::epsilon() / 2 * std::min(k + 3, 4 * std::sqrt(k) + 16);
  }

  // |c - ref| / (|alpha| sum |a||b| + |beta||c|), with 0/0 = 0; infinite for NaN.
  double worst_error(const std::vector<Real>& result) const {
    double worst = 0;
    for (std::size_t i = 0; i < c_.rows; ++i) {
      for (std::size_t j = 0; j < c_.columns; ++j) {
        worst = std::max(worst, error(i, j, result[c_.index(i, j)]));
      }
    }
    return worst;
  }

  double error(std::size_t i, std::size_t j, Real value) const {
    long double sum = 0;
    long double magnitude = 0;
    for (std::size_t p = 0; problem_.alpha != 0 && p < static_cast<std::size_t>(problem_.k); ++p) {
      const Real a = a_.array[params_.trans_a ? a_.index(p, i) : a_.index(i, p)];
      const Real b = b_.array[params_.trans_b ? b_.index(j, p) : b_.index(p, j)];
      const long double product = static_cast<long double>(a) * b;
      sum += product;
      magnitude += std::abs(product);
    }
    sum *= problem_.alpha;
    magnitude *= std::abs(problem_.alpha);
    if (problem_.beta != 0) {
      const long double before = problem_.beta * static_cast<long double>(c_.array[c_.index(i, j)]);
      sum += before;
      magnitude += std::abs(before);
    }
    const long double difference = std::abs(value - sum);
    if (std::isnan(difference)) {
      return std::numeric_limits<double>::infinity();
    }
    return difference == 0 ? 0 : static_cast<double>(difference / magnitude);
  }

  bool unchanged_outside(std::vector<Real> result) const {
    for (std::size_t i = 0; i < c_.rows; ++i) {
      for (std::size_t j = 0; j < c_.columns; ++j) {
        result[c_.index(i, j)] = c_.array[c_.index(i, j)];
      }
    }
    return same_bits(result, c_.array);
  }

  static bool same_bits(const std::vector<Real>& x, const std::vector<Real>& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(Real)) == 0;
  }

  Params params_;
  Problem problem_;
  Matrix<Real> a_, b_, c_;
};

template <class Real>
void run_cases(const Params& params) {
  const GemmKernel kernel(device(), generate(params));
  const auto tm = static_cast<std::int32_t>(params.ml);
  const auto tn = static_cast<std::int32_t>(params.nl);
  const auto tk = static_cast<std::int32_t>(params.kl);
  const std::int32_t sizes[][3] = {
      {1, 1, 1},
      {tm, tn, tk},
      {tm - 1, tn + 1, tk + 1},
      {tm + 1, tn - 1, tk - 1},
      {2 * tm + 3, 1, 7},
      {1, 2 * tn + 3, 5},
      {tm + 1, tn + 1, 2 * tk + 1},
      {17, 19, 23},
      {3, 5, 0},
      {0, 4, 3},
      {4, 0, 3},
      {0, 0, 0},
      {2 * tm, 2 * tn, 9},
      {tm - 1, tn - 1, 1},
  };
  const Scalars scalars[] = {{1, 0}, {-1.5, 0.5}, {0.75, 1}, {0, -2}, {0, 0}};
  std::size_t turn = 0;
  for (const auto& [m, n, k] : sizes) {
    // Two of the scalars for each size, in turn; the first pair of each size reads what there is to read.
    Case<Real>(params, m, n, k, scalars[turn % 3]).run(kernel);
    Case<Real>(params, m, n, k, scalars[1 + turn % 4]).run(kernel);
    ++turn;
  }
}

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(OpenDevice);

BOOST_AUTO_TEST_CASE(SinglePrecisionVariantsKeepTheContract) {
  for (const Params& params : variants(Precision::single_precision)) {
    run_cases<float>(params);
  }
}

BOOST_AUTO_TEST_CASE(DoublePrecisionVariantsKeepTheContract) {
  for (const Params& params : variants(Precision::double_precision)) {
    run_cases<double>(params);
  }
}
