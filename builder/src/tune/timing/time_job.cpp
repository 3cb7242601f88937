#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/platforms.hpp>
#include <clbake/builder/tune.hpp>
#include <clbake/finalize.hpp>

#include <clbake/builder/compile.hpp>
#include <clbake/os/line_channel.hpp>
#include "tune/timing/timing_order.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <sstream>

namespace clbake::builder::tune {
namespace {

constexpr std::uint64_t kCheckedMultiplications = std::uint64_t{1} << 22;  // of a timed shape; some milliseconds
constexpr std::uint32_t kMostRuns = 200;
// The next variant often needs the last shape but one: filling large matrices takes longer than multiplying them.
constexpr std::size_t kPreparedShapes = 2;

// Times one variant after the other on one device.
class Bench {
 public:
  Bench(Device device, Session session) : device_(std::move(device)), session_(std::move(session)) {}

  // Compiles the job's variant and checks it on an edge shape.
  Status load(const std::string& job_file);

  // The answer to an order. A failure ends the process.
  Result<std::string> answer(const TimingOrder& order);

 private:
  // The matrices of a shape, and the call that is prepared for them (null after a change of the variant).
  struct PreparedShape {
    Shape shape;
    std::unique_ptr<GemmRun> run;
    std::unique_ptr<Gemm> gemm;
  };

  Status load_bundle(const Job& job);
  Result<std::vector<cache::Entry>> baked_entries(const cache::Source& source) const;
  Result<Gemm> prepare(const Problem& problem) const { return library_->prepare(problem, variant_.name); }
  Status check_edges() const;
  Status prepare_shape(const Shape& shape);
  Result<std::vector<double>> time(const TimingOrder& order);

  Device device_;
  Session session_;
  cache::Bytes bundle_;  // the library reads it in place
  std::optional<Library> library_;
  cache::Variant variant_;
  std::deque<PreparedShape> prepared_;  // the latest first
};

// One run from the original C against the reference.
Status run_and_check(GemmRun& run, Gemm& gemm, const Shape& shape) {
  const Status ran = run.run(gemm).status();
  if (!ran) return ran;
  const Result<Check> check = run.check();
  if (!check || check->ok()) return check.status();
  std::ostringstream text;
  text << "wrong result at " << name(shape) << ": error " << check->max_error << ", tolerance " << check->tolerance
       << (check->guards_intact ? "" : ", wrote outside C");
  return {Code::wrong_result, text.str()};
}

Status Bench::load_bundle(const Job& job) {
  Result<cache::Bytes> bytes = encode_job(job, cache::Packing::plain);
  if (!bytes) return bytes.status();
  library_.reset();  // it reads the bundle
  bundle_ = std::move(*bytes);
  const Result<Bundle> bundle = Bundle::from_memory({bundle_.data(), bundle_.size()});
  if (!bundle) return bundle.status();
  Result<Library> library = Library::create(session_.context(), device_.id, {*bundle});
  if (library) library_.emplace(std::move(*library));
  variant_ = job.variant;
  return library.status();
}

Status Bench::load(const std::string& job_file) {
  for (PreparedShape& shape : prepared_) shape.gemm.reset();
  Result<Job> job = read_job(job_file);
  if (!job) return job.status();
  Status loaded = load_bundle(*job);
  if (loaded && process::builder_platform_of(device_.target).assembles) {
    Result<std::vector<cache::Entry>> entries = baked_entries(job->source);
    if (!entries) return entries.status();
    job->entries = std::move(*entries);
    loaded = load_bundle(*job);
  }
  return loaded ? check_edges() : loaded;
}

// The machine code that a bake makes, where it is another one than the driver's: baked code is to be timed.
Result<std::vector<cache::Entry>> Bench::baked_entries(const cache::Source& source) const {
  const Result<Gemm> gemm = prepare(tight_problem(variant_.precision, 1, 1, 1, variant_.trans_a, variant_.trans_b));
  if (!gemm) return gemm.status();
  return compile::entries_for_bundle({device_.target, variant_, gemm->program(), {}}, source);
}

// Checks every row of a problem that no tile divides, with padded rows and a C that is read. This is also the variant's
// first launch, with whatever the driver still compiles there.
Status Bench::check_edges() const {
  const cache::Launch& launch = product_launch(variant_);
  const Shape shape{variant_.kind(), launch.tile_m + 1, launch.tile_n + 3, depth_for(variant_.precision, 133)};
  Problem problem = problem_of(shape);
  problem.lda += 3;
  problem.ldb += 5;
  problem.ldc += 7;
  Result<Gemm> gemm = prepare(problem);
  if (!gemm) return gemm.status();
  GemmRunOptions options;
  options.alpha = alpha_for(variant_.precision, 1.25);
  options.beta = beta_for(variant_.precision, -0.5);
  Result<GemmRun> run = GemmRun::create(session_, device_, problem, options);
  if (!run) return run.status();
  return run_and_check(*run, *gemm, shape);
}

// Moves the shape to the front. On failure it is not in the list.
Status Bench::prepare_shape(const Shape& shape) {
  const auto known =
      std::find_if(prepared_.begin(), prepared_.end(), [&](const PreparedShape& s) { return s.shape == shape; });
  PreparedShape now{shape, nullptr, nullptr};
  if (known != prepared_.end()) {
    now = std::move(*known);
    prepared_.erase(known);
  }
  const Problem problem = problem_of(shape);
  Result<Gemm> gemm = prepare(problem);
  if (!gemm) return gemm.status();
  if (now.run) {
    const Status reset = now.run->reset();  // C holds another variant's results
    if (!reset) return reset;
  } else {
    if (prepared_.size() == kPreparedShapes) prepared_.pop_back();  // first, as there may be no memory for one more
    GemmRunOptions options;
    options.check_limit = kCheckedMultiplications / shape.batch;
    Result<GemmRun> run = GemmRun::create(session_, device_, problem, options);
    if (!run) return run.status();
    now.run = std::make_unique<GemmRun>(std::move(*run));
  }
  now.gemm = std::make_unique<Gemm>(std::move(*gemm));
  prepared_.push_front(std::move(now));
  return {};
}

Result<std::vector<double>> Bench::time(const TimingOrder& order) {
  PreparedShape& shape = prepared_.front();
  std::vector<double> times;
  double total = 0;
  while (times.size() < kMostRuns && (times.size() < order.runs || (order.runs > 0 && total < order.turn_us))) {
    const Result<double> us = shape.run->time(*shape.gemm);
    if (!us) return us.status();
    times.push_back(*us);
    total += *us;
    if (order.limit_us > 0 && *us > order.limit_us) break;
  }
  return times;
}

Result<std::string> Bench::answer(const TimingOrder& order) {
  const bool ready = !prepared_.empty() && prepared_.front().shape == order.shape && prepared_.front().gemm;
  if (!ready) {
    const Status set = prepare_shape(order.shape);
    if (set.code() == Code::out_of_memory) return to_line(std::vector<double>());
    if (!set) return set;
    // The first call finds cold caches and pages: it is checked instead of timed.
    const Status right = run_and_check(*prepared_.front().run, *prepared_.front().gemm, order.shape);
    if (!right) return right;
  }
  const Result<std::vector<double>> times = time(order);
  if (!times) return times.status();
  return to_line(*times);
}

}  // namespace

Status time_job(const std::string& path, std::size_t unit) {
  const Result<Job> job = read_job(path);
  if (!job) return job.status();
  Result<Device> device = device_of(job->target, unit);
  if (!device) return device.status();
  Result<Session> session = Session::open(*device);
  if (!session) return session.status();
  Bench bench(std::move(*device), std::move(*session));
  Status loaded = bench.load(path);
  if (!loaded) return loaded;

  os::ParentChannel parent;
  parent.send(kReadyLine);
  while (const std::optional<std::string> line = parent.receive()) {
    if (line->rfind(kNextJobPrefix, 0) == 0) {
      loaded = bench.load(line->substr(std::string(kNextJobPrefix).size()));
      if (!loaded) return loaded;
      parent.send(kReadyLine);
      continue;
    }
    const std::optional<TimingOrder> order = parse_order(*line);
    if (!order) return {Code::invalid_argument, "not an order: " + *line};
    const Result<std::string> reply = bench.answer(*order);
    if (!reply) return reply.status();
    parent.send(*reply);
  }
  return {};
}

}  // namespace clbake::builder::tune
