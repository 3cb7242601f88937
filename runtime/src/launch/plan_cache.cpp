#include "launch/plan_cache.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace clbake {
namespace {

bool equal(const Epilogue& x, const Epilogue& y) {
  return x.bias == y.bias && x.bias_stride == y.bias_stride && x.activation == y.activation && x.low == y.low &&
         x.high == y.high && x.has_d == y.has_d && x.ldd == y.ldd && x.d_stride == y.d_stride;
}

bool equal(const Problem& x, const Problem& y) {
  const auto same = [](const BatchOffsets& a, const BatchOffsets& b) { return a.a == b.a && a.b == b.b && a.c == b.c; };
  return x.precision == y.precision && x.layout == y.layout && x.trans_a == y.trans_a && x.trans_b == y.trans_b &&
         x.conj_a == y.conj_a && x.conj_b == y.conj_b && x.m == y.m && x.n == y.n && x.k == y.k && x.lda == y.lda &&
         x.ldb == y.ldb && x.ldc == y.ldc && x.batch == y.batch && x.a_stride == y.a_stride &&
         x.b_stride == y.b_stride && x.c_stride == y.c_stride && equal(x.epilogue, y.epilogue) &&
         std::equal(x.offsets.begin(), x.offsets.end(), y.offsets.begin(), y.offsets.end(), same);
}

// Tells most problems apart; `equal` decides. The constant is 2^64 / golden ratio: D. Knuth, The Art of Computer
// Programming, volume 3, section 6.4.
std::uint64_t hash_of(const Problem& p) {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15u;
  std::uint64_t hash = static_cast<std::uint64_t>(p.precision) * 8 + (p.layout == Layout::row_major ? 0 : 4) +
                       (p.trans_a ? 2 : 0) + (p.trans_b ? 1 : 0);
  const Epilogue& e = p.epilogue;
  hash += static_cast<std::uint64_t>(e.activation) << 8U | static_cast<std::uint64_t>(e.bias) << 16U;
  for (const std::size_t value : {p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.batch, p.offsets.size()}) {
    hash = (hash ^ value) * factor;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

PlanCache::Shard& PlanCache::shard() {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return shards_[number % kShards];
}

std::unique_lock<std::mutex> PlanCache::Shard::lock() {
  std::unique_lock<std::mutex> held(mutex, std::try_to_lock);
  if (!held) {
    held.lock();
    ++waits;
  }
  return held;
}

PlanCache::Plan* PlanCache::Shard::find(std::uint64_t hash, const Problem& problem) {
  const auto at = std::find_if(plans.begin(), plans.end(),
                               [&](const Plan& plan) { return plan.hash == hash && equal(plan.problem, problem); });
  return at == plans.end() ? nullptr : &*at;
}

std::size_t PlanCache::Shard::workspace_bytes() const {
  std::size_t bytes = 0;
  for (const Plan& plan : plans) bytes += plan.gemm ? plan.gemm->plan().workspace_bytes() : 0;
  return bytes;
}

void PlanCache::Shard::drop_workspaces(std::vector<std::unique_ptr<PreparedGemm>>& evicted) {
  for (Plan& plan : plans) {
    if (plan.gemm && plan.gemm->plan().workspace_bytes() > 0) evicted.emplace_back().swap(plan.gemm);
  }
}

PlanCache::Plan& PlanCache::Shard::oldest() {
  return *std::min_element(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return a.used < b.used; });
}

std::unique_ptr<PreparedGemm> PlanCache::take(const Problem& problem, std::uint64_t epoch) {
  const std::uint64_t hash = hash_of(problem);
  std::unique_ptr<PreparedGemm> gemm;
  Shard& mine = shard();
  {
    const auto lock = mine.lock();
    Plan* const plan = mine.find(hash, problem);
    if (!plan) return gemm;
    plan->used = ++mine.clock;
    const bool usable = plan->gemm && !plan->gemm->outdated(epoch);
    if (usable) ++mine.cached;
    gemm.swap(plan->gemm);
    if (usable) return gemm;
  }
  gemm.reset();  // outdated; destroyed without the lock
  return gemm;
}

void PlanCache::put_back(const Problem& problem, std::unique_ptr<PreparedGemm> gemm) {
  const std::uint64_t hash = hash_of(problem);
  const std::size_t bytes = gemm->plan().workspace_bytes();
  std::vector<std::unique_ptr<PreparedGemm>> evicted;
  Shard& mine = shard();
  const auto lock = mine.lock();
  // Large workspaces evict each other; the newest one stays, however large it is.
  if (bytes > 0 && mine.workspace_bytes() + bytes > Library::kPlanBytes) mine.drop_workspaces(evicted);
  Plan* plan = mine.find(hash, problem);
  if (!plan) {
    plan = mine.plans.size() < Library::kPlans ? &mine.plans.emplace_back() : &mine.oldest();
    plan->problem = problem;  // even if the hash is the same: another problem may have it
    plan->hash = hash;
  }
  plan->used = ++mine.clock;
  plan->gemm.swap(gemm);
}

bool PlanCache::clear_workspaces() {
  bool any = false;
  for (Shard& shard : shards_) {
    std::vector<std::unique_ptr<PreparedGemm>> evicted;
    const std::lock_guard<std::mutex> lock(shard.mutex);
    shard.drop_workspaces(evicted);
    any = any || !evicted.empty();
  }
  return any;
}

void PlanCache::add_to(Counters& counters) {
  for (Shard& shard : shards_) {
    const std::lock_guard<std::mutex> lock(shard.mutex);
    counters.cached += shard.cached;
    counters.waits += shard.waits;
  }
}

}  // namespace clbake
