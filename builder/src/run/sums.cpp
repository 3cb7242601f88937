#include "run/sums.hpp"

#include <atomic>
#include <system_error>
#include <thread>

namespace clbake::builder {
namespace {

// Fewer take less time than the threads, which others may have a use for: proofs run beside each other.
constexpr double kWorthThreads = 1e8;

// So many steps of k at a time: a sum is read and written once for all of them.
constexpr std::size_t kSteps = 8;

template <std::size_t steps, typename T>
void add_steps(const T* __restrict a, const T* __restrict b, std::size_t columns, T* __restrict sums) {
  for (std::size_t j = 0; j < columns; ++j) {
    T sum = sums[j];
    for (std::size_t l = 0; l < steps; ++l) sum += product_of(a[l], b[l * kSumColumns + j]);
    sums[j] = sum;
  }
}

}  // namespace

template <typename T>
void add_products(const T* a, const T* b, std::size_t depth, std::size_t columns, T* sums) {
  std::size_t l = 0;
  for (; l + kSteps <= depth; l += kSteps) add_steps<kSteps>(a + l, b + l * kSumColumns, columns, sums);
  for (; l < depth; ++l) add_steps<1>(a + l, b + l * kSumColumns, columns, sums);
}
template void add_products(const double*, const double*, std::size_t, std::size_t, double*);
template void add_products(const std::complex<double>*, const std::complex<double>*, std::size_t, std::size_t,
                           std::complex<double>*);

double largest_of(std::size_t count, double operations, const std::function<double(std::size_t)>& work) {
  const unsigned cores = operations < kWorthThreads ? 1 : std::max(1U, std::thread::hardware_concurrency());
  std::vector<double> worst(cores, 0.0);
  std::atomic<std::size_t> next{0};
  const auto work_on = [&](unsigned thread) {
    for (std::size_t i = next++; i < count; i = next++) worst[thread] = std::max(worst[thread], work(i));
  };
  std::vector<std::thread> helpers;
  try {
    for (unsigned t = 1; t < cores; ++t) helpers.emplace_back(work_on, t);
  } catch (const std::system_error&) {  // the system has no more threads: fewer do the work
  }
  work_on(0);
  for (std::thread& helper : helpers) helper.join();
  return *std::max_element(worst.begin(), worst.end());
}

}  // namespace clbake::builder
