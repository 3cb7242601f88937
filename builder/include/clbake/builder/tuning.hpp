// The result of a tuning: which variants were timed on which shapes of a device, and the choice that follows. A
// PROFILE.json holds it (tuning_file.hpp).
#pragma once

#include <clbake/builder/devices.hpp>
#include <clbake/builder/shape/shape.hpp>
#include <clbake/kernels/constraints.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace clbake::builder::profile {

// One variant timed on one shape.
struct Measurement {
  std::uint32_t variant = 0;  // index into Tuning::variants
  std::uint32_t shape = 0;    // index into Tuning::shapes
  double median_us = 0;       // of one call, enqueue to finish
  double spread = 0;          // interquartile range of the calls, in parts of the median
  std::uint32_t runs = 0;     // calls; 1 when it was stopped early, as it was too slow to win
  bool final = false;         // measured in a final race
};

// The figures of calls that took so many microseconds; at least one. Variant and shape are 0.
Measurement figures_of(std::vector<double> us, bool final);

// A variant that failed.
struct Failure {
  std::string variant;
  std::string cause;  // "wrong result at ...", "killed by signal 11 (...)", "no end after 60 s", a compiler's message
};

// A bundle has room for as many.
constexpr std::size_t kMaxExceptionsOfKind = 32;
constexpr std::size_t kMaxModelsOfKind = 256;

struct Tuning {
  Target target;
  std::uint32_t compute_units = 0;
  std::string tool;      // "clbake 0.1.0"
  std::string command;   // the command line that made it
  std::string date;      // of the end, UTC: "2026-11-21T20:15:00Z"
  std::string strategy;  // "staged", "random", "exhaustive"; "merged"
  std::uint64_t seed = 1;
  std::uint32_t shard = 1;   // this is the shard-th ...
  std::uint32_t shards = 1;  // ... of so many parts
  double budget_s = 0;       // 0 = none
  double elapsed_s = 0;      // of all runs together
  bool complete = false;     // false: interrupted
  std::uint32_t tried = 0;   // variants, failures included
  double noise = 0;  // of a final race: median of |ln(time / time of the same variant beside it)|; 0: not measured

  std::vector<std::string> variants;  // all that were timed or serve, by name
  std::vector<Shape> shapes;
  std::vector<Measurement> measurements;  // at most one for a variant and a shape
  std::vector<Failure> failures;

  std::vector<cache::CostModel> prior;  // what the tuning started from; variants as in `models`

  // Results of fit() from the prior and the measurements. The variants of exceptions and cost models are indices
  // into `variants`.
  std::vector<cache::Rule> exceptions;  // where measurements contradict the cost models
  // One for each variant that serves; none for a kind with few shapes and no prior.
  std::vector<cache::CostModel> models;
};

// The time now, as Tuning::date.
std::string utc_now();

// Fills in exceptions and cost models from the prior and the measurements. Measurements with one run cannot
// win. Equal measurements give equal results, in whatever order they are.
void fit(Tuning& tuning);

// The fastest measurement of each shape, in the order of the shapes: among those of a final race where there was one;
// none of a shape that was only timed with one run.
std::vector<Measurement> winners(const Tuning& tuning);

// Names of the variants that exceptions and cost models name, each once, in the order of `variants`.
std::vector<std::string> wanted_variants(const Tuning& tuning);

}  // namespace clbake::builder::profile
