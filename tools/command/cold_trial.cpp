#include "cold_trial.hpp"

#include "json.hpp"

#include <clbake/builder/finalize.hpp>
#include <clbake/builder/trial.hpp>
#include <clbake/cache/writer.hpp>

#include <chrono>
#include <cstdlib>

namespace clbake::tool {
namespace {

constexpr std::size_t kSteadyRuns = 20;

Result<builder::Device> device_in(const std::string& path, const std::string& target) {
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status();
  const Result<Target> wanted = bundle->target(static_cast<std::uint32_t>(std::strtoul(target.c_str(), nullptr, 10)));
  if (!wanted) return wanted.status();
  return builder::device_of(*wanted);
}

Result<Gemm> load(const std::string& path, const builder::Session& session, const builder::Device& device,
                  const Problem& problem, const std::string& variant) {
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status();
  const Result<Library> library = Library::create(session.context(), device.id, {*bundle});
  if (!library) return library.status();
  return library->prepare(problem, variant);
}

}  // namespace

Status cold_trial(const std::string& path, const std::string& target, const std::string& variant,
                  const std::string& output) {
  const Result<builder::Device> device = device_in(path, target);
  if (!device) return device.status();
  const Result<builder::Session> session = builder::Session::open(*device);
  if (!session) return session.status();
  const Problem problem = builder::tight_problem(Precision::single_precision, kColdSize, kColdSize, kColdSize);
  Result<builder::Trial> trial = builder::Trial::create(*session, *device, problem);
  if (!trial) return trial.status();

  const auto start = std::chrono::steady_clock::now();
  Result<Gemm> gemm = load(path, *session, *device, problem, variant);
  if (!gemm) return gemm.status();
  const Result<double> first = trial->run(*gemm);
  const std::chrono::duration<double, std::milli> first_result = std::chrono::steady_clock::now() - start;
  if (!first) return first.status();
  const Result<builder::Check> check = trial->check();
  if (!check) return check.status();
  if (!check->ok()) return {Code::wrong_result, "the first result is wrong"};

  std::vector<double> steady;
  for (std::size_t i = 0; i < kSteadyRuns; ++i) {
    const Result<double> us = trial->run(*gemm);
    if (!us) return us.status();
    steady.push_back(*us);
  }
  const Explanation& e = gemm->explanation();
  const std::string text = Json{
      {"first_result_ms", first_result.count()},
      {"first_launch_ms", *first / 1e3},
      {"steady_ms", builder::median(steady) / 1e3},
      {"origin", e.origin == Origin::bundle ? "bundle" : "source"},
      {"variant", e.variant}}.dump();
  return cache::write_file(output, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace clbake::tool
