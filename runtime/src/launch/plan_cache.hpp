// The handles that Library::gemm keeps from call to call.
#pragma once

#include "launch/gemm.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace clbake {

// A handle that is in use is in no cache: its user has it alone, and no lock is held while drivers are called. Threads
// take their turn at kShards shards, so that as many threads that began one after the other never meet at a lock, nor
// write to one cache line.
class PlanCache {
 public:
  // A handle for the problem that was prepared at this epoch of the library's programs, or later.
  std::optional<Gemm> take(const Problem& problem, std::uint64_t epoch);

  // Keeps the handle for the thread's next call. What has to go for it goes after the lock.
  void give(const Problem& problem, Gemm gemm);

  // Drops the plans that have workspaces; whether there were any.
  bool clear_workspaces();

  void add_to(Counters& counters);  // cached and waits

 private:
  static constexpr std::size_t kShards = 16;

  struct Plan {
    std::uint64_t hash = 0;
    std::uint64_t used = 0;
    Problem problem;
    std::optional<Gemm> gemm;
  };
  struct alignas(64) Shard {
    std::mutex mutex;
    std::uint64_t clock = 0;
    std::uint64_t cached = 0;
    std::uint64_t waits = 0;
    std::vector<Plan> plans;  // at most Library::kPlans
    Plan* find(std::uint64_t hash, const Problem& problem);
    Plan& oldest();
    std::size_t workspace_bytes() const;
    void drop_workspaces(std::vector<std::optional<Gemm>>& gone);  // to go after the lock
    std::unique_lock<std::mutex> lock();                           // counts when it has to wait
  };
  Shard& shard();  // this thread's

  std::array<Shard, kShards> shards_;
};

}  // namespace clbake
