#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/platforms.hpp>
#include <clbake/builder/tune.hpp>
#include <clbake/finalize.hpp>

#include <clbake/builder/compile.hpp>
#include <clbake/os/line_channel.hpp>
#include "process/need.hpp"
#include "tune/timing/timing_order.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>

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
  void load(const std::string& job_file);

  // The answer to an order. A failure ends the process.
  std::string answer(const TimingOrder& order);

 private:
  // The matrices of a shape, and the call that is prepared for them (null after a change of the variant).
  struct PreparedShape {
    Shape shape;
    std::unique_ptr<GemmRun> run;
    std::unique_ptr<Gemm> gemm;
  };

  void load_bundle(const Job& job);
  std::vector<cache::Entry> baked_entries(const cache::Source& source) const;
  Gemm prepare(const Problem& problem) const { return need(library_->prepare(problem, variant_.name)); }
  void check_edges() const;
  void prepare_shape(const Shape& shape);
  std::vector<double> time(const TimingOrder& order);

  Device device_;
  Session session_;
  cache::Bytes bundle_;  // the library reads it in place
  std::optional<Library> library_;
  cache::Variant variant_;
  std::deque<PreparedShape> prepared_;  // the latest first
};

// One run from the original C against the reference.
void run_and_check(GemmRun& run, Gemm& gemm, const Shape& shape) {
  need(run.run(gemm));
  need(need(run.check()).status(name(shape)));
}

void Bench::load_bundle(const Job& job) {
  cache::Bytes bytes = need(encode_job(job, cache::Packing::plain));
  library_.reset();  // it reads the bundle
  bundle_ = std::move(bytes);
  const Bundle bundle = need(Bundle::from_memory({bundle_.data(), bundle_.size()}));
  library_ = need(Library::create(session_.context(), device_.id, {bundle}));
  variant_ = job.variant;
}

void Bench::load(const std::string& job_file) {
  for (PreparedShape& shape : prepared_) shape.gemm.reset();
  Job job = need(read_job(job_file));
  load_bundle(job);
  if (process::builder_platform_of(device_.target).assembles) {
    job.entries = baked_entries(job.source);
    load_bundle(job);
  }
  check_edges();
}

// The machine code that a bake makes, where it is another one than the driver's: baked code is to be timed.
std::vector<cache::Entry> Bench::baked_entries(const cache::Source& source) const {
  const Gemm gemm = prepare(tight_problem(variant_.precision, 1, 1, 1, variant_.trans_a, variant_.trans_b));
  return need(compile::entries_for_bundle({device_.target, variant_, gemm.program(), {}}, source));
}

// Checks every row of a problem that no tile divides, with padded rows and a C that is read. This is also the variant's
// first launch, with whatever the driver still compiles there.
void Bench::check_edges() const {
  const cache::Launch& launch = product_launch(variant_);
  const Shape shape{variant_.kind(), launch.tile_m + 1, launch.tile_n + 3, depth_for(variant_.precision, 133)};
  Problem problem = problem_of(shape);
  problem.lda += 3;
  problem.ldb += 5;
  problem.ldc += 7;
  Gemm gemm = prepare(problem);
  GemmRunOptions options;
  options.alpha = alpha_for(variant_.precision, 1.25);
  options.beta = beta_for(variant_.precision, -0.5);
  GemmRun run = need(GemmRun::create(session_, device_, problem, options));
  run_and_check(run, gemm, shape);
}

// Moves the shape to the front. On failure it is not in the list.
void Bench::prepare_shape(const Shape& shape) {
  const auto known =
      std::find_if(prepared_.begin(), prepared_.end(), [&](const PreparedShape& s) { return s.shape == shape; });
  PreparedShape now{shape, nullptr, nullptr};
  if (known != prepared_.end()) {
    now = std::move(*known);
    prepared_.erase(known);
  }
  const Problem problem = problem_of(shape);
  Gemm gemm = prepare(problem);
  if (now.run) {
    need(now.run->reset());  // C holds another variant's results
  } else {
    if (prepared_.size() == kPreparedShapes) prepared_.pop_back();  // first, as there may be no memory for one more
    GemmRunOptions options;
    options.check_limit = kCheckedMultiplications / shape.batch;
    now.run = std::make_unique<GemmRun>(need(GemmRun::create(session_, device_, problem, options)));
  }
  now.gemm = std::make_unique<Gemm>(std::move(gemm));
  prepared_.push_front(std::move(now));
}

std::vector<double> Bench::time(const TimingOrder& order) {
  PreparedShape& shape = prepared_.front();
  std::vector<double> times;
  double total = 0;
  while (times.size() < kMostRuns && (times.size() < order.runs || (order.runs > 0 && total < order.turn_us))) {
    times.push_back(need(shape.run->time(*shape.gemm)));
    total += times.back();
    if (order.limit_us > 0 && times.back() > order.limit_us) break;
  }
  return times;
}

std::string Bench::answer(const TimingOrder& order) {
  const bool ready = !prepared_.empty() && prepared_.front().shape == order.shape && prepared_.front().gemm;
  if (!ready) {
    try {
      prepare_shape(order.shape);
    } catch (const Failure& failure) {
      if (failure.status.code() == Code::out_of_memory) return to_line(std::vector<double>());
      throw;
    }
    // The first call finds cold caches and pages: it is checked instead of timed.
    run_and_check(*prepared_.front().run, *prepared_.front().gemm, order.shape);
  }
  return to_line(time(order));
}

}  // namespace

Status time_job(const std::string& path, std::size_t unit) try {
  const Job job = need(read_job(path));
  Device device = need(device_of(job.target, unit));
  Session session = need(Session::open(device));
  Bench bench(std::move(device), std::move(session));
  bench.load(path);

  os::ParentChannel parent;
  parent.send(kReadyLine);
  while (const std::optional<std::string> line = parent.receive()) {
    if (line->rfind(kNextJobPrefix, 0) == 0) {
      bench.load(line->substr(std::string(kNextJobPrefix).size()));
      parent.send(kReadyLine);
      continue;
    }
    const std::optional<TimingOrder> order = parse_order(*line);
    if (!order) return {Code::invalid_argument, "not an order: " + *line};
    parent.send(bench.answer(*order));
  }
  return {};
} catch (const Failure& failure) {
  return failure.status;
}

}  // namespace clbake::builder::tune
