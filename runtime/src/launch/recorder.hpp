// Counts the calls of each problem: Options::record.
#pragma once

#include <clbake/clbake.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

namespace clbake {

using CallCount = std::atomic<std::uint64_t>;

// Any number of threads at once. A prepared problem holds its count, so that a call neither locks nor searches.
class Recorder {
 public:
  // The count of a row-major problem; problems that differ in ldc, strides and offsets alone share
  // it.
  // Null if nothing is multiplied (a size of 0). May throw std::bad_alloc.
  std::shared_ptr<CallCount> count_of(const Problem& problem);

  // "single nt 1024x512x64 lda 80 batch 16 calls 7": a line for each problem that was called.
  std::string text() const;

 private:
  // m, n, k, batch, and lda and ldb where rows have gaps, else 0
  using Sizes = std::tuple<GemmKind, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t>;
  mutable std::mutex mutex_;
  std::map<Sizes, std::shared_ptr<CallCount>> counts_;
};

}  // namespace clbake
