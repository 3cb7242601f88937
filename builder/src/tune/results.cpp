#include "tune/results.hpp"

#include <cstdio>

namespace clbake::builder {

void Results::enter(const StageId& stage) {
  stage_ = stage.stage;
  now_.stage = progress_name(stage);
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
    if (stage_ == Stage::explore) tuning.curve.push_back({at_s, tuning.tried, index, shape, speed});
    char figure[64];
    std::snprintf(figure, sizeof figure, "%.1f GFLOP/s at ", speed);
    now_.best = figure + name(request.shapes[s]) + " by " + variant;
  }
  for (const std::size_t s : result.late) {
    const std::uint32_t shape = table.shape(request.shapes[s]);
    late_[shape].push_back(variant);
    if (table.best(shape) > 0) blame_late(shape);
  }
  report();
}

void Results::blame_late(std::uint32_t shape) {
  const auto late = late_.find(shape);
  if (late == late_.end()) return;
  for (const std::string& variant : late->second) {
    if (!table.excluded(variant)) fail(variant, "no end after " + std::to_string(timeout_.count()) + " s");
  }
  late_.erase(late);
}

void Results::fail(const std::string& variant, const std::string& cause) {
  table.tuning.failures.push_back({variant, cause});
  table.exclude(variant);
  report(variant + ": " + cause);
}

void Results::report(const std::string& failure) {
  if (!progress_) return;
  now_.elapsed_s = clock_.now();
  now_.tried = table.tuning.tried;
  now_.failed = static_cast<std::uint32_t>(table.tuning.failures.size());
  now_.failure = failure;
  progress_(now_);
}

Status Results::nothing_measured() const {
  const Tuning& tuning = table.tuning;
  if (!late_.empty()) {
    return {Code::build_failed, "no variant finished " + name(tuning.shapes[late_.begin()->first]) +
                                    " in time; --timeout gives them longer"};
  }
  if (tuning.failures.empty()) return {Code::build_failed, "no variant was timed within the budget"};
  const Failure& first = tuning.failures.front();
  return {Code::build_failed, "no variant could be timed; the first: " + first.variant + ": " + first.cause};
}

}  // namespace clbake::builder
