#include "launch/plan_cache.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace clbake {
namespace {

// Sizes first: they tell most problems apart.
bool equal(const Problem& x, const Problem& y) {
  const auto same = [](const BatchOffsets& a, const BatchOffsets& b) { return a.a == b.a && a.b == b.b && a.c == b.c; };
  return x.m == y.m && x.n == y.n && x.k == y.k && x.kind() == y.kind() && x.layout == y.layout &&
         x.conj_a == y.conj_a && x.conj_b == y.conj_b && x.lda == y.lda && x.ldb == y.ldb && x.ldc == y.ldc &&
         x.batch == y.batch && x.a_stride == y.a_stride && x.b_stride == y.b_stride && x.c_stride == y.c_stride &&
         equal(x.epilogue, y.epilogue) && equal(x.quantization, y.quantization) &&
         std::equal(x.offsets.begin(), x.offsets.end(), y.offsets.begin(), y.offsets.end(), same);
}

}  // namespace

bool equal(const Epilogue& x, const Epilogue& y) {
  return x.bias == y.bias && x.bias_stride == y.bias_stride && x.activation == y.activation && x.low == y.low &&
         x.high == y.high && x.has_d == y.has_d && x.ldd == y.ldd && x.d_stride == y.d_stride;
}

bool equal(const Quantization& x, const Quantization& y) {
  return x.row_scales == y.row_scales && x.column_scales == y.column_scales &&
         x.row_scale_stride == y.row_scale_stride && x.column_scale_stride == y.column_scale_stride &&
         x.zero_a == y.zero_a && x.zero_b == y.zero_b && x.zero_c == y.zero_c && x.weight_group == y.weight_group &&
         x.weight_zeros == y.weight_zeros;
}

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

PlanCache::Plan* PlanCache::Shard::find(const Problem& problem) {
  const auto at =
      std::find_if(plans.begin(), plans.end(), [&](const Plan& plan) { return equal(plan.problem, problem); });
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
  std::unique_ptr<PreparedGemm> gemm;
  Shard& mine = shard();
  {
    const auto lock = mine.lock();
    Plan* const plan = mine.find(problem);
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
  const std::size_t bytes = gemm->plan().workspace_bytes();
  std::vector<std::unique_ptr<PreparedGemm>> evicted;
  Shard& mine = shard();
  const auto lock = mine.lock();
  // Large workspaces evict each other; the newest one stays, however large it is.
  if (bytes > 0 && mine.workspace_bytes() + bytes > Library::kPlanBytes) mine.drop_workspaces(evicted);
  Plan* plan = mine.find(problem);
  if (!plan) {
    Problem copy = problem;  // may throw; a plan changes as a whole
    plan = mine.plans.size() < Library::kPlans ? &mine.plans.emplace_back() : &mine.oldest();
    plan->problem = std::move(copy);
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
