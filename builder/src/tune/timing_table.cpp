#include "tune/timing_table.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <algorithm>
#include <cmath>

namespace clbake::builder {

std::uint32_t TimingTable::variant(const kernels::Params& params) {
  const auto [at, added] = variants_.emplace(kernels::name(params), static_cast<std::uint32_t>(params_.size()));
  if (added) {
    params_.push_back(params);
    tuning.variants.push_back(at->first);
  }
  return at->second;
}

std::uint32_t TimingTable::shape(const Shape& shape) {
  const auto [at, added] = shapes_.emplace(name(shape), static_cast<std::uint32_t>(tuning.shapes.size()));
  if (added) tuning.shapes.push_back(shape);
  return at->second;
}

void TimingTable::add(std::uint32_t variant, std::uint32_t shape, const std::vector<double>& us, bool final) {
  if (us.empty() || excluded(tuning.variants[variant])) return;
  const Key key{shape, variant};
  const auto [row, added] = rows_.emplace(key, tuning.measurements.size());
  if (added) tuning.measurements.emplace_back();
  Measurement& m = tuning.measurements[row->second];
  if (!added && m.final && !final) return;
  if (final) {
    std::vector<double>& all = final_us_[key];
    all.insert(all.end(), us.begin(), us.end());
    m = figures_of(all, true);
  } else {
    m = figures_of(us, false);
  }
  m.variant = variant;
  m.shape = shape;
}

void TimingTable::add_noise(double ratio) {
  noise_.push_back(std::abs(std::log(ratio)));
  tuning.noise = median(noise_);
}

void TimingTable::exclude(const std::string& variant) {
  excluded_.insert(variant);
  const auto at = variants_.find(variant);
  if (at == variants_.end()) return;
  const auto erase_its = [&](auto& list) {
    list.erase(std::remove_if(list.begin(), list.end(), [&](const auto& one) { return one.variant == at->second; }),
               list.end());
  };
  erase_its(tuning.curve);
  auto& list = tuning.measurements;
  erase_its(list);
  rows_.clear();
  for (std::size_t i = 0; i < list.size(); ++i) rows_[{list[i].shape, list[i].variant}] = i;
}

std::vector<std::uint32_t> TimingTable::fastest(std::uint32_t shape, std::size_t most) const {
  std::vector<std::pair<double, std::uint32_t>> list;
  for (auto at = rows_.lower_bound({shape, 0}); at != rows_.end() && at->first.first == shape; ++at) {
    const Measurement& m = tuning.measurements[at->second];
    if (m.runs > 1) list.emplace_back(m.median_us, m.variant);
  }
  std::sort(list.begin(), list.end());
  if (list.size() > most) list.resize(most);
  std::vector<std::uint32_t> variants;
  variants.reserve(list.size());
  for (const auto& [us, variant] : list) variants.push_back(variant);
  return variants;
}

double TimingTable::best(std::uint32_t shape) const {
  const std::vector<std::uint32_t> first = fastest(shape, 1);
  return first.empty() ? 0 : median_of(first[0], shape);
}

double TimingTable::median_of(std::uint32_t variant, std::uint32_t shape) const {
  const auto at = rows_.find({shape, variant});
  return at == rows_.end() ? 0 : tuning.measurements[at->second].median_us;
}

}  // namespace clbake::builder
