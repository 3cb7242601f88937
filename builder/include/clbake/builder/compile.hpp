// The workers of a build: each is a process of its own.
#pragma once

#include <clbake/builder/gemm_run.hpp>
#include <clbake/finalize.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clbake::builder::compile {

// The device and the queue of a worker.
struct Place {
  Device device;
  Session session;
};

// Fails with no_device or opencl.
Result<Place> place_of(const Target& target);

// PoCL reads it once in a process: shapes of launches whose functions go into binaries.
inline constexpr const char* kSpecialise = "POCL_BINARY_SPECIALIZE_WG";

// first: all. tried: the rest, after the worker started itself anew. plain: what the driver makes, not finalized.
enum class Stage { first, tried, plain };

// Compiles the only variant of the bundle `job` for the bundle's only target,
// finalizes it unless `plain`, and writes the same bundle with the program or programs in it (not proven) to `output`.
// `kept`: the place of an earlier job of this process; this one's place afterwards.
Status compile_job(const std::string& job, const std::string& output, Stage stage, std::optional<Place>& kept);

// The same for an offline target, with its tools instead of a driver. Killing the worker's process group kills the
// compiler, too.
Status compile_offline_job(const std::string& job, const std::string& output);

// From a program that the driver compiled to entries of a bundle. The runtime's finalize() does it for most drivers;
// for NVIDIA the builder makes machine code as well, by a library or a compiler that may crash: only for a worker
// process. Entries hold form, program, newer_driver and, of the proof, tools, specialisations and note; the native one
// first.
Result<std::vector<cache::Entry>> entries_for_bundle(const Compiled& compiled, const cache::Source& source);

// The first tool of every entry that this version of clbake makes.
cache::Tool this_clbake();

// Puts this version of clbake in front of the tools of every entry.
void sign(std::vector<cache::Entry>& entries);

}  // namespace clbake::builder::compile

namespace clbake::builder::prove {

// Proves jobs of one target, in a process with empty driver caches that compiles nothing else.
class Prover {
 public:
  Prover();
  ~Prover();

  // Loads each entry of the bundle `job` (one variant), watches whether the driver compiles at its first launches in
  // both grid classes, checks the numbers (edge sizes, guards, NaN), and writes the proofs to `output`. `overhead` is a
  // compiled job whose kernel does nothing, of the same target, and `control` the file of compile_on_purpose; without
  // it times alone are judged. Fails with wrong_result, or the reason why an entry would not load.
  Status prove(const std::string& job, const std::string& overhead, const std::string& control,
               const std::string& output);

  // True when a compilation in this process would leave no further sign, as its libraries are loaded.
  bool is_spent() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Compiles the job's program from its source in a process with empty driver caches, launches it, and writes to `output`
// which signs of a compilation that left: files in the driver's cache, libraries, child processes, processor time.
// Fails as the driver does, or with io.
Status compile_on_purpose(const std::string& job, const std::string& output);

}  // namespace clbake::builder::prove
