// Counts the calls of each problem: Options::record.
#pragma once

#include <clbake/clbake.hpp>
#include <clbake/joined.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

namespace clbake {

using CallCount = std::atomic<std::uint64_t>;

// Any number of threads at once. A prepared problem holds its count, so that a call neither locks nor searches.
class Recorder {
 public:
  // The count of a row-major problem; problems that differ in ldc, strides and offsets alone share it. Null if nothing
  // is multiplied (a size of 0). May throw std::bad_alloc.
  std::shared_ptr<CallCount> count_of(const Problem& p) {
    if (p.m == 0 || p.n == 0 || p.k == 0 || p.batch == 0) return nullptr;
    const Problem tight = make_problem(p.kind(), p.m, p.n, p.k);
    std::string line =
        joined({name(p.precision), p.trans_a ? " t" : " n", p.trans_b ? "t " : "n ", p.m, "x", p.n, "x", p.k});
    if (p.lda != tight.lda) line += joined({" lda ", p.lda});
    if (p.ldb != tight.ldb) line += joined({" ldb ", p.ldb});
    if (p.batch > 1) line += joined({" batch ", p.batch});
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<CallCount>& count = counts_[line];
    if (!count) count = std::make_shared<CallCount>(0);
    return count;
  }

  // "single nt 1024x512x64 lda 80 batch 16 calls 7": a line for each problem that was called.
  std::string text() const {
    std::string text = "# Calls of each problem. 'clbake capture' makes a shapes file of such recordings.\n";
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [line, count] : counts_) {
      const std::uint64_t calls = count->load(std::memory_order_relaxed);
      if (calls > 0) text += joined({line, " calls ", calls, "\n"});
    }
    return text;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<CallCount>> counts_;  // by the line, without the calls
};

}  // namespace clbake
