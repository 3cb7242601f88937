// Raw timings as CSV: what every shipped profile is fitted to. One file holds one kind of products on one device, a row
// for each problem and a column for each variant:
//
//   # clbake times 1
//   # platform_name: NVIDIA CUDA               the target's fields, one on each line
//   # compute_units: 132
//   # date: 2026-11-27T05:00:00Z
//   # tool: clbake 1.0.0                       any further "# key: value" is for people
//   # kind: half nn
//   m,n,k,batch,spread,VARIANT,VARIANT,...
//   1024,1024,1024,1,0.012,15.21,17.03,...     microseconds of one call; empty where the variant was not timed
//
// spread: each variant's interquartile range of its turns divided by their median; of these the median. A file may lack
// this column: then noise is not known, and counts as 0.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <string>
#include <utility>
#include <vector>

namespace clbake::builder::profile {

struct TimesFile {
  Target target;
  std::uint32_t compute_units = 0;
  std::vector<std::pair<std::string, std::string>> notes;  // further keys and values
  GemmKind kind;
  std::vector<std::string> variants;
};

// All lines before the first row.
std::string times_header(const TimesFile& file);

// A row and its end of line. `us`: one time for each variant of the file; 0: not timed.
std::string times_row(const Shape& shape, double spread, const std::vector<double>& us);

// Reads files of one device into measurements, which fit() takes: each problem once, in the order of the files. Fails
// with malformed, naming file and line, with invalid_argument when two files are about different devices, and like
// read_text_file.
Result<Tuning> read_times(const std::vector<std::string>& paths);

}  // namespace clbake::builder::profile
