#include "bench/bundle_loads.hpp"

#include "bench/bench_device.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace clbake::tool {
namespace {

struct Load {
  std::string variant;
  std::vector<double> driver, prepare, trusted;  // microseconds
};

// `file` is opened anew, so that nothing of it is kept yet.
Result<Library> library_of(const std::string& file, const BenchDevice& on, const std::shared_ptr<const Trust>& trust) {
  Options options;
  options.on_miss = OnMiss::fail;
  options.only_build = true;
  options.trust = trust;
  const Result<Bundle> bundle = Bundle::open(file);
  if (!bundle) return bundle.status();
  return open_library(on, *bundle, options);
}

// Loads one program, which the library does not have yet.
Result<Explanation> load_once(const Library& library, const cache::Variant& v, std::vector<double>& us) {
  const auto start = std::chrono::steady_clock::now();
  const auto stop = [&] {
    us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  };
  if (v.is_program()) {
    const Result<LoadedProgram> program = library.program(v.name);
    stop();
    if (!program) return program.status();
    return program->explanation();
  }
  const Problem problem = builder::tight_problem(v.precision, 1, 1, 1, v.trans_a, v.trans_b);
  const Result<Gemm> gemm = library.prepare(problem, v.name);
  stop();
  if (!gemm) return gemm.status();
  return gemm->explanation();
}

Result<std::vector<cache::Variant>> baked_variants(const BenchBundle& bundle) {
  const Result<std::uint32_t> target = bundle.bundle.find_target(bundle.on.device.target);
  if (!target) return target.status();
  std::vector<cache::Variant> baked;
  for (std::uint32_t i = 0; i < bundle.bundle.variant_count(); ++i) {
    Result<cache::Variant> variant = bundle.bundle.variant(i);
    if (!variant) return variant.status();
    if (bundle.bundle.find_entry(*target, i)) baked.push_back(std::move(*variant));
  }
  return baked;
}

Json to_json(const Load& load) {
  const double driver = builder::median(load.driver), prepare = builder::median(load.prepare);
  return {{"variant", load.variant},
          {"driver_us", driver},
          {"prepare_us", prepare},
          {"share", (prepare - driver) / driver},
          {"trusted_us", load.trusted.empty() ? Json() : Json(builder::median(load.trusted))}};
}

}  // namespace

Result<Json> bundle_loads(const std::string& file, const std::string& device, std::size_t rounds) {
  const Result<BenchBundle> bundle = open_bundle(file, device);
  if (!bundle) return bundle.status();
  const Result<std::vector<cache::Variant>> variants = baked_variants(*bundle);
  if (!variants) return variants.status().within(file);
  const std::shared_ptr<const Trust> trust = trust_of_itself(bundle->bundle);
  std::vector<Load> loads = {{"(the first program of the process)", {}, {}, {}}};
  for (const cache::Variant& variant : *variants) loads.push_back({variant.name, {}, {}, {}});
  for (std::size_t round = 0; round < rounds; ++round) {
    const Result<Library> library = library_of(file, bundle->on, nullptr),
                          trusting = library_of(file, bundle->on, trust);
    if (!library || !trusting) return library ? trusting.status() : library.status();
    for (std::size_t i = 0; i < variants->size(); ++i) {
      Load& load = loads[0].driver.empty() ? loads[0] : loads[i + 1];
      const Result<Explanation> e = load_once(*library, (*variants)[i], load.prepare);
      if (!e) return e.status().within(load.variant);
      load.driver.push_back(e->create_us + e->build_us + e->kernel_us);
      const Status trusted = trust ? load_once(*trusting, (*variants)[i], load.trusted).status() : Status();
      if (!trusted) return trusted.within(load.variant);
    }
  }
  Json rows = Json::array();
  for (const Load& load : loads) {
    if (!load.driver.empty()) rows.push_back(to_json(load));
  }
  return rows;
}

void print_loads(const Json& rows) {
  std::size_t width = 7;
  for (const Json& row : rows) width = std::max(width, row["variant"].get<std::string>().size());
  const bool trusted = !rows.empty() && !rows[0]["trusted_us"].is_null();
  std::printf("\n%-*s %9s %10s %10s%s\n", static_cast<int>(width), "program", "driver us", "prepare us", "our share",
              trusted ? " trusted us" : "");
  for (const Json& row : rows) {
    std::printf("%-*s %9.1f %10.1f %8.1f %%", static_cast<int>(width), row["variant"].get<std::string>().c_str(),
                row["driver_us"].get<double>(), row["prepare_us"].get<double>(), 100 * row["share"].get<double>());
    if (trusted) std::printf(" %10.1f", row["trusted_us"].get<double>());
    std::printf("\n");
  }
}

}  // namespace clbake::tool
