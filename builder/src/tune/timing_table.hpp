// All that a search has measured, by variant and by shape.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder {

// Fills the variants, shapes and measurements of a Tuning.
class TimingTable {
 public:
  // The index in tuning.variants or tuning.shapes; new ones are added.
  std::uint32_t variant(const kernels::Params& params);
  std::uint32_t shape(const Shape& shape);
  const kernels::Params& params(std::uint32_t variant) const { return params_[variant]; }

  // Microseconds of the calls of one order. `final`: measured in the final race; its turns count together, and
  // replace what was measured before it. No calls: the device had no memory, nothing is kept.
  void add(std::uint32_t variant, std::uint32_t shape, const std::vector<double>& us, bool final);

  // Two times of the same variant on the same shape, one over the other.
  void add_noise(double ratio);

  // The variant failed: all that was measured of it goes, and nothing more is kept.
  void exclude(const std::string& variant);
  bool excluded(const std::string& variant) const { return excluded_.count(variant) > 0; }

  // The smallest median on a shape, of variants that were not stopped early; 0 when there is none.
  double best(std::uint32_t shape) const;
  // These variants by their median, the fastest first, at most `most`.
  std::vector<std::uint32_t> fastest(std::uint32_t shape, std::size_t most) const;
  double median_of(std::uint32_t variant, std::uint32_t shape) const;  // 0 when there is none

  Tuning tuning;

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // shape, variant
  std::vector<kernels::Params> params_;
  std::map<std::string, std::uint32_t> variants_;
  std::map<std::string, std::uint32_t> shapes_;
  std::map<Key, std::size_t> rows_;  // indices into tuning.measurements
  std::map<Key, std::vector<double>> final_us_;
  std::vector<double> noise_;  // absolute logarithms
  std::set<std::string> excluded_;
};

}  // namespace clbake::builder
