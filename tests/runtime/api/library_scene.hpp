// A small product on this machine's first device, and libraries that compute it; for tests of what the library offers.
#pragma once

#include "api/baked_bundle.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace clbake::tests {

constexpr std::size_t kM = 37, kN = 41, kK = 43;
inline Problem small_problem() { return builder::tight_problem(Precision::single_precision, kM, kN, kK); }

inline Library library_of(const Bundle& bundle, const Options& options = {}) {
  Result<Library> library = Library::create(here().session.context(), here().device.id, {bundle}, options);
  BOOST_REQUIRE_MESSAGE(library.ok(), library.status().message());
  return std::move(*library);
}

inline Bundle baked() {
  if (!gives_machine_code(here().device)) {
    const cache::Bytes bytes = encoded_contents(baked_contents());
    return *Bundle::copy_of({bytes.data(), bytes.size()});
  }
  Result<Bundle> bundle = Bundle::open(std::getenv("CLBAKE_TEST_BUNDLE"));
  BOOST_REQUIRE_MESSAGE(bundle.ok(), bundle.status().message());
  return std::move(*bundle);
}

// The three matrices of a packed problem in single precision; C is NaN until it is written.
class Matrices {
 public:
  explicit Matrices(const Problem& p) : p_(p), a_(values(p.m * p.k, 3)), b_(values(p.k * p.n, 7)) {
    a = buffer(a_);
    b = buffer(b_);
    std::vector<float> nothing(p.m * p.n, NAN);
    c = buffer(nothing);
  }
  Matrices(const Matrices&) = delete;
  Matrices& operator=(const Matrices&) = delete;
  ~Matrices() {
    for (const cl_mem memory : {a, b, c}) clReleaseMemObject(memory);
  }

  // Largest difference from the product in double precision, which is infinite where C is not written.
  double error() {
    std::vector<float> result(p_.m * p_.n);
    clEnqueueReadBuffer(here().session.queue(), c, CL_TRUE, 0, result.size() * sizeof(float), result.data(), 0, nullptr,
                        nullptr);
    double worst = 0;
    for (std::size_t i = 0; i < p_.m; ++i) {
      for (std::size_t j = 0; j < p_.n; ++j) {
        double sum = 0;
        for (std::size_t l = 0; l < p_.k; ++l) sum += double{a_[i * p_.k + l]} * double{b_[l * p_.n + j]};
        const double difference = std::fabs(sum - double{result[i * p_.n + j]});
        worst = std::isnan(difference) ? HUGE_VAL : std::max(worst, difference);
      }
    }
    return worst;
  }

  cl_mem a = nullptr, b = nullptr, c = nullptr;

 private:
  static std::vector<float> values(std::size_t count, unsigned factor) {
    std::vector<float> v(count);
    for (std::size_t i = 0; i < count; ++i) v[i] = static_cast<float>((i * factor * 7919 + 13) % 2001) / 1000.0F - 1.0F;
    return v;
  }
  static cl_mem buffer(std::vector<float>& v) {
    return clCreateBuffer(here().session.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, v.size() * sizeof(float),
                          v.data(), nullptr);
  }

  Problem p_;
  std::vector<float> a_, b_;
};

// Sums of at most 64 products of numbers up to 1, in single precision: 64 * 64 * 2^-24.
constexpr double kTolerance = 2.5e-4;

inline Status run_once(const Library& library, const Problem& problem, Matrices& m) {
  return library.gemm(here().session.queue(), problem, 1.0, {m.a}, {m.b}, 0.0, {m.c});
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Lines {
  std::mutex mutex;
  std::vector<std::string> all;
};

inline void keep_line(LogLevel /*level*/, const char* message, void* data) {
  auto& lines = *static_cast<Lines*>(data);
  const std::lock_guard<std::mutex> lock(lines.mutex);
  lines.all.emplace_back(message);
}

// The profiles choose variants that were not baked; the direct ones are baked.
inline Bundle bundle_with_a_miss(std::string& wanted) {
  const cache::Bytes bytes = changed_bundle([&](cache::Contents& c) {
    const std::uint32_t direct = direct_variant(c, GemmKind());
    cache::Variant copy = c.variants.at(direct);
    copy.name = wanted = copy.name + "-not-baked";
    c.variants.push_back(copy);
    for (cache::Profile& profile : c.profiles) {
      for_each_choice(profile, [&](auto& choice) {
        if (choice.variant == direct) choice.variant = static_cast<std::uint32_t>(c.variants.size() - 1);
      });
    }
  });
  Result<Bundle> bundle = Bundle::copy_of({bytes.data(), bytes.size()});
  BOOST_REQUIRE_MESSAGE(bundle.ok(), bundle.status().message());
  return std::move(*bundle);
}

}  // namespace clbake::tests
