// The search: finds the best variants of a device within a budget of time. builder/TUNING.md says how and why.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace clbake::builder {

enum class Strategy {
  staged,      // many variants at two sizes, those around the best of them, the best over all shapes, winners by shape
  random,      // the same without what is learned on the way: for comparison
  exhaustive,  // every point of the space
};

// Shapes to tune for; each is timed with every wanted precision and pair of transposes, which it does not name itself.
struct TuneShapes {
  std::vector<Shape> list;          // in the order of their importance; winners are found for them
  std::vector<Shape> grid;          // timed for the rules only, as far as time allows
  std::vector<std::size_t> probes;  // of the list, one or two: the first stage times variants on them
};

// "all", "square", "thin", "small", "batched"; nothing for other names. The kind decides how large the largest are.
std::optional<TuneShapes> preset_shapes(const std::string& name, kernels::DeviceType kind);

// A file of shapes: on each line "MxNxK" or "MxNxK batch N"; '#' starts a comment. Fails with not_found, io or
// malformed (file, line and cause).
Result<TuneShapes> read_shapes(const std::string& path);

struct TuneOptions {
  std::vector<Device> devices;  // one, or several identical ones
  std::vector<Precision> precisions;
  std::vector<std::pair<bool, bool>> transposes;  // of A and B; the first is searched most
  std::vector<kernels::Family> families = {std::begin(kernels::all_families), std::end(kernels::all_families)};
  TuneShapes shapes;
  Strategy strategy = Strategy::staged;
  std::chrono::duration<double> budget{
      600};  // 0 = none: exhaustive ends when all is done, the others never explore less
  std::uint64_t seed = 1;
  std::uint32_t shard = 1;
  std::uint32_t shards = 1;
  std::string work;                  // directory for the journal and the driver's cache
  std::string worker;                // executable whose `worker time` is time_job
  std::string command;               // for the record
  unsigned parallel = 0;             // compilations at a time; 0 = one for each core
  std::chrono::seconds timeout{20};  // for one compilation, or one measurement
  bool fresh = false;                // throw an unfinished tuning away
};

struct TuneProgress {
  double elapsed_s = 0;
  std::uint32_t tried = 0;
  std::uint32_t failed = 0;
  std::string stage;    // "explore single nn"
  std::string best;     // "212.4 GFLOP/s at 1024x1024x1024 by register_tile-..."
  std::string failure;  // of a variant just now; empty otherwise
};

// Searches until the budget is used up. When cancelled it returns what is known by then with `complete` false; the
// same options then go on from there. Equal measurements give equal results. Fails with invalid_argument, io (also when
// another tuning is at work in the same directory), or build_failed when no variant ran at all.
Result<Tuning> tune(const TuneOptions& options, const std::atomic<bool>& cancel,
                    const std::function<void(const TuneProgress&)>& progress);

// Throws the journal and the driver's cache away: after the profile was written. Not while a tuning is at work there.
void forget_tuning(const std::string& work);

const char* name(Strategy strategy);

}  // namespace clbake::builder
