// Complex products on the driver in memory: the kernels beside the variant, offsets, complex scalars.
#include "faults/fake_scene.hpp"
#include "faults/leaks.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

using namespace clbake;
using namespace clbake::test;

namespace {

using Complex = std::complex<double>;

constexpr std::size_t kKernels = static_cast<std::size_t>(Case::complex);  // the variant of these

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Library library_of(const Scene& scene, const cache::Contents& contents, const Options& options = {}) {
  const Result<Library> library = open_library(scene, contents, options);
  BOOST_REQUIRE_EQUAL(library.status().message(), "");
  return *library;
}

// A buffer of random complex numbers in single precision.
class Numbers {
 public:
  Numbers(const Scene& scene, std::size_t count, unsigned seed) : queue_(scene.queue), data_(count) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> any(-0.5F, 0.5F);
    for (std::complex<float>& number : data_) number = {any(random), any(random)};
    buffer = clCreateBuffer(scene.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, count * sizeof data_[0],
                            data_.data(), nullptr);
  }
  ~Numbers() { clReleaseMemObject(buffer); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  Complex at(std::size_t i) const { return {data_[i].real(), data_[i].imag()}; }  // as they were made
  std::vector<std::complex<float>> read() const {
    std::vector<std::complex<float>> now(data_.size());
    clEnqueueReadBuffer(queue_, buffer, CL_TRUE, 0, now.size() * sizeof now[0], now.data(), 0, nullptr, nullptr);
    return now;
  }
  cl_mem buffer = nullptr;

 private:
  cl_command_queue queue_;
  std::vector<std::complex<float>> data_;
};

// Two products of 3 x 4 x 5, at places that no strides have.
Problem scattered(bool conj_a) {
  Problem problem = make_problem({Precision::complex_single}, 3, 4, 5);
  problem.conj_a = conj_a;
  problem.batch = 2;
  problem.offsets = {{17, 1, 0}, {0, 30, 13}};
  return problem;
}

// The largest difference of C from what alpha * op(A) * B + beta * C leaves there, elements between the products
// included.
double error_of(const Problem& p, Complex alpha, const Numbers& a, const Numbers& b, Complex beta, const Numbers& c) {
  const std::vector<std::complex<float>> found = c.read();
  std::vector<Complex> expected(found.size());
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = c.at(i);
  for (const BatchOffsets& start : p.offsets) {
    for (std::size_t e = 0; e < p.m * p.n; ++e) {
      Complex sum = 0;
      for (std::size_t l = 0; l < p.k; ++l) {
        const Complex left = a.at(start.a + e / p.n * p.lda + l);
        sum += (p.conj_a ? std::conj(left) : left) * b.at(start.b + l * p.ldb + e % p.n);
      }
      Complex& to = expected[start.c + e / p.n * p.ldc + e % p.n];
      to = alpha * sum + beta * to;
    }
  }
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    worst = std::max(worst, std::abs(expected[i] - Complex(found[i].real(), found[i].imag())));
  }
  return worst;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ProductsAtOffsetsWithComplexScalars) {
  {
    const Scene scene;
    const Library library = library_of(scene, bundle_contents());
    for (const bool conj_a : {false, true}) {
      const Problem problem = scattered(conj_a);
      for (const Complex beta : {Complex(0.5, -1), Complex(2, 0), Complex(0, 0)}) {
        const Numbers a(scene, 40, 1), b(scene, 60, 2), c(scene, 30, 3);
        const Complex alpha(1, 0.25);
        Result<Gemm> gemm = library.prepare(problem);
        BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
        const Status status = gemm->enqueue(scene.queue, alpha, {a.buffer}, {b.buffer}, beta, {c.buffer});
        BOOST_TEST(status.message() == "");
        BOOST_TEST(error_of(problem, alpha, a, b, beta, c) < 1e-5);  // some ten roundings of numbers below 4
      }
    }
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(ABundleWithoutTheKernelsSaysWhatBakesThem) {
  const Scene scene;
  cache::Contents contents = bundle_contents();
  contents.variants.resize(kKernels);
  contents.entries.erase(std::remove_if(contents.entries.begin(), contents.entries.end(),
                                        [](const cache::Entry& entry) { return entry.variant == kKernels; }),
                         contents.entries.end());
  const Library library = library_of(scene, contents);
  const std::string words =
      "no bundle has the kernels of complex-single; 'clbake build --precision complex-single' bakes them";
  const Problem problem = problem_of(Case::complex);
  fake::forget_calls();
  for (const Status& status : {library.prepare(problem).status(), library.explain(problem).status(),
                               library.warm({problem}), library.workspace_bytes(problem).status()}) {
    BOOST_TEST(name(status.code()) == "no variant");
    BOOST_TEST(status.message() == words);
  }
  BOOST_TEST(!library.contains(problem));
  BOOST_TEST(fake::calls(fake::Function::clBuildProgram) == 0U);
  BOOST_TEST(library.prepare(problem_of(Case::native)).ok());
}

// The kernels of CPUs run on GPUs, too.
BOOST_AUTO_TEST_CASE(TheOtherFormOfTheKernelsServes) {
  const Scene scene;
  cache::Contents contents = bundle_contents();
  contents.variants[kKernels].name = "clbake-complex-single-cpu";
  const Library library = library_of(scene, contents);
  const Problem problem = problem_of(Case::complex);
  Result<Gemm> gemm = library.prepare(problem);
  BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
  const Operands operands(scene, problem);
  BOOST_TEST(enqueue(*gemm, scene.queue, operands).ok());
  BOOST_TEST(operands.error(scene.queue) < kTolerance);
}

BOOST_AUTO_TEST_CASE(KernelsThatLackOneAreRefused) {
  const Scene scene;
  const auto refused = [&](const std::function<void(cache::Variant&)>& change) {
    cache::Contents contents = bundle_contents();
    change(contents.variants[kKernels]);
    const Status status = library_of(scene, contents).prepare(problem_of(Case::complex)).status();
    BOOST_TEST(name(status.code()) == "malformed");
    BOOST_TEST(has(status.message(), "program clbake-complex-single-gpu lacks kernel clbake_complex_c"),
               status.message());
  };
  refused([](cache::Variant& v) { v.launches.pop_back(); });
  refused([](cache::Variant& v) { v.launches[2].local[1] = 2; });
  refused([](cache::Variant& v) { v.launches[2].local[2] = 2; });
}

// The origin and the miss of the worse of the two programs.
BOOST_AUTO_TEST_CASE(BothProgramsAreExplained) {
  const Scene scene;
  const Problem problem = problem_of(Case::complex);
  const Library baked = library_of(scene, bundle_contents());
  BOOST_TEST(baked.contains(problem));
  BOOST_TEST(baked.explain(problem)->variant == "native");
  for (const std::uint32_t without : {std::uint32_t{0}, static_cast<std::uint32_t>(kKernels)}) {
    cache::Contents contents = bundle_contents();
    contents.entries.erase(std::remove_if(contents.entries.begin(), contents.entries.end(),
                                          [&](const cache::Entry& entry) { return entry.variant == without; }),
                           contents.entries.end());
    const Library library = library_of(scene, contents);
    BOOST_TEST(!library.contains(problem));
    const Result<Explanation> expected = library.explain(problem);
    BOOST_REQUIRE_EQUAL(expected.status().message(), "");
    const Result<Gemm> gemm = library.prepare(problem);
    BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
    for (const Explanation* e : {&*expected, &gemm->explanation()}) {
      BOOST_TEST(name(e->origin) == "source");
      BOOST_TEST(name(e->miss) == "no entry");
      BOOST_TEST(e->variant == "native");
      BOOST_TEST(!e->loaded);
    }
    BOOST_TEST(library.explain(problem)->loaded);
    Options options;
    options.on_miss = OnMiss::fail;
    const Library strict = library_of(scene, contents, options);
    BOOST_TEST(name(strict.explain(problem).status().code()) == "no entry");
    BOOST_TEST(name(strict.prepare(problem).status().code()) == "no entry");
  }
}

// alpha = 0 and beta = 1, whatever the kernel.
BOOST_AUTO_TEST_CASE(ACallThatLeavesCLaunchesNothingAndItsEventCompletes) {
  const Scene scene;
  const Library library = library_of(scene, bundle_contents());
  for (const Case which : kWithComplex) {
    const Problem problem = problem_of(which, 2);
    const Operands o(scene, problem);
    Result<Gemm> gemm = library.prepare(problem);
    BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
    fake::forget_calls();
    cl_event done = nullptr;
    BOOST_TEST(gemm->enqueue(scene.queue, 0, {}, {}, 1, o.c, 0, nullptr, &done).ok());
    BOOST_TEST(gemm->enqueue(scene.queue, {{0, 1}, {0, 1}}, {}, {}, o.c).ok());
    BOOST_TEST(fake::calls(fake::Function::clEnqueueNDRangeKernel) == 0U);
    BOOST_TEST(clWaitForEvents(1, &done) == CL_SUCCESS);
    clReleaseEvent(done);
  }
}
