// The search: finds the best variants of a device within a budget of time. builder/TUNING.md says how and why.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace clbake::builder::tune {

enum class Strategy {
  staged,      // stages that learn from each other
  exhaustive,  // every point of the space, the best of them on all shapes
  variants,    // no search: times the default variants and TuneOptions::variants in turns
};

// Shapes to tune for, of all kinds.
struct TuneShapes {
  std::vector<Shape> list;          // the most important first; each gets a winner
  std::vector<Shape> grid;          // timed in the final races only, as far as time allows
  std::vector<std::size_t> probes;  // indices into `list`, one or two of each kind: the first stage times them
};

// "all", "square", "thin", "small", "batched", for each of the kinds; nothing for other names. The device type decides
// how large the largest are.
std::optional<TuneShapes> preset_shapes(const std::string& name, kernels::DeviceType type,
                                        const std::vector<GemmKind>& kinds);

// Those of the shapes that are of these kinds, the heaviest first.
TuneShapes shapes_to_tune(const std::vector<Shape>& shapes, const std::vector<GemmKind>& kinds);

struct TuneOptions {
  std::vector<Device> devices;  // one, or several identical ones
  std::vector<GemmKind> kinds;  // those of one precision together; the first of them is searched most; all have shapes
  std::vector<kernels::Family> families = {std::begin(kernels::all_families), std::end(kernels::all_families)};
  TuneShapes shapes;
  // A profile of the device's class, or an empty one: its variants are tried first, and its cost models serve where the
  // measurements give nothing better.
  profile::Tuning prior;
  Strategy strategy = Strategy::staged;
  std::vector<kernels::Params> variants;  // for Strategy::variants: those of each kind, which the device must admit
  // Seconds; 0 = no budget: the search ends when it has tried every point.
  std::chrono::duration<double> budget{600};
  std::uint64_t seed = 1;
  std::uint32_t shard = 1;
  std::uint32_t shards = 1;
  std::string work;       // directory for the journal and the driver's cache; created
  std::string worker;     // executable whose `worker time` is time_job
  std::string command;    // for the record
  unsigned parallel = 0;  // compilations at a time; 0 = one for each core
  // For one compilation, or one measurement; 0: 180 s until a variant has compiled, then ten times the fastest
  // compilation, at least 20 s.
  std::chrono::seconds timeout{0};
  bool fresh = false;  // discard an unfinished tuning
};

struct TuneProgress {
  double elapsed_s = 0;
  std::uint32_t tried = 0;
  std::uint32_t failed = 0;
  std::string stage;    // "explore single nn"
  std::string best;     // "212.4 GFLOP/s at 1024x1024x1024 by register_tile-..."
  std::string failure;  // of a variant just now; empty otherwise
};

// Searches until the budget is used up. When `cancel` becomes true it returns what is known by then, with `complete`
// false; the same options then go on from there. Equal measurements give equal results. `progress` (may be empty) is
// called on the caller's thread. Fails with invalid_argument (also when `work` has an unfinished tuning with other
// options), io (also when another tuning uses the directory), or build_failed when no variant ran at all.
Result<profile::Tuning> run(const TuneOptions& options, const std::atomic<bool>& cancel,
                            const std::function<void(const TuneProgress&)>& progress);

// Removes the journal and the driver's cache, when the profile is written. Nothing happens while a tuning uses them.
void forget(const std::string& work);

const char* name(Strategy strategy);

// The worker process of a tuning, which compiles and times variants: loads the only variant of `job` (a bundle without
// entries) on the unit-th of the identical devices that are its target, checks it on an edge shape, and then answers
// its parent's orders over standard input (builder/src/tune/timing/timing_order.hpp) until the parent closes it. Run it
// in a process of its own: a kernel may crash or hang it. Fails with wrong_result, or with the reason why the variant
// does not run.
Status time_job(const std::string& job, std::size_t unit);

}  // namespace clbake::builder::tune
