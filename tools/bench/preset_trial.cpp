#include "bench/preset_trial.hpp"

#include "bench/race.hpp"
#include "cli/json.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/cache/writer.hpp>

#include <cstdlib>

namespace clbake::tool {
namespace {

// Where the variant runs.
struct Place {
  builder::Device device;
  builder::Session session;
  Library library;
};

Result<Place> place_for(const std::string& path, const Target& target) {
  Result<builder::Device> device = builder::device_of(target);
  if (!device) return device.status();
  Result<builder::Session> session = builder::Session::open(*device);
  if (!session) return session.status();
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status();
  Result<Library> library = Library::create(session->context(), device->id, {*bundle});
  if (!library) return library.status();
  return Place{std::move(*device), std::move(*session), std::move(*library)};
}

Result<Json> measure(Place& place, const cache::Variant& v, const Size& size, std::size_t rounds) {
  const Problem problem = builder::tight_problem(v.precision, size.m, size.n, size.k, v.trans_a, v.trans_b);
  builder::GemmRunOptions options;
  options.check_limit = builder::kPatientCheck;
  Result<builder::GemmRun> trial = builder::GemmRun::create(place.session, place.device, problem, options);
  if (!trial) return trial.status();
  Result<Gemm> gemm = place.library.prepare(problem, v.name);
  if (!gemm) return gemm.status();
  const Status first = trial->run(*gemm).status();
  if (!first) return first;
  const Result<builder::Check> check = trial->check();
  if (!check) return check.status();
  std::vector<Contender> alone = {{[&] { return trial->run(*gemm).status(); }, {}}};
  const Status raced = race(alone, rounds);
  if (!raced) return raced;
  const double us = builder::median(alone[0].times);
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

Status preset_trial(const std::string& path, const std::string& sizes, const std::string& rounds,
                    const std::string& output) {
  const Result<builder::Job> job = builder::read_job(path);
  if (!job) return job.status();
  Result<Place> place = place_for(path, job->target);
  if (!place) return place.status();
  Json rows = Json::array();
  for (const Size& size : sizes_of(sizes)) {
    const Result<Json> row = measure(*place, job->variant, size, std::strtoul(rounds.c_str(), nullptr, 10));
    if (!row) return row.status();
    rows.push_back(*row);
  }
  // An error that is no number has no JSON; null stands for it.
  const std::string text = rows.dump();
  return cache::write_file(output, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace clbake::tool
