#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/platforms.hpp>
#include <clbake/builder/time_job.hpp>
#include <clbake/finalize.hpp>

#include "compile/entries_for_bundle.hpp"
#include "process/line_channel.hpp"
#include "tune/timing/timing_order.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <sstream>

namespace clbake::builder {
namespace {

constexpr std::uint64_t kCheckedMultiplications = std::uint64_t{1} << 22;  // of a timed shape; some milliseconds
constexpr std::uint32_t kMostRuns = 200;

struct Bench {
  Device device;
  Session session;
};

struct LoadedVariant {
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
Status run_and_check(GemmRun& run, Gemm& gemm, const Shape& shape) {
  const Status ran = run.run(gemm).status();
  if (!ran) return ran;
  const Result<Check> check = run.check();
  if (!check) return check.status();
  return check->ok() ? Status() : wrong(shape, *check);
}

// Checks every row of a problem that no tile divides, with padded rows and a C that is read. This is also the variant's
// first launch, with whatever the driver still compiles there.
Status check_edges(const Bench& bench, const LoadedVariant& loaded) {
  const cache::Variant& variant = loaded.variant;
  const cache::Launch& launch = product_launch(variant);
  Shape shape{variant.kind(), launch.tile_m + 1, launch.tile_n + 3, 133};
  Problem problem = problem_of(shape);
  problem.lda += 3;
  problem.ldb += 5;
  problem.ldc += 7;
  Result<Gemm> gemm = loaded.prepare(problem);
  if (!gemm) return gemm.status();
  GemmRunOptions options;
  options.alpha = 1.25;
  options.beta = -0.5;
  Result<GemmRun> run = GemmRun::create(bench.session, bench.device, problem, options);
  if (!run) return run.status();
  return run_and_check(*run, *gemm, shape);
}

// The matrices of a shape, and the call that is prepared for them (null after a change of the variant).
struct PreparedShape {
  Shape shape;
  std::unique_ptr<GemmRun> run;
  std::unique_ptr<Gemm> gemm;
};

// The last two shapes: the next turn, or the next variant, often needs one of them, and filling large matrices takes
// longer than multiplying them.
using PreparedShapes = std::deque<PreparedShape>;
constexpr std::size_t kPreparedShapes = 2;

// Moves the shape to the front. On failure it is not in the list.
Status prepare_shape(const Bench& bench, const LoadedVariant& loaded, const Shape& shape, PreparedShapes& prepared) {
  const auto known =
      std::find_if(prepared.begin(), prepared.end(), [&](const PreparedShape& s) { return s.shape == shape; });
  PreparedShape now;
  now.shape = shape;
  if (known != prepared.end()) {
    now = std::move(*known);
    prepared.erase(known);
  }
  const Problem problem = problem_of(shape);
  Result<Gemm> gemm = loaded.prepare(problem);
  if (!gemm) return gemm.status();
  if (now.run) {
    const Status reset = now.run->reset();  // C holds another variant's results
    if (!reset) return reset;
  } else {
    if (prepared.size() == kPreparedShapes) prepared.pop_back();  // first, as there may be no memory for one more
    GemmRunOptions options;
    options.check_limit = kCheckedMultiplications / shape.batch;
    Result<GemmRun> run = GemmRun::create(bench.session, bench.device, problem, options);
    if (!run) return run.status();
    now.run = std::make_unique<GemmRun>(std::move(*run));
  }
  now.gemm = std::make_unique<Gemm>(std::move(*gemm));
  prepared.push_front(std::move(now));
  return {};
}

bool is_ready(const PreparedShapes& prepared, const Shape& shape) {
  return !prepared.empty() && prepared.front().shape == shape && prepared.front().gemm;
}

Result<std::vector<double>> time_order(const TimingOrder& order, PreparedShape& shape) {
  std::vector<double> times;
  double total = 0;
  while (times.size() < kMostRuns && (times.size() < order.runs || total < order.turn_us)) {
    const Result<double> us = shape.run->time(*shape.gemm);
    if (!us) return us.status();
    times.push_back(*us);
    total += *us;
    if (order.limit_us > 0 && *us > order.limit_us) break;
  }
  return times;
}

// The answer to an order. A failure ends the process.
Result<std::string> answer(const Bench& bench, const LoadedVariant& loaded, const TimingOrder& order,
                           PreparedShapes& prepared) {
  if (!is_ready(prepared, order.shape)) {
    const Status set = prepare_shape(bench, loaded, order.shape, prepared);
    if (set.code() == Code::out_of_memory) return to_line(std::vector<double>());
    if (!set) return set;
    // The first call finds cold caches and pages: it is checked instead of timed.
    const Status right = run_and_check(*prepared.front().run, *prepared.front().gemm, order.shape);
    if (!right) return right;
  }
  if (order.runs == 0) return to_line(std::vector<double>());
  const Result<std::vector<double>> times = time_order(order, prepared.front());
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

Result<LoadedVariant> load(const Bench& bench, const Job& job) {
  Result<cache::Bytes> bytes = encode_job(job, cache::Packing::plain);
  if (!bytes) return bytes.status();
  const Result<Bundle> bundle = Bundle::from_memory({bytes->data(), bytes->size()});
  if (!bundle) return bundle.status();
  Result<Library> library = Library::create(bench.session.context(), bench.device.id, {*bundle});
  if (!library) return library.status();
  return LoadedVariant{std::move(*bytes), std::move(*library), job.variant};
}

// Loads the machine code that a bake makes of the job's variant, where it is another one than the driver's: what is
// timed has to be what is baked.
Result<LoadedVariant> load_as_baked(const Bench& bench, Job job) {
  Result<LoadedVariant> compiled = load(bench, job);
  if (!compiled || !builder_platform_of(bench.device.target).assembles) return compiled;
  const Problem any = tight_problem(job.variant.precision, 1, 1, 1, job.variant.trans_a, job.variant.trans_b);
  const Result<Gemm> gemm = compiled->prepare(any);
  if (!gemm) return gemm.status();
  Result<std::vector<cache::Entry>> entries =
      entries_for_bundle({bench.device.target, job.variant, gemm->program(), {}}, job.source);
  if (!entries) return entries.status();
  job.entries = std::move(*entries);
  return load(bench, job);
}

// Compiles the job's variant and checks it on an edge shape.
Result<LoadedVariant> start(const Bench& bench, const Job& job) {
  Result<LoadedVariant> baked = load_as_baked(bench, job);
  if (!baked) return baked;
  LoadedVariant loaded = std::move(*baked);
  const Status right = check_edges(bench, loaded);
  if (!right) return right;
  return loaded;
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
  Result<LoadedVariant> loaded = start(bench, *job);
  if (!loaded) return loaded.status();

  ParentChannel parent;
  parent.send(kReadyLine);
  PreparedShapes prepared;
  while (const std::optional<std::string> line = parent.receive()) {
    if (line->rfind(kNextJobPrefix, 0) == 0) {
      for (PreparedShape& shape : prepared) shape.gemm.reset();
      job = read_job(line->substr(std::string(kNextJobPrefix).size()));
      if (!job) return job.status();
      loaded = start(bench, *job);
      if (!loaded) return loaded.status();
      parent.send(kReadyLine);
      continue;
    }
    const std::optional<TimingOrder> order = parse_order(*line);
    if (!order) return {Code::invalid_argument, "not an order: " + *line};
    const Result<std::string> reply = answer(bench, *loaded, *order, prepared);
    if (!reply) return reply.status();
    parent.send(*reply);
  }
  return {};
}

}  // namespace clbake::builder
