// PROFILE.json: a Tuning as text that a person can read, one line for each cost model and measurement.
//
//   "models"        [index of the variant, resident, then the numbers of cache::kCostModelNumbers, and the regime
//                   unless it is 0]
//   "prior"         the same, of what the tuning started from
//   "exceptions"    [index of the variant, [min, max] of m, of n, of k, and of the batch unless it is any]: the
//                   first that fits a problem of the variant's precision and transposes decides; a max of null has no
//                   end
//   "shapes"        the names, with " weight 2.5" where the weight is not 1
//   "measurements"  [index of the variant, of the shape, median_us, spread, runs, final]
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

// The tuning with its cost models and exceptions and the variants that they name, without measurements, failures and
// prior, and with one shape of each kind that has none of them. It bakes the same bundle.
Tuning brief(const Tuning& tuning);

// Joins the measurements of several profiles of one device and fits again. Of a variant and a shape that several have
// measured a final measurement counts first, then the one with more runs, then the shorter time; a variant that failed
// anywhere is left out. A shape keeps the largest of its weights. `complete` if all of them are and no shard is
// missing; no command. Fails with invalid_argument for no profile, one of another device or driver than the first, or
// one without measurements.
Result<Tuning> merge(const std::vector<NamedTuning>& profiles);

// "cpu-avx512", "cpu-avx2", "cpu-neon", with Intel's CPU driver "intel-avx512" or "intel-avx2"; "nvidia", "amd",
// "intel-gpu" or "other".
std::string device_class(const Device& device);

// Those of builder/profiles/; `file` is the class. Not every class was tuned.
const std::vector<NamedTuning>& shipped_profiles();

}  // namespace clbake::builder::profile
