#include "tune/timing_process.hpp"

#include <clbake/builder/jobs.hpp>

#include "device/worker_calls.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace clbake::builder {
namespace {

// "us 1.5 1.6"; nothing for other lines.
std::optional<std::vector<double>> parse_times(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word != "us") return std::nullopt;
  std::vector<double> times;
  for (double us = 0; words >> us;) times.push_back(us);
  const bool sound = words.eof() && !times.empty() &&
                     std::all_of(times.begin(), times.end(), [](double us) { return us > 0 && us < 1e12; });
  if (!sound) return std::nullopt;
  return times;
}

}  // namespace

Result<std::unique_ptr<TimingPool::Process>> TimingPool::Process::start(const TimingPool::Options& options,
                                                                        const kernels::Params& params,
                                                                        std::size_t number, std::size_t unit) {
  auto process = std::make_unique<Process>();
  const std::string stem = options.directory + "/" + std::to_string(number);
  process->files_ = {stem + ".job", stem + ".log"};
  process->timeout_ = options.timeout;
  process->unit_ = unit;
  const Status written = process->write(options.target, params);
  if (!written) return written;
  Command command;
  command.arguments = {options.worker, "worker", "time", process->files_[0], std::to_string(unit)};
  command.environment = driver_cache_environment(options.directory + "/clbake-cache");
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
  child_->send(kNextJob + files_[0]);
  state_ = State::compiling;
  deadline_ = Clock::now() + timeout_;
  ++variants_;
  return {};
}

void TimingPool::Process::order(const TimingOrder& order, std::size_t beside) {
  child_->send(to_line(order));
  state_ = State::timing;
  deadline_ = Clock::now() + timeout_ * static_cast<std::int64_t>(beside);
}

bool TimingPool::Process::look(std::vector<double>& times) {
  if (state_ == State::idle || state_ == State::out) return false;
  if (const std::optional<std::string> line = child_->receive()) return understand(*line, times);
  Exit exit;
  const std::optional<Exit> ended = child_->ended();
  if (ended) {
    exit = *ended;
  } else if (Clock::now() > deadline_) {
    exit.timed_out = true;
    late_ = state_ == State::timing;
  } else {
    return false;
  }
  const bool quiet = exit.ok();  // it should not have ended
  return fail(quiet ? "the worker ended without a word" : describe(exit, command_, timeout_));
}

Status TimingPool::Process::write(const Target& target, const kernels::Params& params) const {
  return write_job(files_[0], make_job(target, kernels::generate(params), params));
}

bool TimingPool::Process::fail(const std::string& cause) {
  failure_ = cause;
  state_ = State::out;
  child_.reset();
  return true;
}

bool TimingPool::Process::understand(const std::string& line, std::vector<double>& times) {
  times.clear();
  if (state_ == State::compiling) {
    if (line != "ready") return fail("the worker said '" + line + "' instead of 'ready'");
  } else if (line.rfind("unable ", 0) != 0 && line != "set") {
    const std::optional<std::vector<double>> parsed = parse_times(line);
    if (!parsed) return fail("the worker's answer is none: '" + line.substr(0, 80) + "'");
    times = *parsed;
  }
  state_ = State::idle;
  return true;
}

}  // namespace clbake::builder
