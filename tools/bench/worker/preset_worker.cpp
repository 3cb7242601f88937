#include "bench/worker/preset_worker.hpp"

#include "bench/alternate.hpp"
#include "bench/bench_device.hpp"
#include "cli/json.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/cache/writer.hpp>

#include <cstdlib>

namespace clbake::tool {
namespace {

Result<Json> measure(const BenchDevice& on, const Library& library, const cache::Variant& v, const Size& size,
                     std::size_t rounds) {
  const Problem problem = builder::tight_problem(v.precision, size.m, size.n, size.k, v.trans_a, v.trans_b);
  builder::GemmRunOptions options;
  options.check_limit = builder::kPatientCheck;
  Result<builder::GemmRun> gemm_run = builder::GemmRun::create(on.session, on.device, problem, options);
  if (!gemm_run) return gemm_run.status();
  Result<Gemm> gemm = library.prepare(problem, v.name);
  if (!gemm) return gemm.status();
  const Status first = gemm_run->run(*gemm).status();
  if (!first) return first;
  const Result<builder::Check> check = gemm_run->check();
  if (!check) return check.status();
  std::vector<TimedCall> calls = {{[&] { return gemm_run->time(*gemm).status(); }, {}}};
  const Status timed = time_alternately(calls, rounds);
  if (!timed) return timed;
  const double us = builder::median(calls[0].us);
  return Json{{"m", size.m},
              {"n", size.n},
              {"k", size.k},
              {"origin", name(gemm->explanation().origin)},
              {"median_us", us},
              {"gflops", gflops(problem, us)},
              {"max_error", check->max_error},
              {"tolerance", check->tolerance},
              {"ok", check->ok()}};
}

}  // namespace

Status preset_worker(const std::string& path, const std::string& sizes, const std::string& rounds,
                     const std::string& output) {
  const Result<builder::Job> job = builder::read_job(path);
  if (!job) return job.status();
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status();
  const Result<BenchDevice> on = open_device(job->target);
  if (!on) return on.status();
  const Result<Library> library = open_library(*on, *bundle);
  if (!library) return library.status();
  const std::size_t count = std::strtoul(rounds.c_str(), nullptr, 10);
  Json rows = Json::array();
  for (const Size& size : sizes_of(sizes)) {
    const Result<Json> row = measure(*on, *library, job->variant, size, count);
    if (!row) return row.status();
    rows.push_back(*row);
  }
  // JSON has no NaN: such an error becomes null.
  const std::string text = rows.dump();
  return cache::write_file(output, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace clbake::tool
