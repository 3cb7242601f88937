#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/release/prove_bundle.hpp>
#include <clbake/finalize.hpp>
#include "compile/overhead_job.hpp"
#include "prove/conclude.hpp"
#include "prove/prove_program.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <vector>

namespace clbake::builder {
namespace {

constexpr std::size_t kSteadyRuns = 15;
constexpr std::size_t kLargeRuns = 5;
// Large enough that a launch takes a good part of a millisecond, small enough for the slowest family.
constexpr std::size_t kTimedSize = 320;

// All that the proof of one entry needs.
struct ProofContext {
  const cache::Variant& variant;
  const Device& device;
  const Session& session;
  const LaunchOverhead& overhead;
  CompileWatch watch;
  Library library;  // serves this entry and nothing else
};

Problem problem_of(const cache::Variant& v, std::size_t m, std::size_t n, std::size_t k) {
  return tight_problem(v.precision, m, n, k, v.trans_a, v.trans_b);
}

std::string describe(const Problem& p) {
  const bool plain = p.epilogue.bias == Bias::none && p.epilogue.activation == Activation::none && !p.epilogue.has_d;
  return std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) +
         (plain ? "" : " with an epilogue");
}

// Another one for each number up to 6: all activations, each kind of bias, with and without a D.
Epilogue epilogue_number(std::size_t number, std::size_t ldc) {
  Epilogue e;
  e.activation = static_cast<Activation>(number % 7);
  e.bias = static_cast<Bias>(number % 3);
  e.low = -0.25;
  e.high = 0.5;
  e.has_d = number % 2 == 1;
  e.ldd = ldc + 2;
  return e;
}

// Runs once more from the original C and compares; the worst error goes into the proof.
Status check_once(GemmRun& gemm_run, const Problem& problem, cache::Proof& proof) {
  const Result<Check> check = gemm_run.check();
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

// First launch, check, steady launches; times on the clock. The program is loaded by then; the launch is the first of
// its grid class.
Result<Timing> time_problem(ProofContext& context, Gemm& gemm, const Problem& problem, const GemmRunOptions& options,
                            const char* what, std::size_t runs, cache::Proof& proof) {
  Result<GemmRun> gemm_run = GemmRun::create(context.session, context.device, problem, options);
  if (!gemm_run) return gemm_run.status();
  context.watch.begin_launch();
  const Result<double> first = gemm_run->run(gemm);
  if (!first) return first.status();
  const double judged_first = context.watch.took_us(*first);
  const Status right = check_once(*gemm_run, problem, proof);
  if (!right) return right;
  std::vector<double> times, judged;
  for (std::size_t i = 0; i < runs; ++i) {
    context.watch.begin_launch();
    const Result<double> us = gemm_run->time(gemm);
    if (!us) return us.status();
    times.push_back(*us);
    judged.push_back(context.watch.took_us(*us));
  }
  context.watch.launched(what, {judged_first, median(judged)});
  return Timing{*first, median(times)};
}

bool images_too_large(const cache::Variant& v, const Status& status) {
  return status.code() == Code::out_of_memory && (v.image_a || v.image_b);
}

// Edge sizes, padded leading dimensions, offsets, beta = 0 over NaN, and beta != 0 with an epilogue.
Status check_edges(ProofContext& context, cache::Proof& proof) {
  const cache::Variant& v = context.variant;
  const cache::Launch& launch = product_launch(v);
  struct Size {
    std::size_t m, n, k;
  };
  std::vector<Size> sizes = {{1, 1, 1},
                             {launch.tile_m + 1, launch.tile_n + 1, 17},
                             {launch.tile_m > 1 ? launch.tile_m - 1 : 1, launch.tile_n + 3, 33},
                             {5, 3, 129},
                             {launch.tile_m, launch.tile_n, 1032},
                             {3, 5, 4099},
                             {1, 1, 70001}};  // llvmpipe ends loops silently after 65,535 rounds
  // One tile more than a wave: a tail behind whole ones, on three units or more.
  if (v.split_k == 0) sizes.push_back({3, (context.device.compute_units + 1) * launch.tile_n - 3, 8 * v.block_k + 9});
  // With tensor copies, work-groups take turns: several tiles for each, and one that has no room for tensor maps. The
  // first of the two sizes is the one whose rows are not aligned.
  if (v.split_k == 1 && v.build_options.find("-DTENSOR_COPIES=1") != std::string::npos) {
    const std::size_t columns = std::size_t{context.device.compute_units} * 512;
    sizes.push_back({3, columns + 5, v.block_k + 9});
    sizes.push_back({8, columns + 16, 2 * v.block_k + 8});
  }
  std::size_t number = 0;  // of the size
  for (const Size& size : sizes) {
    Problem problem = problem_of(v, size.m, size.n, size.k);
    for (const double beta : {0.0, -0.5}) {
      const bool is_odd = number % 2 == 1;  // else rows are aligned where the size allows it
      problem.lda += is_odd ? 3 : 8;
      problem.ldb += is_odd ? 5 : 16;
      problem.ldc += is_odd ? 7 : 24;
      GemmRunOptions options;
      options.alpha = 1.25;
      options.beta = beta;
      options.a_offset = is_odd ? 11 : 16;
      options.b_offset = is_odd ? 13 : 32;
      options.c_offset = is_odd ? 19 : 8;
      options.d_offset = 5;
      options.bias_offset = 7;
      if (beta != 0) problem.epilogue = epilogue_number(number, problem.ldc);
      Result<Gemm> gemm = context.library.prepare(problem, v.name);
      if (images_too_large(v, gemm.status())) continue;
      if (!gemm) return gemm.status();
      Result<GemmRun> gemm_run = GemmRun::create(context.session, context.device, problem, options);
      if (!gemm_run) return gemm_run.status();
      const Status ran = gemm_run->run(*gemm).status();
      if (!ran) return ran;
      const Status right = check_once(*gemm_run, problem, proof);
      if (!right) return right;
    }
    ++number;
  }
  return {};
}

// The large grids: short launches, so that a compilation beside them stands out. Returns the one whose first launch
// took longest.
Result<Timing> time_large_grid(ProofContext& context, cache::Proof& proof) {
  const cache::Variant& v = context.variant;
  Timing longest;
  for (const Problem& large : large_grids(v)) {
    Result<Gemm> gemm = context.library.prepare(large, v.name);
    if (images_too_large(v, gemm.status())) continue;  // then there is no such grid
    if (!gemm) return gemm.status();
    GemmRunOptions options;
    options.beta = 0.5;
    const Result<Timing> timing =
        time_problem(context, *gemm, large, options, "the first launch of a large grid", kLargeRuns, proof);
    if (!timing) return timing;
    if (timing->first_us > longest.first_us) longest = *timing;
  }
  return longest;
}

// True for a near miss: a time above a limit, but by less than any compilation takes.
Result<bool> prove(ProofContext& context, cache::Entry& entry) {
  const cache::Variant& v = context.variant;
  cache::Proof proof = new_proof(entry, context.device);
  const Problem timed = problem_of(v, kTimedSize, kTimedSize, kTimedSize);
  context.watch.begin();
  Result<Gemm> gemm = context.library.prepare(timed, v.name);
  if (!gemm) return gemm.status();
  set_load_times(gemm->explanation(), proof);
  context.watch.loaded(proof.load_us(), proof.specialisations.size());
  const Result<Timing> small = time_problem(context, *gemm, timed, {}, "the first launch", kSteadyRuns, proof);
  if (!small) return small.status();
  const Result<Timing> large = time_large_grid(context, proof);
  if (!large) return large.status();
  const Status edges = check_edges(context, proof);
  if (!edges) return edges;
  proof.first_us = static_cast<float>(small->first_us);
  proof.steady_us = static_cast<float>(small->steady_us);
  std::ostringstream text;
  text << std::fixed << std::setprecision(0) << "large grid: first " << large->first_us << " us, steady "
       << large->steady_us << " us";
  return conclude(context.watch.verdict(), context.overhead, {text.str()}, std::move(proof), entry);
}

// The entry alone, so that no other form of it can serve in its place. The worker's own file serves when the entry is
// the only one in it; else its bytes are encoded once more, in memory.
Result<bool> prove_alone(const Job& job, const Bundle& file, cache::Entry& entry, const Device& device,
                         const Session& session, const LaunchOverhead& overhead) {
  Result<Bundle> bundle = file;
  cache::Bytes alone;
  if (job.entries.size() > 1) {
    Result<cache::Bytes> bytes = encode_job({job.target, job.source, job.variant, {entry}}, cache::Packing::plain);
    if (!bytes) return bytes.status();
    alone = std::move(*bytes);
    bundle = Bundle::from_memory({alone.data(), alone.size()});
  }
  if (!bundle) return bundle.status();
  Options options;
  options.on_miss = OnMiss::fail;
  options.only_build = true;  // the first launch is what is to be timed
  Result<Library> library = Library::create(session.context(), device.id, {*bundle}, options);
  if (!library) return library.status();
  if (job.variant.is_program()) return prove_program(job, device, session, overhead, *library, entry);
  ProofContext context{job.variant, device, session, overhead, {device.target, overhead}, std::move(*library)};
  return prove(context, entry);
}

}  // namespace

Result<bool> prove_job(const std::string& path, const std::string& overhead_path, const std::string& output) {
  Result<Job> job = read_job(path);
  if (!job) return job.status();
  if (job->entries.empty()) return {Code::no_entry, path + ": nothing was compiled"};
  const Result<Bundle> file = Bundle::open(path);
  if (!file) return file.status();
  const Result<Job> overhead_job = read_job(overhead_path);
  if (!overhead_job) return overhead_job.status();
  const Result<Device> device = device_of(job->target);
  if (!device) return device.status();
  const Result<Session> session = Session::open(*device);
  if (!session) return session.status();
  const Result<LaunchOverhead> overhead = measure_launch_overhead(*overhead_job, *device, *session);
  if (!overhead) return overhead.status();
  bool near_miss = false;
  for (cache::Entry& entry : job->entries) {
    const Result<bool> proven = prove_alone(*job, *file, entry, *device, *session, *overhead);
    if (!proven) return proven;
    near_miss = near_miss || *proven;
  }
  const Status written = write_job(output, *job);
  if (!written) return written;
  return near_miss;
}

}  // namespace clbake::builder
