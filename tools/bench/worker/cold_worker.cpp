#include "bench/worker/cold_worker.hpp"

#include "bench/bench_device.hpp"
#include "bench/peers/peers.hpp"
#include "cli/json.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/cache/writer.hpp>

#include <chrono>
#include <cstdlib>
#include <functional>

namespace clbake::tool {
namespace {

using Clock = std::chrono::steady_clock;
using Step = std::function<Status()>;

// Runs for the median: as many as fit into the time, at least one. On a simulator each takes seconds.
constexpr std::size_t kSteadyRuns = 20;
constexpr std::chrono::seconds kSteadyTime{2};

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The figures of a trial. Each step is timed from the end of the one before it.
class Steps {
 public:
  explicit Steps(const ColdJob& job)
      : mark_(std::chrono::nanoseconds(std::strtoll(job.spawned.c_str(), nullptr, 10))) {}

  // Begins the next step now: what was done since the last one is not timed.
  void mark() { mark_ = Clock::now(); }

  void end(const char* step) {
    figures_[step] = ms_since(mark_);
    mark();
  }

  void none(const char* step) { figures_[step] = 0.0; }

  // Times the first run, which completes the first result, checks it, and times the steady runs.
  Status finish(const Step& run, const Step& check) {
    const Status first = run();
    if (!first) return first;
    end("first_launch_ms");
    figures_["first_result_ms"] = figures_["load_ms"].get<double>() + figures_["first_launch_ms"].get<double>();
    const Status correct = check();
    if (!correct) return correct;
    std::vector<double> steady;
    const auto start = Clock::now();
    do {
      mark();
      const Status again = run();
      if (!again) return again;
      steady.push_back(ms_since(mark_));
    } while (steady.size() < kSteadyRuns && Clock::now() - start < kSteadyTime);
    figures_["steady_ms"] = builder::median(steady);
    return {};
  }

  Json& figures() { return figures_; }

 private:
  Clock::time_point mark_;
  Json figures_;
};

Status write(const Json& json, const std::string& path) {
  const std::string text = json.dump();
  return cache::write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

std::uint32_t number(const std::string& text) {
  return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
}

Problem problem_of(const ColdJob& job) {
  const std::size_t n = number(job.size);
  return builder::tight_problem(Precision::single_precision, n, n, n);
}

Result<Target> target_of(const ColdJob& job) {
  const Result<Bundle> bundle = Bundle::open(job.bundle);
  if (!bundle) return bundle.status();
  return bundle->target(number(job.target));
}

Result<builder::Device> device_of(const ColdJob& job) {
  const Result<Target> target = target_of(job);
  return target ? builder::device_of(*target) : target.status();
}

Result<Gemm> load(const ColdJob& job, const builder::Session& session, const builder::Device& device,
                  const std::string& variant) {
  const Result<Bundle> bundle = Bundle::open(job.bundle);
  if (!bundle) return bundle.status();
  Options options;
  options.only_build = !variant.empty();  // for the rows of the driver alone
  const Result<Library> library = Library::create(session.context(), device.id, {*bundle}, options);
  if (!library) return library.status();
  return library->prepare(problem_of(job), variant);
}

// Attaches the peer: to a queue on the bundle's device, or to the peer's own device.
Status attach(Peer& peer, const ColdJob& job, Steps& steps) {
  if (!peer.uses_opencl()) {
    steps.none("platform_ms");
    steps.mark();
    const Status attached = peer.attach(nullptr);
    steps.end("context_ms");
    return attached;
  }
  const Result<builder::Device> device = device_of(job);
  if (!device) return device.status();
  steps.end("platform_ms");
  const Result<builder::Session> session = builder::Session::open(*device);
  if (!session) return session.status();
  const Status attached = peer.attach(&*session);
  steps.end("context_ms");
  return attached;
}

}  // namespace

Status cold_worker(const ColdJob& job, const std::string& variant) {
  Steps steps(job);
  steps.end("start_ms");
  const Result<builder::Device> device = device_of(job);
  if (!device) return device.status();
  steps.end("platform_ms");
  const Result<builder::Session> session = builder::Session::open(*device);
  if (!session) return session.status();
  steps.end("context_ms");
  Result<builder::GemmRun> gemm_run = builder::GemmRun::create(*session, *device, problem_of(job));
  if (!gemm_run) return gemm_run.status();
  steps.mark();
  Result<Gemm> gemm = load(job, *session, *device, variant);
  if (!gemm) return gemm.status();
  steps.end("load_ms");
  const auto check = [&]() -> Status {
    const Result<builder::Check> checked = gemm_run->check();
    if (!checked) return checked.status();
    return checked->ok() ? Status() : Status(Code::wrong_result, "the first result is wrong");
  };
  const Status timed = steps.finish([&] { return gemm_run->run(*gemm).status(); }, check);
  if (!timed) return timed;
  const Explanation& e = gemm->explanation();
  steps.figures()["origin"] = name(e.origin);
  steps.figures()["variant"] = e.variant;
  return write(steps.figures(), job.output);
}

Status cold_peer_worker(const ColdJob& job, const std::string& name, const std::string& threads) {
  Steps steps(job);
  Result<std::unique_ptr<Peer>> peer = make_peer(name, number(threads));
  if (!peer) return peer.status();
  steps.end("start_ms");
  const Status attached = attach(**peer, job, steps);
  if (!attached) return attached;
  const Problem problem = problem_of(job);
  const Status ready = (*peer)->set(problem);
  if (!ready) return ready;
  steps.none("load_ms");
  steps.mark();
  const Status timed = steps.finish([&] { return (*peer)->run(); }, [&] { return check_single(**peer, problem); });
  return timed ? write(steps.figures(), job.output) : timed;
}

}  // namespace clbake::tool
