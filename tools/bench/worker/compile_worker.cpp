#include "bench/worker/compile_worker.hpp"

#include "bench/bench_device.hpp"
#include "cli/json.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/finalize.hpp>

#include <algorithm>
#include <chrono>

namespace clbake::tool {
namespace {

// Microseconds by which the first launch is longer than the second.
Result<double> compiled_at_launch(const BenchDevice& on, const Library& library, const cache::Variant& variant,
                                  const Problem& problem) {
  Result<builder::GemmRun> gemm_run = builder::GemmRun::create(on.session, on.device, problem);
  if (!gemm_run) return gemm_run.status();
  Result<Gemm> gemm = library.prepare(problem, variant.name);
  if (!gemm) return gemm.status();
  const Result<double> first = gemm_run->run(*gemm);
  if (!first) return first;
  const Result<double> second = gemm_run->run(*gemm);
  if (!second) return second;
  return std::max(0.0, *first - *second);
}

Result<Json> measure(const builder::Job& job, const Bundle& bundle) {
  const Result<BenchDevice> on = open_device(job.target);
  if (!on) return on.status();
  Options options;
  options.only_build = true;  // launches are timed separately
  const Result<Library> library = open_library(*on, bundle, options);
  if (!library) return library.status();
  const cache::Variant& v = job.variant;
  const Problem small = builder::tight_problem(v.precision, 1, 1, 1, v.trans_a, v.trans_b);
  const Result<Gemm> gemm = library->prepare(small, v.name);
  if (!gemm) return gemm.status();
  std::vector<Problem> shapes = large_grids(v);
  shapes.insert(shapes.begin(), small);
  double launch_us = 0;
  for (const Problem& shape : shapes) {
    const Result<double> us = compiled_at_launch(*on, *library, v, shape);
    if (!us) return us.status();
    launch_us += *us;
  }
  const auto start = std::chrono::steady_clock::now();
  const Result<cache::Bytes> binary = program_binary(gemm->program());
  const std::chrono::duration<double, std::milli> query = std::chrono::steady_clock::now() - start;
  if (!binary) return binary.status();
  return Json{
      {"build_ms", gemm->explanation().build_us / 1e3}, {"launch_ms", launch_us / 1e3}, {"binary_ms", query.count()}};
}

}  // namespace

Status compile_worker(const std::string& path, const std::string& output) {
  const Result<builder::Job> job = builder::read_job(path);
  if (!job) return job.status();
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status();
  const Result<Json> json = measure(*job, *bundle);
  if (!json) return json.status();
  const std::string text = json->dump();
  return cache::write_file(output, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace clbake::tool
