#include <clbake/builder/finalize.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/prove.hpp>
#include <clbake/builder/trial.hpp>

#include <algorithm>
#include <chrono>
#include <sstream>

namespace clbake::builder {
namespace {

constexpr std::size_t kSteadyRuns = 15;
// Large enough that a launch takes a good part of a millisecond, small enough for the slowest family.
constexpr std::size_t kTimedSize = 320;

struct Timing {
  double first_us = 0;
  double steady_us = 0;
  bool jit_free() const {
    const double slack = std::min((kFirstLaunchRatio - 1) * steady_us, kFirstLaunchSlackUs);
    return first_us <= steady_us + slack + kFirstLaunchAllowanceUs;
  }
};

// The prover's surroundings, opened once.
struct Bench {
  Job job;
  Device device;
  Session session;
  Library library;
};

Result<Bench> open_bench(const std::string& path) {
  Result<Job> job = read_job(path);
  if (!job) return job.status();
  if (job->entry.empty()) return {Code::no_entry, path + ": nothing was compiled"};
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status();
  Result<Device> device = device_of(job->target);
  if (!device) return device.status();
  Result<Session> session = Session::open(*device);
  if (!session) return session.status();
  Options options;
  options.on_miss = OnMiss::fail;
  Result<Library> library = Library::create(session->context(), device->id, {*bundle}, options);
  if (!library) return library.status();
  return Bench{std::move(*job), std::move(*device), std::move(*session), std::move(*library)};
}

Problem problem_of(const cache::Variant& v, std::size_t m, std::size_t n, std::size_t k) {
  return tight_problem(v.precision, m, n, k, v.trans_a, v.trans_b);
}

std::string describe(const Problem& p) {
  return std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k);
}

// Runs once more from the original C and compares; the worst error goes into the proof.
Status check_once(Trial& trial, const Problem& problem, cache::Proof& proof) {
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
Result<Timing> time_problem(Bench& bench, Gemm& gemm, const Problem& problem, const TrialOptions& options,
                            cache::Proof& proof) {
  Result<Trial> trial = Trial::create(bench.session, bench.device, problem, options);
  if (!trial) return trial.status();
  const Result<double> first = trial->run(gemm);
  if (!first) return first.status();
  const Status right = check_once(*trial, problem, proof);
  if (!right) return right;
  std::vector<double> times;
  for (std::size_t i = 0; i < kSteadyRuns; ++i) {
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
  const cache::Variant& v = bench.job.variant;
  const cache::Launch& launch = product_launch(v);
  const std::size_t sizes[][3] = {{1, 1, 1},
                                  {launch.tile_m + 1, launch.tile_n + 1, 17},
                                  {launch.tile_m > 1 ? launch.tile_m - 1 : 1, launch.tile_n + 3, 33},
                                  {5, 3, 129},
                                  {launch.tile_m, launch.tile_n, 4099},
                                  {1, 1, 70001}};  // llvmpipe ends loops silently after 65,535 rounds
  std::vector<Problem> problems = large_grids(v);
  for (const auto& size : sizes) problems.push_back(problem_of(v, size[0], size[1], size[2]));
  for (Problem& problem : problems) {
    for (const double beta : {0.0, -0.5}) {
      problem.lda += 3;
      problem.ldb += 5;
      problem.ldc += 7;
      TrialOptions options;
      options.alpha = 1.25;
      options.beta = beta;
      options.a_offset = 11;
      options.b_offset = 13;
      options.c_offset = 19;
      Result<Gemm> gemm = bench.library.prepare(problem, v.name);
      if (images_too_large(v, gemm.status())) continue;
      if (!gemm) return gemm.status();
      Result<Trial> trial = Trial::create(bench.session, bench.device, problem, options);
      if (!trial) return trial.status();
      const Status ran = trial->run(*gemm).status();
      if (!ran) return ran;
      const Status right = check_once(*trial, problem, proof);
      if (!right) return right;
    }
  }
  return {};
}

// The largest grid: short launches, so that a compilation beside them stands out.
Result<Timing> time_large_grid(Bench& bench, const Timing& small, cache::Proof& proof) {
  const cache::Variant& v = bench.job.variant;
  const Problem large = large_grids(v).front();
  Result<Gemm> gemm = bench.library.prepare(large, v.name);
  if (images_too_large(v, gemm.status())) return small;  // then there is no such grid
  if (!gemm) return gemm.status();
  TrialOptions options;
  options.beta = 0.5;
  return time_problem(bench, *gemm, large, options, proof);
}

std::string note(const Bench& bench, double load_us, const Timing& small, const Timing& large) {
  std::ostringstream text;
  text << "large grid: first " << large.first_us << " us, steady " << large.steady_us << " us";
  if (bench.job.entry.front().form == cache::Form::portable) {
    text << "; the driver keeps an intermediate language, which it compiles at every load";
  } else if (load_us > kLoadLimitUs) {
    text << "; loading takes as long as a compilation";
  } else if (!small.jit_free() || !large.jit_free()) {
    text << "; the first launch takes as long as a compilation";
  }
  return text.str();
}

}  // namespace

Status prove_job(const std::string& path, const std::string& output) {
  Result<Bench> bench = open_bench(path);
  if (!bench) return bench.status();
  const cache::Variant& v = bench->job.variant;
  cache::Entry& entry = bench->job.entry.front();
  cache::Proof proof;

  const Problem timed = problem_of(v, kTimedSize, kTimedSize, kTimedSize);
  const auto start = std::chrono::steady_clock::now();
  Result<Gemm> gemm = bench->library.prepare(timed, v.name);
  if (!gemm) return gemm.status();
  const std::chrono::duration<double, std::micro> load = std::chrono::steady_clock::now() - start;
  const Result<Timing> small = time_problem(*bench, *gemm, timed, {}, proof);
  if (!small) return small.status();

  const Result<Timing> large = time_large_grid(*bench, *small, proof);
  if (!large) return large.status();
  const Status edges = check_edges(*bench, proof);
  if (!edges) return edges;

  proof.proven = true;
  proof.jit_free =
      entry.form == cache::Form::native && load.count() <= kLoadLimitUs && small->jit_free() && large->jit_free();
  proof.load_us = static_cast<float>(load.count());
  proof.first_us = static_cast<float>(small->first_us);
  proof.steady_us = static_cast<float>(small->steady_us);
  proof.note = note(*bench, load.count(), *small, *large);
  entry.proof = proof;
  return write_job(output, bench->job);
}

}  // namespace clbake::builder
