#include "gemm_checks.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/finalize.hpp>

#include <sstream>

namespace clbake::tests {
namespace {

using namespace builder;

std::string describe(const std::string& variant, const Problem& p, const GemmRunOptions& options) {
  std::ostringstream text;
  text << variant << " at " << p.m << " x " << p.n << " x " << p.k << ", lda " << p.lda << ", ldb " << p.ldb << ", ldc "
       << p.ldc << ", alpha " << options.alpha << ", beta " << options.beta << ", seed " << options.seed
       << (p.conj_a ? ", A conjugated" : "") << (p.conj_b ? ", B conjugated" : "")
       << (p.layout == Layout::column_major ? ", column-major" : "") << (p.offsets.empty() ? "" : ", offsets");
  if (p.batch != 1) text << ", batch " << p.batch;
  const Epilogue& e = p.epilogue;
  text << ", activation " << static_cast<int>(e.activation) << ", bias " << static_cast<int>(e.bias)
       << (e.has_d ? ", D" : "");
  const Quantization& q = p.quantization;
  text << (q.row_scales ? ", scales of rows" : "") << (q.column_scales ? ", of columns" : "") << ", zeros " << q.zero_a
       << " " << q.zero_b << " " << q.zero_c << ", weights in groups of " << q.weight_group
       << (q.weight_zeros ? " with zero points" : "");
  return text.str();
}

Result<Check> run_once(const Surroundings& where, const std::string& variant, const Problem& problem,
                       const GemmRunOptions& options) {
  Result<GemmRun> trial = GemmRun::create(where.session, where.device, problem, options);
  if (!trial) return trial.status();
  Result<Gemm> gemm = where.library.prepare(problem, variant);
  if (!gemm) return gemm.status();
  const Result<double> ran = trial->run(*gemm);
  if (!ran) return ran.status();
  return trial->check();
}

}  // namespace

std::vector<Size> edge_sizes(const cache::Launch& launch) {
  const std::size_t m = launch.tile_m;
  const std::size_t n = launch.tile_n;
  return {{0, 3, 4},          {3, 0, 4},         {3, 4, 0},         {1, 1, 1},          {1, n, 7},
          {m, 1, 7},          {m - 1, n, 8},     {m, n, 16},        {m + 1, n + 1, 17}, {m, n - 1, 513},
          {m - 1, n - 1, 31}, {2 * m + 3, n, 5}, {m, 2 * n + 3, 5}, {2 * m, 2 * n, 32}, {2 * m + 1, 2 * n + 1, 65},
          {1, 257, 33},       {257, 1, 33},      {3, 5, 1030},      {67, 131, 64},      {m + 7, n + 9, 129},
          {m, n, 712},        {7, 41, 150},      {53, 14, 140}};
}

Result<FromSource> from_source(const Device& device, const kernels::Params& params) {
  const Job job = make_job(device.target, kernels::generate(params), params);
  cache::Contents contents;
  contents.targets = {job.target};
  contents.sources = {job.source};
  contents.variants = {job.variant};
  Result<cache::Bytes> bytes = cache::encode(contents);
  if (!bytes) return bytes.status();
  const Result<Bundle> bundle = Bundle::from_memory({bytes->data(), bytes->size()});
  if (!bundle) return bundle.status();
  Result<Session> session = Session::open(device);
  if (!session) return session.status();
  Result<Library> library = Library::create(session->context(), device.id, {*bundle});
  if (!library) return library.status();
  return FromSource{std::move(*bytes), {device, std::move(*session), std::move(*library)}, job.variant};
}

void set_epilogue(Problem& problem, GemmRunOptions& options, std::size_t number) {
  const bool whole = element_c(problem.precision) == Element::int32;
  Epilogue& e = problem.epilogue;
  e.activation = static_cast<Activation>(number % (whole ? 3 : 7));
  e.low = whole ? -250 : -0.25;
  e.high = whole ? 5000 : 0.5;
  e.bias = static_cast<Bias>(number / 7 % 3);
  e.bias_stride = number % 2 == 0 ? 0 : std::max(problem.m, problem.n) + 3;
  e.has_d = number / 21 % 2 == 1;
  e.ldd = problem.ldc + 2;
  e.d_stride = problem.c_stride + problem.m * problem.n + 7;
  options.d_offset = 5;
  options.bias_offset = 11;
  if (is_mixed(problem.precision)) set_quantization(problem, number);
}

void set_quantization(Problem& problem, std::size_t number) {
  const auto zero_of = [](Element element, int zero) {
    return element == Element::uint8 ? zero + 128 : element == Element::int8 ? zero : 0;
  };
  const Element c = element_c(problem.precision);
  Quantization& q = problem.quantization;
  if (has_weights(problem.precision)) {
    q.weight_zeros = number % 2 == 0;
    if (problem.k % 128 == 0 && number % 3 != 0) q.weight_group = number % 3 == 1 ? 64 : 128;
    return;
  }
  q.row_scales = c != Element::int32 && number % 2 == 0;
  q.column_scales = c != Element::int32 && number % 3 != 0;
  q.row_scale_stride = number % 5 == 0 ? 0 : problem.m + 3;
  q.column_scale_stride = number % 7 == 0 ? 0 : problem.n + 1;
  q.zero_a = number % 4 == 0 ? 0 : zero_of(element_a(problem.precision), -100);
  q.zero_b = number % 3 == 1 ? 0 : zero_of(element_b(problem.precision), 27);
  q.zero_c = number % 5 == 2 ? 0 : zero_of(c, 11);
}

std::string failure_of(const Surroundings& where, const std::string& variant, const Problem& problem,
                       const GemmRunOptions& options) {
  const Result<Check> check = run_once(where, variant, problem, options);
  if (check && check->ok()) return {};
  std::ostringstream text;
  text << describe(variant, problem, options) << ": ";
  if (!check) {
    text << check.status().message();
  } else {
    text << "error " << check->max_error << ", tolerance " << check->tolerance
         << (check->guards_intact ? "" : ", wrote outside C");
  }
  text << "\n";
  return text.str();
}

std::vector<Problem> random_group(const GemmKind& kind, std::size_t tile, std::size_t number, GemmRunOptions& options) {
  const bool exchanged = number % 3 == 1;
  const GemmKind stated = exchanged ? GemmKind{kind.precision, kind.trans_b, kind.trans_a} : kind;
  const Layout layout = exchanged ? Layout::column_major : Layout::row_major;
  std::vector<Problem> products =
      random_products(stated, layout, 1 + number % 11, 2 * tile, true, static_cast<std::uint32_t>(number));
  set_epilogue(products[0], options, number);
  for (Problem& p : products) {
    p.epilogue = products[0].epilogue;
    p.epilogue.bias_stride = number % 2 == 0 ? 0 : 2 * tile + 1;
    p.epilogue.ldd = p.ldc;
  }
  options.seed = static_cast<std::uint32_t>(number);
  options.alpha = number % 5 == 0 ? 0 : -1.5;
  options.beta = number % 2 == 0 ? 0 : 0.75;
  options.a_offset = 3;
  options.b_offset = 7;
  options.c_offset = 21;
  return products;
}

std::string failure_of(const Surroundings& where, GemmGroup& group, const std::vector<Problem>& products,
                       const GemmRunOptions& options) {
  Result<GemmRun> run = GemmRun::create(where.session, where.device, products, options);
  if (!run) return run.status().message();
  const Status ran = run->run(group).status();
  if (!ran) return ran.message();
  const Result<Check> check = run->check();
  if (check && check->ok()) return {};
  return !check ? check.status().message()
                : group.explanation().variant + ", a group of seed " + std::to_string(options.seed) + ": error " +
                      std::to_string(check->max_error) + (check->guards_intact ? "" : ", wrote outside C");
}

std::string failures_at(const std::vector<Size>& sizes, const Surroundings& where, const cache::Variant& v) {
  std::string failures;
  std::uint32_t seed = 100;
  for (const Size& size : sizes) {
    Problem problem = tight_problem(v.precision, size.m, size.n, size.k, v.trans_a, v.trans_b);
    GemmRunOptions options;
    options.seed = ++seed;
    options.alpha = alpha_for(v.precision, seed % 2 ? 1.0 : -1.5);
    options.beta = beta_for(v.precision, seed % 3 == 0 ? 0.0 : seed % 3 == 1 ? 1.0 : 0.75);
    failures += failure_of(where, v.name, problem, options);

    problem.lda += 1;
    problem.ldb += 9;
    problem.ldc += 5;
    options.a_offset = 3;
    options.b_offset = offset_for(element_b(v.precision), 7);
    options.c_offset = 21;
    options.beta = seed % 2 ? 0.0 : -2.0;
    failures += failure_of(where, v.name, problem, options);

    set_epilogue(problem, options, 5 * seed);  // 5 and kEpilogues have no common factor
    options.beta = seed % 4 == 0 ? 0.0 : -2.0;
    failures += failure_of(where, v.name, problem, options);
  }
  return failures;
}

std::string failures_at_edges(const Surroundings& where, const cache::Variant& v) {
  return failures_at(edge_sizes(product_launch(v)), where, v);
}

}  // namespace clbake::tests
