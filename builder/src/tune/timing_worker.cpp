#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/timing.hpp>
#include <clbake/finalize.hpp>
#include "process/line_channel.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <sstream>

namespace clbake::builder {
namespace {

constexpr std::uint64_t kCheckedMultiplications = std::uint64_t{1} << 22;  // of a timed shape; some milliseconds
constexpr std::uint32_t kMostRuns = 200;

// Where variants are timed.
struct Bench {
  Device device;
  Session session;
};

// A variant that is being timed.
struct Timed {
  cache::Bytes bundle;  // the library reads it in place
  Library library;
  cache::Variant variant;
  Result<Gemm> prepare(const Problem& problem) const { return library.prepare(problem, variant.name); }
};

Status wrong(const Shape& shape, const Check& check) {
  std::ostringstream text;
  text << "wrong result at " << name(shape) << ": error " << check.max_error << ", tolerance " << check.tolerance
       << (check.guards_intact ? "" : ", wrote outside C");
  return {Code::wrong_result, text.str()};
}

// One run from the original C against the reference.
Status run_and_check(GemmRun& trial, Gemm& gemm, const Shape& shape) {
  const Status ran = trial.run(gemm).status();
  if (!ran) return ran;
  const Result<Check> check = trial.check();
  if (!check) return check.status();
  return check->ok() ? Status() : wrong(shape, *check);
}

// All rows of a problem whose edges are no multiples of any tile, with padded rows and a C that is read: also the
// variant's first launch, with whatever the driver still compiles there.
Status check_edges(const Bench& bench, const Timed& timed) {
  const cache::Variant& variant = timed.variant;
  const cache::Launch& launch = product_launch(variant);
  Shape shape{variant.precision, variant.trans_a, variant.trans_b, launch.tile_m + 1, launch.tile_n + 3, 133, 1};
  Problem problem = problem_of(shape);
  problem.lda += 3;
  problem.ldb += 5;
  problem.ldc += 7;
  Result<Gemm> gemm = timed.prepare(problem);
  if (!gemm) return gemm.status();
  GemmRunOptions options;
  options.alpha = 1.25;
  options.beta = -0.5;
  Result<GemmRun> trial = GemmRun::create(bench.session, bench.device, problem, options);
  if (!trial) return trial.status();
  return run_and_check(*trial, *gemm, shape);
}

// The matrices of a shape, and the variant that is ready to run on them (null: another variant's matrices).
struct Stage {
  Shape shape;
  std::unique_ptr<GemmRun> trial;
  std::unique_ptr<Gemm> gemm;
};

// The last two: the next turn, or the next variant, often has one of these shapes, and large matrices take longer to
// make than to multiply.
using Stages = std::deque<Stage>;
constexpr std::size_t kStages = 2;

// Makes the shape's stage the first one. On failure there is none for it.
Status set_stage(const Bench& bench, const Timed& timed, const Shape& shape, Stages& stages) {
  const auto known = std::find_if(stages.begin(), stages.end(), [&](const Stage& s) { return s.shape == shape; });
  Stage stage;
  stage.shape = shape;
  if (known != stages.end()) {
    stage = std::move(*known);
    stages.erase(known);
  }
  const Problem problem = problem_of(shape);
  Result<Gemm> gemm = timed.prepare(problem);
  if (!gemm) return gemm.status();
  if (stage.trial) {
    const Status reset = stage.trial->reset();  // another variant's results are no results
    if (!reset) return reset;
  } else {
    if (stages.size() == kStages) stages.pop_back();  // before: there may be no room for one more
    GemmRunOptions options;
    options.check_limit = kCheckedMultiplications / shape.batch;
    Result<GemmRun> trial = GemmRun::create(bench.session, bench.device, problem, options);
    if (!trial) return trial.status();
    stage.trial = std::make_unique<GemmRun>(std::move(*trial));
  }
  stage.gemm = std::make_unique<Gemm>(std::move(*gemm));
  stages.push_front(std::move(stage));
  return {};
}

bool is_ready(const Stages& stages, const Shape& shape) {
  return !stages.empty() && stages.front().shape == shape && stages.front().gemm;
}

Result<std::vector<double>> time_order(const TimingOrder& order, Stage& stage) {
  std::vector<double> times;
  double total = 0;
  while (times.size() < kMostRuns && (times.size() < order.runs || total < order.turn_us)) {
    const Result<double> us = stage.trial->run(*stage.gemm);
    if (!us) return us.status();
    times.push_back(*us);
    total += *us;
    if (order.limit_us > 0 && *us > order.limit_us) break;
  }
  return times;
}

std::string to_line(const std::vector<double>& times) {
  std::ostringstream line;
  line << "us";
  for (const double us : times) line << ' ' << us;
  return line.str();
}

// The answer to an order; a failure ends the process.
Result<std::string> answer(const Bench& bench, const Timed& timed, const TimingOrder& order, Stages& stages) {
  if (!is_ready(stages, order.shape)) {
    const Status set = set_stage(bench, timed, order.shape, stages);
    if (set.code() == Code::out_of_memory) return "unable " + set.message();
    if (!set) return set;
    const Stage& stage = stages.front();
    // The first run finds cold caches and pages; it is the one that is checked.
    const Status right =
        order.check ? run_and_check(*stage.trial, *stage.gemm, order.shape) : stage.trial->run(*stage.gemm).status();
    if (!right) return right;
  }
  if (order.runs == 0) return std::string("set");
  const Result<std::vector<double>> times = time_order(order, stages.front());
  if (!times) return times.status();
  return to_line(*times);
}

Result<Device> unit_of(const Target& target, std::size_t unit) {
  const Result<std::vector<Device>> all = list_devices();
  if (!all) return all.status();
  for (const Device& device : *all) {
    if (device.target == target && unit-- == 0) return device;
  }
  return {Code::no_device, "this machine has no such device: " + target.device_name};
}

}  // namespace

std::string to_line(const TimingOrder& order) {
  std::ostringstream line;
  line << name(order.shape) << '|' << order.runs << '|' << order.turn_us << '|' << order.limit_us << '|'
       << (order.check ? 1 : 0);
  return line.str();
}

std::optional<TimingOrder> parse_order(const std::string& line) {
  std::istringstream parts(line);
  std::string shape;
  std::getline(parts, shape, '|');
  const std::optional<Shape> parsed = parse_shape(shape);
  TimingOrder order;
  char bar = 0;
  int check = 0;
  parts >> order.runs >> bar >> order.turn_us >> bar >> order.limit_us >> bar >> check;
  if (!parsed || !parts) return std::nullopt;
  order.shape = *parsed;
  order.check = check != 0;
  return order;
}

namespace {

// Compiles the job's variant, and checks it.
Result<Timed> start(const Bench& bench, const Job& job) {
  Result<cache::Bytes> bytes = encode_job(job, cache::Packing::plain);
  if (!bytes) return bytes.status();
  const Result<Bundle> bundle = Bundle::from_memory({bytes->data(), bytes->size()});
  if (!bundle) return bundle.status();
  Result<Library> library = Library::create(bench.session.context(), bench.device.id, {*bundle});
  if (!library) return library.status();
  Timed timed{std::move(*bytes), std::move(*library), job.variant};
  const Status right = check_edges(bench, timed);
  if (!right) return right;
  return timed;
}

}  // namespace

Status time_job(const std::string& path, std::size_t unit) {
  Result<Job> job = read_job(path);
  if (!job) return job.status();
  Result<Device> device = unit_of(job->target, unit);
  if (!device) return device.status();
  Result<Session> session = Session::open(*device);
  if (!session) return session.status();
  const Bench bench{std::move(*device), std::move(*session)};
  Result<Timed> timed = start(bench, *job);
  if (!timed) return timed.status();

  ParentChannel caller;
  caller.send("ready");
  Stages stages;
  while (const std::optional<std::string> line = caller.receive()) {
    if (line->rfind(kNextJob, 0) == 0) {
      for (Stage& stage : stages) stage.gemm.reset();
      job = read_job(line->substr(std::string(kNextJob).size()));
      if (!job) return job.status();
      timed = start(bench, *job);
      if (!timed) return timed.status();
      caller.send("ready");
      continue;
    }
    const std::optional<TimingOrder> order = parse_order(*line);
    if (!order) return {Code::invalid_argument, "not an order: " + *line};
    const Result<std::string> said = answer(bench, *timed, *order, stages);
    if (!said) return said.status();
    caller.send(*said);
  }
  return {};
}

}  // namespace clbake::builder
