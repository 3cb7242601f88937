#include "tune/results.hpp"

#include <cstdio>

namespace clbake::builder {

std::optional<std::uint32_t> Timeouts::first_shape() const {
  if (variants_.empty()) return std::nullopt;
  return variants_.begin()->first;
}

std::vector<std::string> Timeouts::blame(std::uint32_t shape) {
  const auto at = variants_.find(shape);
  if (at == variants_.end()) return {};
  std::vector<std::string> variants = std::move(at->second);
  variants_.erase(at);
  return variants;
}

void Results::count_tried(const std::string& variant) {
  tried_.insert(variant);
  table.tuning.tried = static_cast<std::uint32_t>(tried_.size());
}

void Results::take_in(const TimingRequest& request, const TimingResult& result, double at_s) {
  const std::string variant = kernels::name(request.params);
  if (!result.failure.empty()) return fail(variant, result.failure);
  for (std::size_t s = 0; s < result.us.size(); ++s) {
    const std::uint32_t shape = table.shape(request.shapes[s]);
    const std::uint32_t index = table.variant(request.params);
    const double before = table.best(shape);
    table.add(index, shape, result.us[s], false);
    const double best = table.best(shape);
    if (best == before || best <= 0) continue;
    blame_late(shape);
    const double speed = gflops(request.shapes[s], best);
    Tuning& tuning = table.tuning;
    if (stage_.stage == Stage::explore) tuning.curve.push_back({at_s, tuning.tried, index, shape, speed});
    char figure[64];
    std::snprintf(figure, sizeof figure, "%.1f GFLOP/s at ", speed);
    best_ = figure + name(request.shapes[s]) + " by " + variant;
  }
  for (const std::size_t s : result.late) {
    const std::uint32_t shape = table.shape(request.shapes[s]);
    timeouts_.add(shape, variant);
    if (table.best(shape) > 0) blame_late(shape);
  }
  report();
}

void Results::blame_late(std::uint32_t shape) {
  for (const std::string& variant : timeouts_.blame(shape)) {
    if (!table.excluded(variant)) fail(variant, "no end after " + std::to_string(timeout_.count()) + " s");
  }
}

void Results::fail(const std::string& variant, const std::string& cause) {
  table.tuning.failures.push_back({variant, cause});
  table.exclude(variant);
  report(variant + ": " + cause);
}

void Results::report(const std::string& failure) {
  if (!progress_) return;
  TuneProgress now;
  now.elapsed_s = clock_.now();
  now.tried = table.tuning.tried;
  now.failed = static_cast<std::uint32_t>(table.tuning.failures.size());
  now.stage = progress_name(stage_);
  now.best = best_;
  now.failure = failure;
  progress_(now);
}

Status Results::nothing_measured() const {
  const Tuning& tuning = table.tuning;
  if (const std::optional<std::uint32_t> shape = timeouts_.first_shape()) {
    return {Code::build_failed,
            "no variant finished " + name(tuning.shapes[*shape]) + " in time; --timeout gives them longer"};
  }
  if (tuning.failures.empty()) return {Code::build_failed, "no variant was timed within the budget"};
  const Failure& first = tuning.failures.front();
  return {Code::build_failed, "no variant could be timed; the first: " + first.variant + ": " + first.cause};
}

}  // namespace clbake::builder
