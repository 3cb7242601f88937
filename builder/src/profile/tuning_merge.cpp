#include <clbake/builder/tuning_file.hpp>
#include <clbake/exceptions_to_status.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace clbake::builder::profile {
namespace {

// The first difference between the devices of two profiles; empty when there is none.
std::string difference(const Tuning& a, const Tuning& b) {
  std::string text;
  const auto compare = [&](const char* field, const std::string& of_a, const std::string& of_b) {
    if (text.empty() && of_a != of_b) text = std::string(field) + " is '" + of_b + "', not '" + of_a + "'";
  };
  compare("platform_name", a.target.platform_name, b.target.platform_name);
  compare("vendor", a.target.vendor, b.target.vendor);
  compare("device_name", a.target.device_name, b.target.device_name);
  compare("architecture", a.target.architecture, b.target.architecture);
  compare("compute_units", std::to_string(a.compute_units), std::to_string(b.compute_units));
  compare("driver_version", a.target.driver_version, b.target.driver_version);
  compare("platform_version", a.target.platform_version, b.target.platform_version);
  compare("device_version", a.target.device_version, b.target.device_version);
  compare("cpu_features", a.target.cpu_features, b.target.cpu_features);
  compare("address_bits", std::to_string(a.target.address_bits), std::to_string(b.target.address_bits));
  return text;
}

// True if `a` is the more reliable measurement of the same variant and shape.
bool better(const Measurement& a, const Measurement& b) {
  const auto rank = [](const Measurement& m) { return std::tuple(!m.final, UINT32_MAX - m.runs, m.median_us); };
  return rank(a) < rank(b);
}

class Union {
 public:
  void add(const Tuning& tuning) {
    std::vector<std::uint32_t> variant_of;
    for (const std::string& variant : tuning.variants) {
      const auto [at, is_new] = variants_.emplace(variant, static_cast<std::uint32_t>(merged_.variants.size()));
      if (is_new) merged_.variants.push_back(variant);
      variant_of.push_back(at->second);
    }
    std::vector<std::uint32_t> shape_of;
    for (const Shape& shape : tuning.shapes) {
      const auto [at, is_new] = shapes_.emplace(name(shape), static_cast<std::uint32_t>(merged_.shapes.size()));
      if (is_new) merged_.shapes.push_back(shape);
      double& weight = merged_.shapes[at->second].weight;
      weight = std::max(weight, shape.weight);
      shape_of.push_back(at->second);
    }
    for (Measurement m : tuning.measurements) {
      m.variant = variant_of[m.variant];
      m.shape = shape_of[m.shape];
      const auto [at, is_new] = measurements_.emplace(std::pair(m.variant, m.shape), m);
      if (!is_new && better(m, at->second)) at->second = m;
    }
    if (merged_.prior.empty()) {
      merged_.prior = tuning.prior;
      for (cache::CostModel& model : merged_.prior) model.variant = variant_of[model.variant];
    }
    for (const Failure& failure : tuning.failures) {
      if (failed_.insert(failure.variant).second) merged_.failures.push_back(failure);
    }
  }

  // A variant that failed in one profile is left out, whatever the others measured.
  Tuning take() {
    for (const auto& [of, m] : measurements_) {
      if (failed_.count(merged_.variants[m.variant]) == 0) merged_.measurements.push_back(m);
    }
    return std::move(merged_);
  }

 private:
  Tuning merged_;
  std::map<std::string, std::uint32_t> variants_;
  std::map<std::string, std::uint32_t> shapes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Measurement> measurements_;
  std::set<std::string> failed_;
};

// True if no shard of a division is missing.
bool all_shards(const std::vector<NamedTuning>& profiles) {
  std::map<std::uint32_t, std::set<std::uint32_t>> shards;  // by the number of parts
  for (const NamedTuning& profile : profiles) shards[profile.tuning.shards].insert(profile.tuning.shard);
  return std::all_of(shards.begin(), shards.end(),
                     [](const auto& there) { return there.second.size() == there.first; });
}

}  // namespace

Result<Tuning> merge(const std::vector<NamedTuning>& profiles) {
  return exceptions_to_status([&]() -> Result<Tuning> {
    if (profiles.empty()) return {Code::invalid_argument, "no profile to merge"};
    const NamedTuning& first = profiles.front();
    Union all;
    for (const NamedTuning& profile : profiles) {
      const std::string differs = difference(first.tuning, profile.tuning);
      if (!differs.empty()) {
        return {Code::invalid_argument, profile.file + ": " + differs + " as in " + first.file};
      }
      if (profile.tuning.measurements.empty()) {
        return {Code::invalid_argument, profile.file + ": has no measurements, so that nothing can be fitted to it"};
      }
      all.add(profile.tuning);
    }
    Tuning merged = all.take();
    merged.target = first.tuning.target;
    merged.compute_units = first.tuning.compute_units;
    merged.tool = "clbake " CLBAKE_VERSION;
    merged.strategy = "merged";
    merged.seed = first.tuning.seed;
    merged.complete = all_shards(profiles);
    for (const NamedTuning& profile : profiles) {
      merged.date = std::max(merged.date, profile.tuning.date);
      merged.budget_s += profile.tuning.budget_s;
      merged.elapsed_s += profile.tuning.elapsed_s;
      merged.tried += profile.tuning.tried;
      merged.noise = std::max(merged.noise, profile.tuning.noise);
      merged.complete = merged.complete && profile.tuning.complete;
    }
    fit(merged);
    return merged;
  });
}

}  // namespace clbake::builder::profile
