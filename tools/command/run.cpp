#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/added_options.hpp>
#include <clbake/builder/gemm_run.hpp>

#include <array>
#include <chrono>
#include <cstdio>

namespace clbake::tool {
namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

Epilogue epilogue_from(const Cli& cli, std::size_t ldc) {
  Epilogue e;
  e.bias = static_cast<Bias>(number_of("bias", cli.text("bias", "none"), std::array{"none", "row", "column"}));
  e.activation = activation_of(cli.text("activation", "none"));
  if (e.activation == Activation::clamp) e.high = 1;
  e.has_d = cli.has("d");
  if (e.has_d) e.ldd = ldc;  // no gaps that C has not
  return e;
}

Problem problem_from(const Cli& cli) {
  const std::vector<Precision> precisions = cli.precisions("precision");
  if (cli.has("precision") && precisions.size() != 1)
    throw UsageError(std::string("--precision: give one of ") + precision_names);
  Precision precision = precisions.front();
  const bool column_major = cli.has("column-major");
  if (column_major && has_weights(precision)) {  // are A then
    precision = mixed(element_b(precision), element_a(precision), element_c(precision));
  }
  Problem p = make_problem({precision, cli.has("trans-a"), cli.has("trans-b")}, cli.size("m", 0), cli.size("n", 0),
                           cli.size("k", 0), column_major ? Layout::column_major : Layout::row_major);
  p.quantization.weight_group = cli.size("weight-group", p.quantization.weight_group);
  p.quantization.weight_zeros = cli.has("weight-zeros");
  p.conj_a = cli.has("conj-a");
  p.conj_b = cli.has("conj-b");
  p.lda = cli.size("lda", p.lda);
  p.ldb = cli.size("ldb", p.ldb);
  p.ldc = cli.size("ldc", p.ldc);
  p.epilogue = epilogue_from(cli, p.ldc);
  return p;
}

builder::GemmRunOptions matrices_from(const Cli& cli) {
  builder::GemmRunOptions matrices;
  matrices.alpha = cli.complex_number("alpha", 1.0);
  matrices.beta = cli.complex_number("beta", 0.0);
  matrices.seed = static_cast<std::uint32_t>(cli.size("seed", 1, 0, UINT32_MAX));
  matrices.check_limit = builder::kPatientCheck;
  return matrices;
}

// Opens the overlay, too.
Options library_options_from(const Cli& cli) {
  Options options;
  options.on_miss = cli.has("no-compile") ? OnMiss::fail : OnMiss::compile;
  options.newer_driver = cli.has("newer-driver");
  options.record = cli.has("record");
  if (cli.has("overlay")) {
    need(no_added_options());
    options.overlay = need(open_overlay({cli.text("overlay"), OverlayMode::read_write}), "--overlay");
  }
  return options;
}

// Runs the product and checks the first result.
Json execute(const Cli& cli, const Problem& p, builder::Check& check) {
  const builder::GemmRunOptions matrices = matrices_from(cli);
  const std::size_t repeat = cli.size("repeat", 10, 1, 1000000);
  const std::string file = cli.file();
  const Options options = library_options_from(cli);
  need(clbake::check(p));
  const builder::Device device = device_for(open_verified(file), cli.text("device"));
  const builder::Session session = need(builder::Session::open(device));

  auto start = Clock::now();
  const Bundle bundle = need(Bundle::open(file));
  const Library library = need(Library::create(session.context(), device.id, {bundle}, options));
  const double open_us = us_since(start);
  builder::GemmRun gemm_run = need(builder::GemmRun::create(session, device, p, matrices));
  start = Clock::now();
  Result<Gemm> gemm = library.prepare(p, variant_name(cli.text("variant")));
  const double load_us = us_since(start);
  need(gemm.status(), file);

  const double first_us = need(gemm_run.run(*gemm));
  check = need(gemm_run.check());
  std::vector<double> times;
  for (std::size_t i = 1; i < repeat; ++i) times.push_back(need(gemm_run.time(*gemm)));
  const double steady_us = times.empty() ? first_us : builder::median(times);
  library.finish();  // writes to the overlay
  if (cli.has("record")) need(library.write_recording(cli.text("record")));

  const double flops = (is_complex(p.precision) ? 8.0 : 2.0) * static_cast<double>(p.m) * static_cast<double>(p.n) *
                       static_cast<double>(p.k);
  const Explanation& e = gemm->explanation();
  const bool missed = e.miss != Code::ok;
  return {{"origin", clbake::name(e.origin)},
          {"miss", missed ? Json(std::string(name(e.miss))) : Json()},
          {"miss_message", missed ? Json(e.miss_message) : Json()},
          {"variant", e.variant},
          {"baked_for", e.baked_for.empty() ? Json() : Json(e.baked_for)},
          {"create_us", e.create_us},
          {"build_us", e.build_us},
          {"kernel_us", e.kernel_us},
          {"target", to_json(device.target)},
          {"precision", clbake::name(p.precision)},
          {"activation", activation_words[static_cast<std::size_t>(p.epilogue.activation)]},
          {"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"open_us", open_us},
          {"load_us", load_us},
          {"first_us", first_us},
          {"steady_us", steady_us},
          {"gflops", flops / steady_us / 1e3},
          {"max_error", check.max_error},
          {"tolerance", check.tolerance},
          {"rows_checked", check.rows_checked},
          {"ok", check.ok()}};
}

void print_run(const Json& j) {
  const char* from = j["origin"] == "native"     ? "machine code from the bundle"
                     : j["origin"] == "portable" ? "portable code from the bundle, compiled by the driver"
                     : j["origin"] == "overlay"  ? "from the overlay, which keeps what was compiled before"
                                                 : "compiled from source";
  const auto text = [&](const char* name) { return printable(j[name].get<std::string>()); };
  std::printf("%s, %s\n", text("variant").c_str(), from);
  if (!j["miss"].is_null()) {
    std::printf("miss: %s (%s)\n", text("miss").c_str(), text("miss_message").c_str());
    if (j["miss"] == name(Code::no_entry) && j["origin"] == "source") {
      std::printf("not baked: 'clbake build --precision %s -o OTHER' bakes it\n", text("precision").c_str());
    }
  }
  std::printf("device  %s\n", j["target"]["device_name"].get<std::string>().c_str());
  std::printf("open    %12.1f us\nload    %12.1f us\nfirst   %12.1f us\nsteady  %12.1f us, %.1f GFLOP/s\n",
              j["open_us"].get<double>(), j["load_us"].get<double>(), j["first_us"].get<double>(),
              j["steady_us"].get<double>(), j["gflops"].get<double>());
  std::printf("error   %12.3g, tolerance %.3g, %s checked: %s\n", j["max_error"].get<double>(),
              j["tolerance"].get<double>(), counted(j["rows_checked"].get<std::size_t>(), "row").c_str(),
              j["ok"] ? "ok" : "WRONG");
}

}  // namespace

int run(const std::vector<std::string>& arguments) {
  Cli cli("run FILE --m M --n N --k K [OPTIONS]",
          "Runs C = act(alpha*op(A)*op(B) + beta*C + bias) from the bundle on random matrices and checks the\n"
          "result.");
  cli.add_required("m", "M", "rows of C");
  cli.add_required("n", "N", "columns of C");
  cli.add_required("k", "K", "columns of op(A)");
  cli.add_value("precision", "NAME", (std::string(precision_names) + "; default single").c_str());
  cli.add_flag("trans-a", "op(A) is the transpose of A");
  cli.add_flag("trans-b", "op(B) is the transpose of B");
  cli.add_flag("column-major", "matrices are column-major; default: row-major");
  cli.add_flag("conj-a", "op(A) is conjugated, too; of complex precisions");
  cli.add_flag("conj-b", "op(B) is conjugated, too");
  cli.add_value("alpha", "X", "of complex precisions also RE,IM; default 1");
  cli.add_value("beta", "X", "the same; default 0");
  cli.add_value("lda", "N", "leading dimension of A in elements; default: the smallest possible");
  cli.add_value("ldb", "N", "leading dimension of B");
  cli.add_value("ldc", "N", "leading dimension of C");
  cli.add_value("weight-group", "N", "steps of k that share a scale of packed weights: 32, 64 or 128; default 32");
  cli.add_flag("weight-zeros", "packed weights have zero points");
  cli.add_value("bias", "WHICH", "add a random vector to C, with an element for each row or column; default none");
  cli.add_value("activation", "NAME",
                "apply none, relu, clamp (to 0 and 1), sigmoid, silu, gelu or gelu_tanh to the result; default none");
  cli.add_flag("d", "beta multiplies a random matrix D instead of C");
  cli.add_device();
  cli.add_value("variant", "NAME", "use this variant of the bundle, or preset, instead of the profile's choice");
  cli.add_value("repeat", "N", "launches, including the first; default 10");
  cli.add_value("seed", "N", "seed of the random matrices; default 1");
  cli.add_flag("newer-driver", "also load machine code that was made for an older driver");
  cli.add_flag("no-compile", "fail on a miss instead of compiling from the bundle's source");
  cli.add_value("overlay", "DIR", "keep what has to be compiled in this directory, for the next run");
  cli.add_value("record", "FILE", "write which problem was called how often, for 'clbake capture'");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const Problem problem = problem_from(cli);
  builder::Check checked;
  const Json json = execute(cli, problem, checked);
  cli.has("json") ? print(json) : print_run(json);
  if (checked.ok()) return kSuccess;
  throw Failure("wrong result: error " + json["max_error"].dump() + " is more than the tolerance " +
                json["tolerance"].dump() + (checked.guards_intact ? "" : "; the kernel wrote outside of C"));
}

}  // namespace clbake::tool
