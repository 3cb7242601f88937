// PROFILE.json: a Tuning as text that a person can read, one line for each winner, cost model and measurement.
//
//   "winners"       [index of the variant, of the shape, median_us, spread, runs, final]
//   "models"        [index of the variant, resident, call_us, ... as in cache::CostModel: "model_columns"]
//   "prior"         the same, of what the tuning started from
//   "exceptions"    [index of the variant, [min, max] of m, of n, of k, and of the batch unless it is any]: the
//                   first that fits a problem of the variant's precision and transposes decides; a max of null has no
//                   end
//   "shapes"        the names, with " weight 2.5" where the weight is not 1
//   "measurements"  as "winners"
//   "curve"         [seconds, tried, index of the variant, of the shape, gflops]
//
// Times and speeds have six digits, the numbers of models four. There is no checksum: a profile may be edited by hand.
// Values that contradict each other are refused.
#pragma once

#include <clbake/builder/tuning.hpp>

namespace clbake::builder::profile {

// A tuning and where it came from, for messages.
struct NamedTuning {
  std::string file;
  Tuning tuning;
};

// The names of a model's numbers, in their order, separated by spaces.
std::string model_columns();

// The text of a PROFILE.json. What is not UTF-8 becomes a replacement character.
std::string tuning_text(const Tuning& tuning);

// The reverse. Messages begin with `name` and the path of the field. Fails with malformed (no JSON, with the line;
// another format; a field that is missing, unknown, of a wrong type or contradicts another one), unsupported_version,
// out_of_memory.
Result<Tuning> parse_tuning(const std::string& text, const std::string& name);

// Fails like parse_tuning, and with not_found, io or malformed (more than 64 MiB) for a file that cannot be read.
Result<Tuning> read_tuning(const std::string& path);

// Replaces `path` atomically. Fails with io, or with malformed and writes nothing when the tuning contradicts itself,
// so that it could not be read again.
Status write_tuning(const std::string& path, const Tuning& tuning);

// The tuning with its cost models and exceptions, the winner on the largest shape of each class in each precision, a
// winner of each kind without them, and nothing else: no other variants and shapes, no measurements, failures or curve.
// It bakes the same bundle.
Tuning brief(const Tuning& tuning);
bool is_brief(const Tuning& tuning);  // there are winners, and no measurements

// Joins the measurements of several profiles of one device and fits again. Of a variant and a shape that several have
// measured a final measurement counts first, then the one with more runs, then the shorter time; a variant that failed
// anywhere is left out. A shape keeps the largest of its weights. `complete` if all of them are and no shard is
// missing; no curve, no command. Fails with invalid_argument for no profile, one of another device or driver than the
// first, or a brief one.
Result<Tuning> merge(const std::vector<NamedTuning>& profiles);

}  // namespace clbake::builder::profile
