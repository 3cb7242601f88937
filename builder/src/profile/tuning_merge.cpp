#include <clbake/builder/tuning_file.hpp>
#include <clbake/exceptions_to_status.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace clbake::builder {
namespace {

std::string shard_name(const Tuning& t) { return std::to_string(t.shard) + "/" + std::to_string(t.shards); }

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
  compare("address_bits", std::to_string(a.target.address_bits), std::to_string(b.target.address_bits));
  return text;
}

bool shapes_in_common(const Tuning& a, const Tuning& b) {
  return std::any_of(a.shapes.begin(), a.shapes.end(), [&](const Shape& shape) {
    return std::find(b.shapes.begin(), b.shapes.end(), shape) != b.shapes.end();
  });
}

// Whether the second profile can be joined to the first one, and adds something to it.
Status check_pair(const NamedTuning& first, const NamedTuning& second) {
  const Tuning& a = first.tuning;
  const Tuning& b = second.tuning;
  const auto refuse = [&](const std::string& cause) {
    return Status(Code::invalid_argument, second.file + ": " + cause + "; --force joins them anyway");
  };
  const std::string differs = difference(a, b);
  if (!differs.empty()) return refuse(differs + " as in " + first.file);
  if (tuning_text(a) == tuning_text(b)) return refuse("is the same profile as " + first.file);
  if (a.shards < 2 || b.shards < 2) return {};
  if (a.shards != b.shards) {
    return refuse("is shard " + shard_name(b) + ", and " + first.file + " is shard " + shard_name(a) +
                  ": not parts of one division");
  }
  const bool again = a.shard == b.shard && shapes_in_common(a, b);
  return again ? refuse("is shard " + shard_name(b) + " as " + first.file + " is") : Status();
}

// Whether `a` is the more reliable measurement of the same variant and shape.
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
    for (const auto& [what, m] : measurements_) {
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

Result<Tuning> join_measurements(const std::vector<NamedTuning>& profiles) {
  Union all;
  for (const NamedTuning& profile : profiles) all.add(profile.tuning);
  return all.take();
}

// The kinds of problems that a profile is about: "half nn" ...
std::set<std::string> kinds_of(const Tuning& tuning) {
  std::set<std::string> kinds;
  for (const Winner& winner : tuning.winners) kinds.insert(kind_name(tuning.shapes[winner.figures.shape]));
  for (const cache::CostModel& model : tuning.models) kinds.insert(kind_name(model));
  for (const cache::Rule& rule : tuning.exceptions) kinds.insert(kind_name(rule));
  return kinds;
}

// Without measurements there is nothing to fit again, so that profiles are only put side by side.
Result<Tuning> join_brief(const std::vector<NamedTuning>& profiles) {
  Tuning joined;
  std::map<std::string, std::string> file_of;  // by kind
  for (const NamedTuning& profile : profiles) {
    for (const std::string& kind : kinds_of(profile.tuning)) {
      const auto [at, is_new] = file_of.emplace(kind, profile.file);
      if (is_new) continue;
      return {Code::invalid_argument, profile.file + ": has " + kind + ", as " + at->second +
                                          " has; of brief profiles, which have no measurements, only those of "
                                          "different precisions or transposes can be joined"};
    }
    Tuning next = brief(profile.tuning);
    const auto variants = static_cast<std::uint32_t>(joined.variants.size());
    const auto shapes = static_cast<std::uint32_t>(joined.shapes.size());
    for (Winner& winner : next.winners) {
      winner.figures.variant += variants;
      winner.figures.shape += shapes;
    }
    for (cache::Rule& rule : next.exceptions) rule.variant += variants;
    for (cache::CostModel& model : next.models) model.variant += variants;
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(joined.variants, next.variants);
    append(joined.shapes, next.shapes);
    append(joined.winners, next.winners);
    append(joined.exceptions, next.exceptions);
    append(joined.models, next.models);
  }
  return joined;
}

// Whether no shard of a division is missing.
bool all_shards(const std::vector<NamedTuning>& profiles) {
  std::map<std::uint32_t, std::set<std::uint32_t>> shards;  // by the number of parts
  for (const NamedTuning& profile : profiles) shards[profile.tuning.shards].insert(profile.tuning.shard);
  return std::all_of(shards.begin(), shards.end(),
                     [](const auto& there) { return there.second.size() == there.first; });
}

// Of brief profiles, none may be a part: the others' parts are of no use beside it.
bool no_shards(const std::vector<NamedTuning>& profiles) {
  return std::all_of(profiles.begin(), profiles.end(), [](const auto& profile) { return profile.tuning.shards == 1; });
}

}  // namespace

Result<Tuning> merge(const std::vector<NamedTuning>& profiles, bool force) {
  return exceptions_to_status([&]() -> Result<Tuning> {
    if (profiles.empty()) return {Code::invalid_argument, "no profile to merge"};
    for (std::size_t b = 1; b < profiles.size() && !force; ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        const Status fits = check_pair(profiles[a], profiles[b]);
        if (!fits) return fits;
      }
    }
    const bool any_brief = std::any_of(profiles.begin(), profiles.end(),
                                       [](const NamedTuning& profile) { return is_brief(profile.tuning); });
    Result<Tuning> joined = any_brief ? join_brief(profiles) : join_measurements(profiles);
    if (!joined) return joined;
    Tuning merged = std::move(*joined);
    merged.target = profiles.front().tuning.target;
    merged.compute_units = profiles.front().tuning.compute_units;
    merged.tool = "clbake " CLBAKE_VERSION;
    merged.strategy = "merged";
    merged.seed = profiles.front().tuning.seed;
    merged.complete = any_brief ? no_shards(profiles) : all_shards(profiles);
    for (const NamedTuning& profile : profiles) {
      merged.date = std::max(merged.date, profile.tuning.date);
      merged.budget_s += profile.tuning.budget_s;
      merged.elapsed_s += profile.tuning.elapsed_s;
      merged.tried += profile.tuning.tried;
      merged.noise = std::max(merged.noise, profile.tuning.noise);
      merged.complete = merged.complete && profile.tuning.complete;
    }
    if (!any_brief) fit(merged);
    return merged;
  });
}

}  // namespace clbake::builder
