#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/tuning_file.hpp>
#include <clbake/os/clock.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <set>

namespace clbake::builder::profile {
namespace {

double quantile(const std::vector<double>& sorted, double fraction) {
  return sorted[static_cast<std::size_t>(std::lround(fraction * static_cast<double>(sorted.size() - 1)))];
}

}  // namespace

Measurement figures_of(std::vector<double> us, bool final) {
  Measurement m;
  std::sort(us.begin(), us.end());
  m.median_us = median(us);
  m.spread = (quantile(us, 0.75) - quantile(us, 0.25)) / m.median_us;
  m.runs = static_cast<std::uint32_t>(us.size());
  m.final = final;
  return m;
}

std::string utc_now() {
  const std::tm parts = os::utc(std::time(nullptr));
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::vector<std::string> wanted_variants(const Tuning& tuning) {
  std::vector<bool> named(tuning.variants.size());
  for (const cache::Rule& rule : tuning.exceptions) named[rule.variant] = true;
  for (const cache::CostModel& model : tuning.models) named[model.variant] = true;
  std::vector<std::string> wanted;
  for (std::size_t v = 0; v < named.size(); ++v) {
    if (named[v]) wanted.push_back(tuning.variants[v]);
  }
  return wanted;
}

Tuning brief(const Tuning& tuning) {
  Tuning less = tuning;
  std::set<GemmKind> chosen;  // their kinds
  for (const cache::CostModel& model : tuning.models) chosen.insert(model.kind());
  for (const cache::Rule& rule : tuning.exceptions) chosen.insert(rule.kind());
  less.shapes.clear();
  for (const Shape& shape : tuning.shapes) {
    if (chosen.insert(shape.kind()).second) less.shapes.push_back(shape);
  }
  less.measurements.clear();
  less.failures.clear();
  less.prior.clear();
  less.variants = wanted_variants(tuning);
  const auto renumber = [&](std::uint32_t& variant) { variant = index_in(less.variants, tuning.variants[variant]); };
  for (cache::Rule& rule : less.exceptions) renumber(rule.variant);
  for (cache::CostModel& model : less.models) renumber(model.variant);
  return less;
}

}  // namespace clbake::builder::profile
