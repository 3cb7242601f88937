// The plans that Library::gemm keeps from call to call. A plan is a problem and the handle prepared for it.
//
// A handle may be used by one thread at a time, so `take` removes it from the cache and `put_back` returns it: no lock
// is held while drivers are called, and a second thread that wants the same problem meanwhile prepares its own. Threads
// are assigned in turn to shards, lest they wait for each other's locks; each shard prepares each problem for itself. A
// plan is evicted when it is the least recently used of a full shard, when the library's epoch shows that a better
// program is ready, or when the shard's workspaces exceed a limit.
#pragma once

#include "launch/prepared_gemm.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <vector>

namespace clbake {

bool equal(const Epilogue& x, const Epilogue& y);
bool equal(const Quantization& x, const Quantization& y);

// Any number of threads at once.
class PlanCache {
 public:
  // Removes and returns the handle of the problem's plan, unless it waits for a program and was prepared before this
  // epoch.
  std::unique_ptr<PreparedGemm> take(const Problem& problem, std::uint64_t epoch);

  // Keeps the handle for the thread's next call of the problem. May throw std::bad_alloc.
  void put_back(const Problem& problem, std::unique_ptr<PreparedGemm> gemm);

  // Drops all handles that have workspaces. Returns whether there were any.
  bool clear_workspaces();

  void add_to(Counters& counters);  // cached and waits

 private:
  static constexpr std::size_t kShards = 16;

  struct Plan {
    std::uint64_t used = 0;
    Problem problem;
    std::unique_ptr<PreparedGemm> gemm;  // none while a call uses it
  };
  struct alignas(64) Shard {
    std::mutex mutex;
    std::uint64_t clock = 0;
    std::uint64_t cached = 0;
    std::uint64_t waits = 0;
    std::vector<Plan> plans;  // at most Library::kPlans
    Plan* find(const Problem& problem);
    Plan& oldest();
    std::size_t workspace_bytes() const;
    // The caller destroys them after unlocking.
    void drop_workspaces(std::vector<std::unique_ptr<PreparedGemm>>& evicted);
    std::unique_lock<std::mutex> lock();  // counts a wait
  };
  Shard& shard();  // this thread's

  std::array<Shard, kShards> shards_;
};

}  // namespace clbake
