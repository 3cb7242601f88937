#include "tune/stage_runner.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <cmath>

namespace clbake::builder {
namespace {

constexpr std::size_t kGeneration = 16;  // requests
constexpr std::uint32_t kRuns = 3;       // of an order, at least
constexpr double kOrderUs = 2000;        // of an order, at least

}  // namespace

double SearchContext::budget_s() const { return options.budget.count() > 0 ? options.budget.count() : INFINITY; }

StageRunner::StageRunner(SearchContext& context, const StageId& stage, double until, const EarlyStops& stops,
                         MakeRequest make_request)
    : context_(context), stage_(stage), until_(until), stops_(stops), make_request_(std::move(make_request)) {}

Status StageRunner::run() {
  context_.results.enter(stage_);
  TimingPool::Callbacks callbacks;
  callbacks.next = [this](TimingRequest& request) { return next(request); };
  callbacks.order = [this](const TimingRequest& request, std::size_t shape, const TimingResult& so_far) {
    return order(request, shape, so_far);
  };
  callbacks.done = [this](const TimingRequest& request, TimingResult&& result) { done(request, std::move(result)); };
  const Status status = context_.pool.run(callbacks, context_.clock.at(context_.budget_s()));
  take_in_until(pending_.size());
  return journal_status_ ? status : journal_status_;
}

TimingPool::Next StageRunner::next(TimingRequest& request) {
  while (generation_known(pending_.size())) {
    const std::size_t number = pending_.size();
    std::optional<TimingRequest> made = make_request_(number);
    if (!made || !journal_status_) return TimingPool::Next::end;
    const std::string variant = kernels::name(made->params);
    const JournalRecord* known = context_.journal.find(request_key(stage_, number), variant);
    if (!known && context_.clock.now() >= until_) return TimingPool::Next::end;
    // What is best now, not when it will be timed: the result must not depend on how far compiling is ahead.
    TimingTable& table = context_.results.table;
    for (const Shape& shape : made->shapes) made->best_us.push_back(table.best(table.shape(shape)));
    made->number = number;
    context_.results.count_tried(variant);
    pending_.push_back({std::move(*made), std::nullopt, 0});
    if (known) {
      pending_.back().result = TimingResult{known->failure, known->us, known->late};
      pending_.back().at_s = known->at_s;
      continue;
    }
    request = pending_.back().request;
    return TimingPool::Next::request;
  }
  return TimingPool::Next::wait;
}

// Takes in the generations that the request of this number may use; false while one of their results is missing.
bool StageRunner::generation_known(std::size_t number) {
  const std::size_t generation = number / kGeneration;
  const std::size_t needed = generation > 0 ? (generation - 1) * kGeneration : 0;
  for (std::size_t i = taken_; i < needed; ++i) {
    if (!pending_[i].result) return false;
  }
  take_in_until(needed);
  return true;
}

// What is compiled is timed on the probes in any case, as compiling was expensive. Other stages end in time.
std::optional<TimingOrder> StageRunner::order(const TimingRequest& request, std::size_t shape,
                                              const TimingResult& so_far) const {
  if (stage_.stage != Stage::explore && context_.clock.now() >= until_) return std::nullopt;
  if (shape > 0) {
    const double best = request.best_us[shape - 1];
    const std::vector<double>& us = so_far.us[shape - 1];
    if (best > 0 && !us.empty() && median(us) > stops_.variant * best) return std::nullopt;
  }
  const double stop = shape == 0 ? stops_.first_call : stops_.call;
  return TimingOrder{request.shapes[shape], kRuns, kOrderUs, request.best_us[shape] * stop};
}

void StageRunner::done(const TimingRequest& request, TimingResult&& result) {
  Pending& pending = pending_[request.number];
  pending.at_s = context_.clock.now();
  const Status written = context_.journal.add({request_key(stage_, request.number), kernels::name(request.params),
                                               result.failure, pending.at_s, result.us, result.late});
  if (!written) journal_status_ = written;
  pending.result = std::move(result);
}

void StageRunner::take_in_until(std::size_t end) {
  for (; taken_ < end; ++taken_) {
    const Pending& pending = pending_[taken_];
    if (pending.result) context_.results.take_in(pending.request, *pending.result, pending.at_s);
  }
}

}  // namespace clbake::builder
