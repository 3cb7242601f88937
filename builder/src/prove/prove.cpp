#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/prove.hpp>
#include <clbake/finalize.hpp>
#include "prove/launch_overhead.hpp"

#include <algorithm>
#include <iomanip>
#include <optional>
#include <sstream>

namespace clbake::builder {
namespace {

constexpr std::size_t kSteadyRuns = 15;
constexpr std::size_t kLargeRuns = 5;
// Large enough that a launch takes a good part of a millisecond, small enough for the slowest family.
constexpr std::size_t kTimedSize = 320;

struct Timing {
  double first_us = 0;
  double steady_us = 0;
  // By how much the first launch was longer than later ones may be.
  double excess_us() const {
    return first_us - steady_us - std::min((kFirstLaunchRatio - 1) * steady_us, kFirstLaunchSlackUs);
  }
  bool jit_free(const LaunchOverhead& floor) const {
    return excess_us() <= std::clamp(floor.first_us, kOverheadLeastUs, kOverheadLimitUs);
  }
};

// What is being proven, one entry of the job, and its surroundings.
struct Bench {
  const cache::Variant& variant;
  const Device& device;
  const Session& session;
  const LaunchOverhead& floor;
  Library library;  // serves this entry and nothing else
};

Problem problem_of(const cache::Variant& v, std::size_t m, std::size_t n, std::size_t k) {
  return tight_problem(v.precision, m, n, k, v.trans_a, v.trans_b);
}

std::string describe(const Problem& p) {
  return std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k);
}

// Runs once more from the original C and compares; the worst error goes into the proof.
Status check_once(GemmRun& trial, const Problem& problem, cache::Proof& proof) {
  const Result<Check> check = trial.check();
  if (!check) return check.status();
  if (!check->ok()) {
    std::ostringstream text;
    text << "wrong result at " << describe(problem) << ": error " << check->max_error << ", tolerance "
         << check->tolerance << (check->guards_intact ? "" : ", wrote outside C");
    return {Code::wrong_result, text.str()};
  }
  // The figures of the check that came closest to its tolerance.
  const double closeness = check->max_error / check->tolerance;
  if (proof.tolerance == 0 || closeness > static_cast<double>(proof.max_error) / static_cast<double>(proof.tolerance)) {
    proof.max_error = static_cast<float>(check->max_error);
    proof.tolerance = static_cast<float>(check->tolerance);
  }
  return {};
}

// First launch, check, steady launches. The program is loaded by then; the launch is the first of its grid class.
Result<Timing> time_problem(Bench& bench, Gemm& gemm, const Problem& problem, const GemmRunOptions& options,
                            std::size_t runs, cache::Proof& proof) {
  Result<GemmRun> trial = GemmRun::create(bench.session, bench.device, problem, options);
  if (!trial) return trial.status();
  const Result<double> first = trial->run(gemm);
  if (!first) return first.status();
  const Status right = check_once(*trial, problem, proof);
  if (!right) return right;
  std::vector<double> times;
  for (std::size_t i = 0; i < runs; ++i) {
    const Result<double> us = trial->run(gemm);
    if (!us) return us.status();
    times.push_back(*us);
  }
  return Timing{*first, median(times)};
}

bool images_too_large(const cache::Variant& v, const Status& status) {
  return status.code() == Code::out_of_memory && (v.image_a || v.image_b);
}

// Edge sizes, padded leading dimensions, offsets, beta = 0 over NaN and beta != 0.
Status check_edges(Bench& bench, cache::Proof& proof) {
  const cache::Variant& v = bench.variant;
  const cache::Launch& launch = product_launch(v);
  const std::size_t sizes[][3] = {{1, 1, 1},
                                  {launch.tile_m + 1, launch.tile_n + 1, 17},
                                  {launch.tile_m > 1 ? launch.tile_m - 1 : 1, launch.tile_n + 3, 33},
                                  {5, 3, 129},
                                  {launch.tile_m, launch.tile_n, 1031},
                                  {3, 5, 4099},
                                  {1, 1, 70001}};  // llvmpipe ends loops silently after 65,535 rounds
  for (const auto& size : sizes) {
    Problem problem = problem_of(v, size[0], size[1], size[2]);
    for (const double beta : {0.0, -0.5}) {
      problem.lda += 3;
      problem.ldb += 5;
      problem.ldc += 7;
      GemmRunOptions options;
      options.alpha = 1.25;
      options.beta = beta;
      options.a_offset = 11;
      options.b_offset = 13;
      options.c_offset = 19;
      Result<Gemm> gemm = bench.library.prepare(problem, v.name);
      if (images_too_large(v, gemm.status())) continue;
      if (!gemm) return gemm.status();
      Result<GemmRun> trial = GemmRun::create(bench.session, bench.device, problem, options);
      if (!trial) return trial.status();
      const Status ran = trial->run(*gemm).status();
      if (!ran) return ran;
      const Status right = check_once(*trial, problem, proof);
      if (!right) return right;
    }
  }
  return {};
}

// The large grids: short launches, so that a compilation beside them stands out. The one that speaks most against the
// program.
Result<Timing> time_large_grid(Bench& bench, const Timing& small, cache::Proof& proof) {
  const cache::Variant& v = bench.variant;
  std::optional<Timing> worst;
  for (const Problem& large : large_grids(v)) {
    Result<Gemm> gemm = bench.library.prepare(large, v.name);
    if (images_too_large(v, gemm.status())) continue;  // then there is no such grid
    if (!gemm) return gemm.status();
    GemmRunOptions options;
    options.beta = 0.5;
    const Result<Timing> timing = time_problem(bench, *gemm, large, options, kLargeRuns, proof);
    if (!timing) return timing;
    if (!worst || timing->excess_us() > worst->excess_us()) worst = *timing;
  }
  return worst.value_or(small);
}

std::string note(const Bench& bench, const cache::Entry& entry, const Timing& small, const Timing& large) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(0) << "large grid: first " << large.first_us << " us, steady "
       << large.steady_us << " us; the driver's floor: load " << bench.floor.load_us << " us, first launch "
       << bench.floor.first_us << " us";
  if (entry.form == cache::Form::portable) {
    text << "; the driver keeps an intermediate language, which it compiles at every load";
  } else if (entry.proof.load_us() > kLoadLimitUs) {
    text << "; loading takes as long as a compilation";
  } else if (!small.jit_free(bench.floor) || !large.jit_free(bench.floor)) {
    text << "; the first launch takes as long as a compilation";
  }
  return text.str();
}

Status prove(Bench& bench, cache::Entry& entry) {
  const cache::Variant& v = bench.variant;
  cache::Proof proof;
  proof.tools = entry.proof.tools;
  proof.specialisations = entry.proof.specialisations;
  const Problem timed = problem_of(v, kTimedSize, kTimedSize, kTimedSize);
  Result<Gemm> gemm = bench.library.prepare(timed, v.name);
  if (!gemm) return gemm.status();
  const Result<Timing> small = time_problem(bench, *gemm, timed, {}, kSteadyRuns, proof);
  if (!small) return small.status();
  const Result<Timing> large = time_large_grid(bench, *small, proof);
  if (!large) return large.status();
  const Status edges = check_edges(bench, proof);
  if (!edges) return edges;

  const Explanation& e = gemm->explanation();
  proof.create_us = static_cast<float>(e.create_us);
  proof.build_us = static_cast<float>(e.build_us);
  proof.kernel_us = static_cast<float>(e.kernel_us);
  proof.first_us = static_cast<float>(small->first_us);
  proof.steady_us = static_cast<float>(small->steady_us);
  proof.proven = true;
  proof.jit_free = entry.form == cache::Form::native && proof.load_us() <= kLoadLimitUs &&
                   small->jit_free(bench.floor) && large->jit_free(bench.floor);
  entry.proof = std::move(proof);
  entry.proof.note = note(bench, entry, *small, *large);
  return {};
}

// The entry alone, so that no other form of it can serve in its place.
Status prove_alone(const Job& job, cache::Entry& entry, const Device& device, const Session& session,
                   const LaunchOverhead& floor) {
  const Result<cache::Bytes> bytes =
      encode_job({job.target, job.source, job.variant, {entry}}, cache::Packing::compressed);
  if (!bytes) return bytes.status();
  const Result<Bundle> bundle = Bundle::from_memory({bytes->data(), bytes->size()});
  if (!bundle) return bundle.status();
  Options options;
  options.on_miss = OnMiss::fail;
  options.only_build = true;  // the first launch is what is to be timed
  Result<Library> library = Library::create(session.context(), device.id, {*bundle}, options);
  if (!library) return library.status();
  Bench bench{job.variant, device, session, floor, std::move(*library)};
  return prove(bench, entry);
}

}  // namespace

Status prove_job(const std::string& path, const std::string& floor_path, const std::string& output) {
  Result<Job> job = read_job(path);
  if (!job) return job.status();
  if (job->entries.empty()) return {Code::no_entry, path + ": nothing was compiled"};
  const Result<Job> overhead_job = read_job(floor_path);
  if (!overhead_job) return overhead_job.status();
  const Result<Device> device = device_of(job->target);
  if (!device) return device.status();
  const Result<Session> session = Session::open(*device);
  if (!session) return session.status();
  const Result<LaunchOverhead> floor = measure_launch_overhead(*overhead_job, *device, *session);
  if (!floor) return floor.status();
  for (cache::Entry& entry : job->entries) {
    const Status proven = prove_alone(*job, entry, *device, *session, *floor);
    if (!proven) return proven;
  }
  return write_job(output, *job);
}

}  // namespace clbake::builder
