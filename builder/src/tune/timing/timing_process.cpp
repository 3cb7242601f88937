#include "tune/timing/timing_process.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/builder/platforms.hpp>

#include <clbake/builder/process.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/paths.hpp>
#include "process/need.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace clbake::builder::tune {
using namespace process;

// For a GPU, where a context takes a second or two. Not endless, as drivers leak.
constexpr unsigned kVariantsPerProcess = 100;

std::string to_line(const TimingOrder& order) {
  std::ostringstream line;
  line << name(order.shape) << '|' << order.runs << '|' << order.turn_us << '|' << order.limit_us;
  return line.str();
}

std::optional<TimingOrder> parse_order(const std::string& line) {
  std::istringstream parts(line);
  std::string shape;
  std::getline(parts, shape, '|');
  const Result<Shape> parsed = parse_shape(shape);
  TimingOrder order;
  char bar = 0;
  parts >> order.runs >> bar >> order.turn_us >> bar >> order.limit_us;
  if (!parsed || !parts) return std::nullopt;
  order.shape = *parsed;
  return order;
}

std::string to_line(const std::vector<double>& times_us) {
  std::ostringstream line;
  line << "us";
  for (const double us : times_us) line << ' ' << us;
  return line.str();
}

std::optional<std::vector<double>> parse_times(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word != "us") return std::nullopt;
  std::vector<double> times;
  for (double us = 0; words >> us;) times.push_back(us);
  const bool valid =
      words.eof() && std::all_of(times.begin(), times.end(), [](double us) { return us > 0 && us < 1e12; });
  if (!valid) return std::nullopt;
  return times;
}

TimingProcess::TimingProcess(const TuneOptions& options, HangingWidths& hanging, MachineLimit& limit,
                             std::size_t number, std::size_t unit)
    : options_(options),
      hanging_(hanging),
      limit_(limit),
      stem_(options.work + "/" + std::to_string(number)),
      unit_(unit) {}

TimingProcess::~TimingProcess() {
  child_.reset();
  for (const char* suffix : {".job", ".log"}) os::remove_file(stem_ + suffix);
}

Status TimingProcess::compile(const kernels::Params& params) {
  const Job job = make_job(options_.devices.front().target, kernels::generate(params), params);
  Status status = write_job(stem_ + ".job", job);
  if (status && child_) child_->send(kNextJobPrefix + stem_ + ".job");
  if (status && !child_) status = start();
  begin(State::compiling, 1);
  width_ = params.vector_width;
  prepared_.reset();
  ++variants_;
  return status;
}

Status TimingProcess::start() {
  const std::string cache = options_.work + "/clbake-cache";
  std::error_code error;
  std::filesystem::create_directory(os::native(cache), error);
  if (error) return {Code::io, cache + ": cannot create: " + error.message()};
  command_.arguments = {options_.worker, "worker", "time", stem_ + ".job", std::to_string(unit_)};
  command_.environment = driver_cache_environment(cache);
  for (auto& variable : steady_environment()) command_.environment.push_back(std::move(variable));
  command_.log = stem_ + ".log";
  Result<os::LineChannel> child = os::LineChannel::start(launch_of(command_));
  if (!child) return child.status();
  child_.emplace(std::move(*child));
  return {};
}

void TimingProcess::order(const TimingOrder& order, unsigned concurrent) {
  child_->send(to_line(order));
  prepared_ = order.shape;
  begin(State::timing, concurrent);
}

void TimingProcess::begin(State state, unsigned limits) {
  state_ = state;
  began_ = std::chrono::steady_clock::now();
  limits_ = limits;
}

bool TimingProcess::poll(std::vector<double>& times) {
  if (!busy()) return false;
  if (const std::optional<std::string> line = child_->receive()) return take_line(*line, times);
  const MachineLimit::Seconds limit = limit_.now();
  Exit exit;
  if (const std::optional<Exit> ended = child_->ended()) {
    exit = *ended;
  } else if (std::chrono::steady_clock::now() > began_ + limit * limits_) {
    exit.timed_out = true;
    late_ = state_ == State::timing;
  } else {
    return false;
  }
  if (exit.timed_out && state_ == State::compiling) hanging_.ended(0, width_, true);
  return fail(exit.ok() ? "the worker exited without an answer" : describe(exit, command_, limit));
}

bool TimingProcess::take_line(const std::string& line, std::vector<double>& times) {
  if (state_ == State::compiling) {
    if (line != kReadyLine) return fail("the worker answered '" + line + "' instead of 'ready'");
    hanging_.ended(0, width_, false);
    limit_.compiled(std::chrono::steady_clock::now() - began_);
  } else {
    const std::optional<std::vector<double>> parsed = parse_times(line);
    if (!parsed) return fail("the worker's answer is not understood: '" + line.substr(0, 80) + "'");
    times = *parsed;
  }
  state_ = State::idle;
  return true;
}

bool TimingProcess::fail(const std::string& cause) {
  failure_ = cause;
  state_ = State::failed;
  child_.reset();
  return true;
}

TimingProcesses::TimingProcesses(const TuneOptions& options)
    : options_(options),
      limit_(options.timeout),
      variants_per_process_(options.devices.front().type == kernels::DeviceType::cpu ? 1 : kVariantsPerProcess) {}

std::unique_ptr<TimingProcess> TimingProcesses::take(const kernels::Params& params, std::size_t unit,
                                                     bool has_to_be_new) {
  const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const auto& p) { return p->unit() == unit; });
  std::unique_ptr<TimingProcess> process;
  if (found == idle_.end() || has_to_be_new) {
    process = std::make_unique<TimingProcess>(options_, hanging_, limit_, started_++, unit);
  } else {
    process = std::move(*found);
    idle_.erase(found);
  }
  need(process->compile(params));
  return process;
}

void TimingProcesses::give_back(std::unique_ptr<TimingProcess> process) {
  const bool fit = process->state() == TimingProcess::State::idle && process->variants() < variants_per_process_;
  if (fit) idle_.push_back(std::move(process));
}

}  // namespace clbake::builder::tune
