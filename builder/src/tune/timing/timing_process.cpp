#include "tune/timing/timing_process.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/builder/platforms.hpp>

#include "process/worker.hpp"

#include <filesystem>

namespace clbake::builder {
Result<std::unique_ptr<TimingPool::Process>> TimingPool::Process::start(const TuneOptions& options,
                                                                        const kernels::Params& params,
                                                                        std::size_t number, std::size_t unit) {
  auto process = std::make_unique<Process>();
  const std::string stem = options.work + "/" + std::to_string(number);
  process->files_ = {stem + ".job", stem + ".log"};
  process->timeout_ = options.timeout;
  process->unit_ = unit;
  const Status written = process->write(options.devices.front().target, params);
  if (!written) return written;
  const std::string cache = options.work + "/clbake-cache";
  std::error_code error;
  std::filesystem::create_directory(cache, error);
  if (error) return {Code::io, cache + ": cannot create: " + error.message()};
  Command command;
  command.arguments = {options.worker, "worker", "time", process->files_[0], std::to_string(unit)};
  command.environment = driver_cache_environment(cache);
  for (auto& variable : steady_environment()) command.environment.push_back(std::move(variable));
  command.log = process->files_[1];
  process->command_ = command;
  Result<LineChannel> child = LineChannel::start(command);
  if (!child) return child.status();
  process->child_.emplace(std::move(*child));
  process->deadline_ = Clock::now() + options.timeout;
  return process;
}

TimingPool::Process::~Process() {
  child_.reset();
  for (const std::string& file : files_) {
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
  }
}

Status TimingPool::Process::next(const Target& target, const kernels::Params& params) {
  const Status written = write(target, params);
  if (!written) return written;
  child_->send(kNextJobPrefix + files_[0]);
  state_ = State::compiling;
  deadline_ = Clock::now() + timeout_;
  ++variants_;
  return {};
}

void TimingPool::Process::order(const TimingOrder& order, std::size_t concurrent) {
  child_->send(to_line(order));
  state_ = State::timing;
  deadline_ = Clock::now() + timeout_ * static_cast<std::int64_t>(concurrent);
}

bool TimingPool::Process::poll(std::vector<double>& times) {
  if (state_ == State::idle || state_ == State::failed) return false;
  if (const std::optional<std::string> line = child_->receive()) return take_line(*line, times);
  Exit exit;
  const std::optional<Exit> ended = child_->ended();
  if (ended) {
    exit = *ended;
  } else if (Clock::now() > deadline_) {
    exit.timed_out = true;
    (state_ == State::timing ? late_ : hung_) = true;
  } else {
    return false;
  }
  return fail(exit.ok() ? "the worker exited without an answer" : describe(exit, command_, timeout_));
}

Status TimingPool::Process::write(const Target& target, const kernels::Params& params) const {
  return write_job(files_[0], make_job(target, kernels::generate(params), params));
}

bool TimingPool::Process::fail(const std::string& cause) {
  failure_ = cause;
  state_ = State::failed;
  child_.reset();
  return true;
}

bool TimingPool::Process::take_line(const std::string& line, std::vector<double>& times) {
  if (state_ == State::compiling) {
    if (line != kReadyLine) return fail("the worker answered '" + line + "' instead of 'ready'");
  } else {
    const std::optional<std::vector<double>> parsed = parse_times(line);
    if (!parsed) return fail("the worker's answer is not understood: '" + line.substr(0, 80) + "'");
    times = *parsed;
  }
  state_ = State::idle;
  return true;
}

}  // namespace clbake::builder
