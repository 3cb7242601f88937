#include "tune/results.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace clbake::builder::tune {

std::uint32_t Results::variant(const kernels::Params& params) {
  const auto [at, added] = variants_.emplace(kernels::name(params), static_cast<std::uint32_t>(params_.size()));
  if (added) {
    params_.push_back(params);
    tuning.variants.push_back(at->first);
  }
  return at->second;
}

std::uint32_t Results::shape(const Shape& shape) {
  const auto [at, added] = shapes_.emplace(name(shape), static_cast<std::uint32_t>(tuning.shapes.size()));
  if (added) tuning.shapes.push_back(shape);
  return at->second;
}

void Results::count(const std::string& variant) {
  tried_.insert(variant);
  tuning.tried = static_cast<std::uint32_t>(tried_.size());
}

void Results::add(const kernels::Params& params, std::uint32_t shape, const std::vector<double>& us, bool final) {
  const std::uint32_t index = variant(params);
  const std::string& variant_name = tuning.variants[index];
  count(variant_name);
  if (excluded(variant_name)) return;
  const double before = best(shape);
  const Key key{shape, index};
  const auto [row, added] = rows_.emplace(key, tuning.measurements.size());
  if (added) tuning.measurements.emplace_back();
  profile::Measurement& m = tuning.measurements[row->second];
  if (m.final && !final) return;
  std::vector<double> turns = us;
  if (final) {
    std::vector<double>& all = final_us_[key];
    all.insert(all.end(), us.begin(), us.end());
    turns = all;
  }
  m = profile::figures_of(std::move(turns), final);
  m.variant = index;
  m.shape = shape;
  const double now = best(shape);
  if (now <= 0) return;
  blame_late(shape);
  if (now == before) return;
  char figure[64];
  std::snprintf(figure, sizeof figure, "%.1f GFLOP/s at ", gflops(tuning.shapes[shape], now));
  now_.best = figure + name(tuning.shapes[shape]) + " by " + variant_name;
}

void Results::add_noise(double ratio) {
  noise_.push_back(std::abs(std::log(ratio)));
  tuning.noise = median(noise_);
}

void Results::add_late(const std::string& variant, std::uint32_t shape) {
  count(variant);
  late_[shape].push_back(variant);
  if (best(shape) > 0) blame_late(shape);
}

void Results::blame_late(std::uint32_t shape) {
  const auto late = late_.find(shape);
  if (late == late_.end()) return;
  const std::vector<std::string> variants = std::move(late->second);
  late_.erase(late);
  for (const std::string& variant : variants) {
    if (!excluded(variant)) fail(variant, "no end in time on a shape");
  }
}

void Results::fail(const std::string& variant, const std::string& cause) {
  count(variant);
  if (!excluded_.insert(variant).second) return;
  tuning.failures.push_back({variant, cause});
  const auto at = variants_.find(variant);
  if (at != variants_.end()) {
    auto& list = tuning.measurements;
    list.erase(std::remove_if(list.begin(), list.end(), [&](const auto& m) { return m.variant == at->second; }),
               list.end());
    rows_.clear();
    for (std::size_t i = 0; i < list.size(); ++i) rows_[{list[i].shape, list[i].variant}] = i;
  }
  report(variant + ": " + cause);
}

std::size_t Results::late(std::uint32_t shape) const {
  const auto late = late_.find(shape);
  return late == late_.end() ? 0 : late->second.size();
}

std::vector<std::uint32_t> Results::fastest(std::uint32_t shape, std::size_t most) const {
  std::vector<std::pair<double, std::uint32_t>> list;
  for (auto at = rows_.lower_bound({shape, 0}); at != rows_.end() && at->first.first == shape; ++at) {
    const profile::Measurement& m = tuning.measurements[at->second];
    if (m.runs > 1) list.emplace_back(m.median_us, m.variant);
  }
  std::sort(list.begin(), list.end());
  if (list.size() > most) list.resize(most);
  std::vector<std::uint32_t> variants;
  for (const auto& [us, variant] : list) variants.push_back(variant);
  return variants;
}

double Results::best(std::uint32_t shape) const {
  const std::vector<std::uint32_t> first = fastest(shape, 1);
  return first.empty() ? 0 : tuning.measurements[rows_.at({shape, first[0]})].median_us;
}

void Results::report(const std::string& failure) {
  if (!progress_) return;
  now_.elapsed_s = clock_.now();
  now_.tried = tuning.tried;
  now_.failed = static_cast<std::uint32_t>(tuning.failures.size());
  now_.failure = failure;
  progress_(now_);
}

Status Results::nothing_measured() const {
  if (!late_.empty()) {
    return {Code::build_failed, "no variant finished " + name(tuning.shapes[late_.begin()->first]) +
                                    " in time; --timeout gives them longer"};
  }
  if (tuning.failures.empty()) return {Code::build_failed, "no variant was timed within the budget"};
  const profile::Failure& first = tuning.failures.front();
  return {Code::build_failed, "no variant could be timed; the first: " + first.variant + ": " + first.cause};
}

}  // namespace clbake::builder::tune
