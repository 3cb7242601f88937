#include <clbake/builder/compile.hpp>
#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/programs.hpp>
#include <clbake/finalize.hpp>
#include "process/need.hpp"
#include "program/trial_run.hpp"
#include "prove/entry_proof.hpp"
#include "prove/proofs.hpp"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <set>
#include <sstream>
#include <thread>

namespace clbake::builder::prove {
using namespace program;
namespace {

constexpr std::size_t kSteadyRuns = 15;
constexpr std::size_t kLargeRuns = 5;
// Large enough that a launch takes a good part of a millisecond, small enough for the slowest family.
constexpr std::size_t kTimedSize = 320;

Problem problem_of(const cache::Variant& v, std::size_t m, std::size_t n, std::size_t k) {
  return tight_problem(v.precision, m, n, k, v.trans_a, v.trans_b);
}

std::string describe(const Problem& p) {
  const bool plain = p.epilogue.bias == Bias::none && p.epilogue.activation == Activation::none && !p.epilogue.has_d;
  return std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) +
         (plain ? "" : " with an epilogue");
}

// Another one for each number up to 6: all activations, each kind of bias, with and without a D.
Epilogue epilogue_number(std::size_t number, const Problem& problem) {
  const bool whole = element_c(problem.precision) == Element::int32;
  Epilogue e;
  e.activation = static_cast<Activation>(number % (whole ? 3 : 7));
  e.bias = static_cast<Bias>(number % 3);
  e.low = whole ? -250 : -0.25;
  e.high = whole ? 5000 : 0.5;
  e.has_d = number % 2 == 1;
  e.ldd = problem.ldc + 2;
  return e;
}

Quantization quantization_number(std::size_t number, Precision precision) {
  Quantization q;
  if (!is_mixed(precision)) return q;
  if (has_weights(precision)) {
    q.weight_zeros = number % 2 == 0;
    return q;
  }
  const bool scales = element_c(precision) != Element::int32;
  q.row_scales = scales && number % 2 == 0;
  q.column_scales = scales && number % 3 != 1;
  const auto zero_of = [](Element element, int zero) {
    return element == Element::uint8 ? 100 + zero : element == Element::int8 ? zero : 0;
  };
  q.zero_a = number % 4 != 0 ? zero_of(element_a(precision), 9) : 0;
  q.zero_b = number % 3 != 0 ? zero_of(element_b(precision), -5) : 0;
  q.zero_c = zero_of(element_c(precision), -3);
  return q;
}

// After exactly one run from the original C.
void check_once(GemmRun& gemm_run, const Problem& problem, EntryProof& entry) {
  const Check check = need(gemm_run.check());
  need(check.status(describe(problem)));
  entry.checked(check.max_error, check.tolerance);
}

// The program is loaded by now; the launch is the first of its grid class.
Timing time_problem(EntryProof& entry, Gemm& gemm, const Problem& problem, const GemmRunOptions& options,
                    const char* what, std::size_t runs) {
  GemmRun run = need(GemmRun::create(entry.session, entry.device, problem, options));
  return entry.watch.time(
      what, runs, [&] { return need(run.run(gemm)); }, [&] { check_once(run, problem, entry); },
      [&] { return need(run.time(gemm)); });
}

bool images_too_large(const cache::Variant& v, const Status& status) {
  return status.code() == Code::out_of_memory && (v.image_a || v.image_b);
}

// Edge sizes, padded leading dimensions, offsets, beta = 0 over NaN, and beta != 0 with an epilogue.
void check_edges(EntryProof& entry) {
  const cache::Variant& v = entry.job.variant;
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
  if (v.split_k == 0) sizes.push_back({3, (entry.device.compute_units + 1) * launch.tile_n - 3, 8 * v.block_k + 9});
  // With tensor copies, work-groups take turns: several tiles for each, and one that has no room for tensor maps. The
  // first of the two sizes is the one whose rows are not aligned.
  if (v.split_k == 1 && v.build_options.find("-DTENSOR_COPIES=1") != std::string::npos) {
    const std::size_t columns = std::size_t{entry.device.compute_units} * 512;
    sizes.push_back({3, columns + 5, v.block_k + 9});
    sizes.push_back({8, columns + 16, 2 * v.block_k + 8});
  }
  std::size_t number = 0;  // of the size
  for (const Size& size : sizes) {
    const std::size_t group = has_weights(v.precision) ? std::size_t{32} << number % 3 : 1;
    Problem problem = problem_of(v, size.m, size.n, (size.k + group - 1) / group * group);
    for (const double beta : {0.0, -0.5}) {
      const bool is_odd = number % 2 == 1;  // else rows are aligned where the size allows it
      problem.lda += is_odd ? 3 : 8;
      problem.ldb += is_odd ? 5 : 16;
      problem.ldc += is_odd ? 7 : 24;
      GemmRunOptions options;
      options.alpha = alpha_for(v.precision, 1.25);
      options.beta = beta_for(v.precision, beta);
      options.a_offset = is_odd ? 11 : 16;
      options.b_offset = offset_for(element_b(v.precision), is_odd ? 13 : 32);
      options.c_offset = is_odd ? 19 : 8;
      options.d_offset = 5;
      options.bias_offset = 7;
      if (beta != 0) {
        problem.epilogue = epilogue_number(number, problem);
        problem.quantization = quantization_number(number, v.precision);
      }
      if (has_weights(v.precision)) problem.quantization.weight_group = static_cast<std::uint32_t>(group);
      Result<Gemm> gemm = entry.library.prepare(problem, v.name);
      if (images_too_large(v, gemm.status())) continue;
      need(gemm.status());
      GemmRun gemm_run = need(GemmRun::create(entry.session, entry.device, problem, options));
      need(gemm_run.run(*gemm));
      check_once(gemm_run, problem, entry);
    }
    ++number;
  }
}

// Six products of which the device counts the rows: one count is negative, and all together are too many for `whole`.
std::vector<Problem> counted_products(const Problem& whole, GemmRunOptions& options) {
  std::size_t begin = 0;
  std::vector<Problem> products;
  for (std::size_t i = 0; i < 6; ++i) {
    options.counts.push_back(i == 2 ? -1 : static_cast<std::int32_t>(whole.m / 5 + i));
    Problem p = whole;
    p.m = i == 2 ? 0 : std::min(whole.m / 5 + i, whole.m - begin);
    p.batch = 1;
    p.offsets = {{begin * (p.trans_a ? 1 : p.lda), i * whole.b_stride, begin * p.ldc}};
    begin += p.m;
    products.push_back(p);
  }
  return products;
}

void check_groups(EntryProof& entry) {
  const cache::Variant& v = entry.job.variant;
  const cache::Launch& launch = product_launch(v);
  for (std::uint32_t number = 0; number < 8; ++number) {
    GemmRunOptions options;
    options.seed = number;
    options.beta = number < 4 ? 0 : 0.5;
    Problem whole = problem_of(v, std::size_t{3} * launch.tile_m, launch.tile_n + 3, 21);
    whole.batch = 6;
    whole.b_stride = extents(whole).b;
    whole.epilogue = epilogue_number(number, whole);
    whole.epilogue.ldd = whole.ldc;
    const bool counted = number % 2 == 1;
    std::vector<Problem> products =
        counted ? counted_products(whole, options)
                : random_products(v, Layout::row_major, 7, launch.tile_m + launch.tile_n, true, number);
    for (Problem& p : products) {
      p.epilogue = whole.epilogue;
      p.epilogue.ldd = p.ldc;
    }
    GemmGroup group = need(counted ? entry.library.prepare_counted_group(whole, v.name)
                                   : entry.library.prepare_group(products, v.name));
    GemmRun run = need(GemmRun::create(entry.session, entry.device, products, options));
    within("a group of products", [&] {
      need(run.run(group));
      check_once(run, products[0], entry);
    });
  }
}

// The large grids: short launches, so that a compilation beside them stands out. Returns the one whose first launch
// took longest.
Timing time_large_grid(EntryProof& entry) {
  const cache::Variant& v = entry.job.variant;
  Timing longest;
  for (const Problem& large : large_grids(v)) {
    Result<Gemm> gemm = entry.library.prepare(large, v.name);
    if (images_too_large(v, gemm.status())) continue;  // then there is no such grid
    need(gemm.status());
    GemmRunOptions options;
    options.alpha = alpha_for(v.precision, 1);
    options.beta = beta_for(v.precision, 0.5);
    const Timing timing = time_problem(entry, *gemm, large, options, "the first launch of a large grid", kLargeRuns);
    if (timing.first_us > longest.first_us) longest = timing;
  }
  return longest;
}

void prove_variant(EntryProof& entry) {
  const cache::Variant& v = entry.job.variant;
  const Problem timed = problem_of(v, kTimedSize, kTimedSize, kTimedSize);
  entry.watch.begin();
  Gemm gemm = need(entry.library.prepare(timed, v.name));
  entry.loaded(gemm.explanation());
  GemmRunOptions options;
  options.alpha = alpha_for(v.precision, 1);
  const Timing small = time_problem(entry, gemm, timed, options, "the first launch", kSteadyRuns);
  const Timing large = time_large_grid(entry);
  entry.proof.first_us = static_cast<float>(small.first_us);
  entry.proof.steady_us = static_cast<float>(small.steady_us);
  std::ostringstream text;
  text << std::fixed << std::setprecision(0) << "large grid: first " << large.first_us << " us, steady "
       << large.steady_us << " us";
  entry.remark = text.str();
  check_edges(entry);
  if (v.is_group()) check_groups(entry);
  entry.verdict = entry.watch.verdict();
}

// Loads and launches the kernel that does nothing, before anything else is loaded, so that it includes what only the
// first program and the first launch of a process pay.
Overhead measure_overhead(const std::string& path, const Device& device, const Session& session) {
  const Bundle bundle = need(Bundle::open(path));
  const Job job = need(read_job(path));
  Options options;
  options.on_miss = OnMiss::fail;
  const Library library = need(Library::create(session.context(), device.id, {bundle}, options));
  const LoadedProgram program = need(library.program(job.variant.name));
  const std::vector<TriedKernel> kernels = need(parse_trial(job.trial));
  const TrialCase tried = cases_of(kernels).front();
  TrialRun run = need(TrialRun::create(session, device, program.get(), tried));
  const Explanation& loaded = program.explanation();
  return {loaded.create_us + loaded.build_us + loaded.kernel_us, need(run.run())};
}

// The compiler's note, the remark on the proof, and why the entry is not JIT-free.
std::string note_of(const cache::Entry& entry, const EntryProof& made, const Overhead& overhead) {
  std::vector<std::string> parts = {entry.proof.note, made.remark};
  if (overhead.first_us > 0) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(0) << "a kernel that does nothing: load " << overhead.load_us
         << " us, first launch " << overhead.first_us << " us";
    parts.push_back(text.str());
  }
  if (entry.form != cache::Form::native) {
    parts.emplace_back("the driver keeps an intermediate language, which it compiles at every load");
  } else if (!made.verdict.compiled.empty()) {
    parts.push_back("not JIT-free: " + made.verdict.compiled);
  }
  if (!made.is_tried) parts.push_back(std::string(kOnlyLoaded) + "no trial could tell more");
  if (entry.form == cache::Form::native) parts.push_back("judged by " + made.verdict.judged_by);
  std::string note;
  for (const std::string& part : parts) note += (note.empty() || part.empty() ? "" : "; ") + part;
  return note;
}

// The entry alone, so that no other form of it can serve in its place. The worker's own file serves when the entry is
// the only one in it; else its bytes are encoded once more, in memory.
void prove_alone(const Job& job, const Bundle& file, cache::Entry& entry, const Device& device, const Session& session,
                 const Overhead& overhead, const Control& control) {
  Bundle bundle = file;
  cache::Bytes alone;
  if (job.entries.size() > 1) {
    alone = need(encode_job({job.target, job.source, job.variant, {entry}, {}}, cache::Packing::plain));
    bundle = need(Bundle::from_memory({alone.data(), alone.size()}));
  }
  Options options;
  options.on_miss = OnMiss::fail;
  options.only_build = true;  // the first launch is what is to be timed
  const Library library = need(Library::create(session.context(), device.id, {bundle}, options));
  CompileWatch watch(device.target, control, overhead.first_us);
  cache::Proof proof;
  proof.tools = entry.proof.tools;
  proof.specialisations = entry.proof.specialisations;
  proof.log = entry.proof.log;
  proof.device = device.target.device_name;
  proof.driver = device.target.driver_version;
  EntryProof made{job, device, session, library, watch, proof, {}, {}};
  job.variant.is_program() ? prove_program(made) : prove_variant(made);
  proof.proven = made.is_tried;
  proof.jit_free = made.is_tried && entry.form == cache::Form::native && made.verdict.compiled.empty();
  proof.note = note_of(entry, made, overhead);
  if (!made.is_tried) proof.device.clear(), proof.driver.clear();
  entry.proof = std::move(proof);
}

// How often files are looked for, as some drivers write their caches in the background.
constexpr std::chrono::milliseconds kStep{20};
constexpr int kSteps = 25;

// From the source to the end of a first launch.
void compile_and_launch(const Job& job, const Device& device, const Session& session) {
  const LoadedProgram program = need(build_from_source(job, device, session));
  const std::vector<TriedKernel> kernels = need(parse_trial(job.trial));
  for (const TrialCase& tried : cases_of(kernels)) {
    need(need(TrialRun::create(session, device, program.get(), tried)).run());
  }
}

}  // namespace

void EntryProof::loaded(const Explanation& explanation) {
  proof.create_us = static_cast<float>(explanation.create_us);
  proof.build_us = static_cast<float>(explanation.build_us);
  proof.kernel_us = static_cast<float>(explanation.kernel_us);
  watch.loaded(proof.load_us(), launched_kernels(job.variant).size(), proof.specialisations.size());
}

void EntryProof::checked(double error, double tolerance) {
  if (tolerance == 0) return;  // of whole numbers
  const double known = static_cast<double>(proof.max_error) / static_cast<double>(proof.tolerance);
  if (proof.tolerance > 0 && error / tolerance <= known) return;
  proof.max_error = static_cast<float>(error);
  proof.tolerance = static_cast<float>(tolerance);
}

// Known of the driver after the first job.
struct Prover::State {
  Device device;
  Session session;
  Overhead overhead;
  Control control;
};

Prover::Prover() = default;
Prover::~Prover() = default;

Status Prover::prove(const std::string& path, const std::string& overhead_path, const std::string& control_path,
                     const std::string& output) try {
  Job job = need(read_job(path));
  if (job.entries.empty()) return {Code::no_entry, path + ": nothing was compiled"};
  const Bundle file = need(Bundle::open(path));
  if (!state_) {
    compile::Place place = need(compile::place_of(job.target));
    const std::string cache = cache_directory(job.target);
    const Signs before = signs_now(cache);
    const Overhead overhead = within("a kernel that does nothing",
                                     [&] { return measure_overhead(overhead_path, place.device, place.session); });
    const Control control = without(read_control(control_path), since(before, signs_now(cache)));
    state_.reset(new State{std::move(place.device), std::move(place.session), overhead, control});
  }
  if (state_->device.target != job.target) return {Code::invalid_argument, path + ": is for another device"};
  for (cache::Entry& entry : job.entries) {
    prove_alone(job, file, entry, state_->device, state_->session, state_->overhead, state_->control);
  }
  return write_proofs(output, std::move(job));
} catch (const Failure& failure) {
  return failure.status;
}

bool Prover::is_spent() const {
  const Control& control = state_->control;
  const std::set<std::string> loaded = signs_now({}).libraries;
  const auto is_loaded = [&](const std::string& library) { return loaded.count(library) > 0; };
  return !control.files && !control.children &&
         (control.libraries.empty() || std::any_of(control.libraries.begin(), control.libraries.end(), is_loaded));
}

Status compile_on_purpose(const std::string& path, const std::string& output) try {
  const Job job = need(read_job(path));
  const compile::Place place = need(compile::place_of(job.target));
  const std::string cache = cache_directory(job.target);
  const std::string extension = compiled_extension(job.target);
  const Signs before = signs_now(cache);
  compile_and_launch(job, place.device, place.session);
  Signs fresh = since(before, signs_now(cache));
  for (int i = 0; i < kSteps && !control_of(fresh, extension).files; ++i) {
    std::this_thread::sleep_for(kStep);
    fresh.files = since(before, signs_now(cache)).files;
  }
  return write_control(output, control_of(fresh, extension));
} catch (const Failure& failure) {
  return failure.status;
}

}  // namespace clbake::builder::prove
