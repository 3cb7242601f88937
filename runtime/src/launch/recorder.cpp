#include "launch/recorder.hpp"

namespace clbake {

std::shared_ptr<CallCount> Recorder::count_of(const Problem& p) {
  if (p.m == 0 || p.n == 0 || p.k == 0 || p.batch == 0) return nullptr;
  const Problem tight = make_problem(p.kind(), p.m, p.n, p.k);
  const auto gap = [](std::size_t ld, std::size_t length) { return ld == length ? 0 : ld; };
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<CallCount>& count =
      counts_[{p.kind(), p.m, p.n, p.k, p.batch, gap(p.lda, tight.lda), gap(p.ldb, tight.ldb)}];
  if (!count) count = std::make_shared<CallCount>(0);
  return count;
}

std::string Recorder::text() const {
  std::string text = "# Calls of each problem. 'clbake capture' makes a shapes file of such recordings.\n";
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [sizes, count] : counts_) {
    const std::uint64_t calls = count->load(std::memory_order_relaxed);
    if (calls == 0) continue;
    const auto& [kind, m, n, k, batch, lda, ldb] = sizes;
    text += std::string(name(kind.precision)) + ' ' + (kind.trans_a ? 't' : 'n') + (kind.trans_b ? 't' : 'n') + ' ' +
            std::to_string(m) + 'x' + std::to_string(n) + 'x' + std::to_string(k);
    if (lda > 0) text += " lda " + std::to_string(lda);
    if (ldb > 0) text += " ldb " + std::to_string(ldb);
    if (batch > 1) text += " batch " + std::to_string(batch);
    text += " calls " + std::to_string(calls) + '\n';
  }
  return text;
}

}  // namespace clbake
