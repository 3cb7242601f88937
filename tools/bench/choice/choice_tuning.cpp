#include "bench/choice/choice_tuning.hpp"

#include <set>

namespace clbake::tool {
builder::Tuning tuning_of(const std::vector<ChoiceTiming>& rows, const builder::Device& device, std::uint32_t seed,
                          const std::string& command) {
  builder::Tuning tuning;
  tuning.target = device.target;
  tuning.compute_units = device.compute_units;
  tuning.tool = "clbake " CLBAKE_VERSION;
  tuning.command = command;
  tuning.date = builder::utc_now();
  tuning.strategy = "variants";
  tuning.seed = seed;
  tuning.complete = true;
  std::map<std::string, std::uint32_t> variants;
  std::set<std::string> drawn;
  for (const ChoiceTiming& row : rows) {
    const builder::Shape shape = builder::shape_of(row.problem);
    if (!drawn.insert(name(shape)).second) continue;  // the same problem again
    for (const auto& [variant, us] : row.timed) {
      const auto [at, is_new] = variants.emplace(variant, static_cast<std::uint32_t>(tuning.variants.size()));
      if (is_new) tuning.variants.push_back(variant);
      builder::Measurement measurement = builder::figures_of(us, true);
      measurement.variant = at->second;
      measurement.shape = static_cast<std::uint32_t>(tuning.shapes.size());
      tuning.measurements.push_back(measurement);
    }
    tuning.shapes.push_back(shape);
  }
  tuning.tried = static_cast<std::uint32_t>(tuning.variants.size());
  builder::fit(tuning, &device.limits);
  return tuning;
}

}  // namespace clbake::tool
