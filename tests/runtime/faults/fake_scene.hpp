// Shared by the tests on the fake driver: a bundle for its first device, a context with two queues, matrices, and the
// library's entry points, each at one place.
#pragma once

#include "fake_opencl/fake_opencl.hpp"

#include <clbake/cache/writer.hpp>
#include <clbake/clbake.hpp>
#include <clbake/os/environment.hpp>

#include <boost/test/unit_test.hpp>

#include <complex>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace clbake::test {

// The kinds of problem that the bundle knows. Each has a variant of its own.
enum class Case {
  native,    // single precision, one launch, machine code
  source,    // double precision, one launch, from source only
  launches,  // single precision, A transposed: copies of A and B (B as an image), product in slices, reduction
  rejected,  // single precision, B transposed: the driver rejects the bundle's machine code
  complex,   // complex single, A conjugated: the variant of `native` and the kernels that rearrange operands
};
inline constexpr Case kAllCases[] = {Case::native, Case::source, Case::launches, Case::rejected};
inline constexpr Case kWithComplex[] = {Case::native, Case::source, Case::launches, Case::rejected, Case::complex};

// One product, or two with strides, of matrices with gaps between their rows.
Problem problem_of(Case which, std::size_t batch = 1);

// The bundle's bytes, and what they hold: the variants in the order of the cases.
const cache::Bytes& bundle_bytes();
cache::Contents bundle_contents();

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A test on the fake driver must leave nothing behind.
inline void check_nothing_is_left() {
  BOOST_TEST(fake::leaks() == "");
  for (const std::string& complaint : fake::complaints()) BOOST_TEST_ERROR(complaint);
}

// Gives the driver's platform a name, as long as this lives.
struct PlatformName {
  explicit PlatformName(const char* name) { os::set_variable("FAKE_OPENCL_PLATFORM", name); }
  ~PlatformName() { os::unset_variable("FAKE_OPENCL_PLATFORM"); }
  PlatformName(const PlatformName&) = delete;
  PlatformName& operator=(const PlatformName&) = delete;
};

// The lines of a library's log, of any thread.
class LogLines {
 public:
  explicit LogLines(LogLevel least = LogLevel::info) : least_(least) {}

  // With this as their log.
  Options in(Options options) {
    options.log_data = this;
    options.log = [](LogLevel level, const char* message, void* data) {
      auto& self = *static_cast<LogLines*>(data);
      const std::lock_guard<std::mutex> lock(self.mutex_);
      if (level >= self.least_) self.lines_.emplace_back(message);
    };
    return options;
  }
  std::vector<std::string> lines() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return lines_;
  }
  std::string text() {
    std::string all;
    for (const std::string& line : lines()) all += line + "\n";
    return all;
  }

 private:
  LogLevel least_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

// Handles of the driver, as an application has them. The first of several resets the driver.
struct Scene {
  Scene();
  ~Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  cl_device_id device = nullptr;
  cl_device_id other_device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_command_queue unordered_queue = nullptr;
};

// The operands of one problem in buffers of random numbers.
class Operands {
 public:
  Operands(const Scene& scene, const Problem& problem);
  ~Operands();
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  static constexpr double kAlpha = 0.5;
  static constexpr double kBeta = -2;
  std::complex<double> alpha() const { return {kAlpha, is_complex(problem_.precision) ? 1.0 : 0.0}; }
  Matrix a, b, c;  // with offsets

  // Largest difference of the buffer of C from what one call must leave there, gaps between the rows included;
  // infinity for NaN. Waits for `queue`.
  double error(cl_command_queue queue) const;

 private:
  std::vector<double> expected() const;
  Problem problem_;
  std::vector<double> a_, b_, c_;  // all elements of the buffers
  cl_command_queue own_queue_ = nullptr;
};

// Above the rounding error of sums of a few dozen products of numbers below 1, below the effect of one wrong product.
inline constexpr double kTolerance = 1e-4;

// ---- The library's entry points ----

Result<Library> open_library(const Scene& scene, const Options& options = {});
Result<Library> open_library(const Scene& scene, const cache::Contents& contents, const Options& options = {});
inline Library library_of(const Scene& scene, const cache::Contents& contents, const Options& options = {}) {
  const Result<Library> library = open_library(scene, contents, options);
  BOOST_REQUIRE_EQUAL(library.status().message(), "");
  return *library;
}
inline Result<Gemm> prepare(const Library& library, const Problem& problem) { return library.prepare(problem); }
inline Status enqueue(Gemm& gemm, cl_command_queue queue, const Operands& operands, cl_uint wait_count = 0,
                      const cl_event* waits = nullptr, cl_event* event = nullptr) {
  return gemm.enqueue(queue, operands.alpha(), operands.a, operands.b, Operands::kBeta, operands.c, wait_count, waits,
                      event);
}

}  // namespace clbake::test
