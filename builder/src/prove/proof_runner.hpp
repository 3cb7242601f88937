// Proofs, each in a process of its own with empty driver caches: for a build and for prove_bundle alike.
//
// In a proof that compares times (compile_watch.hpp) noise can look like a compilation. A compiler that really runs at
// load or first launch runs in every new process, while noise comes and goes. So an entry that looks not JIT-free is
// measured again: a few times when it missed a limit by as much as a compilation takes, more often when by less, which
// no compilation explains.
#pragma once

#include <clbake/builder/jobs.hpp>
#include <clbake/builder/process.hpp>

namespace clbake::builder {

struct ProofOutcome {
  Job job;             // with its proofs, if it was proven
  std::string cause;   // why it was not; else empty
  bool wrong = false;  // it computed something else than the reference
};

bool all_proven(const Job& job);

// True when a new proof may find machine code JIT-free that this one did not, as times are compared.
bool noise_possible(const Job& job);

class ProofRunner {
 public:
  static constexpr int kAttempts = 3;
  static constexpr int kNearMissAttempts = 10;

  // Files go to `directory`. A `fresh` runner uses none that an earlier one left there.
  ProofRunner(std::string worker, std::chrono::seconds timeout, const std::atomic<bool>& cancel, std::string directory,
              bool fresh);

  // Proves the compiled `job`, whose entries are in the file `compiled`, and leaves it in the file `proven`. Fails with
  // cancelled, or with io when a file cannot be written or the worker not be started.
  Result<ProofOutcome> prove(const Job& job, const std::string& compiled, const std::string& proven,
                             const std::string& log);

 private:
  // The file with the compiled kernel that does nothing, or why there is none.
  struct Overhead {
    Target target;
    std::string file;
    std::string cause;
  };
  Result<Overhead> overhead_for(const Target& target);
  Result<Exit> run(const std::vector<std::string>& arguments, const std::string& log, std::string& cause) const;

  std::string worker_;
  std::chrono::seconds timeout_;
  const std::atomic<bool>& cancel_;
  std::string directory_;
  bool fresh_;
  std::vector<Overhead> overheads_;
};

}  // namespace clbake::builder
