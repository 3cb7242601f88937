#include "bench/cold_worker.hpp"

#include "bench/peers/peers.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <chrono>
#include <cstdlib>
#include <functional>

namespace clbake::tool {
namespace {

using Clock = std::chrono::steady_clock;

// Runs for the median: as many as fit into the time, at least one. On a simulator each takes seconds.
constexpr std::size_t kSteadyRuns = 20;
constexpr std::chrono::seconds kSteadyTime{2};

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The figures of a trial. Each step is timed from the end of the one before it.
struct Steps {
  Clock::time_point mark;
  Json figures = {};

  void end(const char* step) {
    figures[step] = ms_since(mark);
    mark = Clock::now();
  }

  // Times the first run, which completes the first result, checks it, and times the steady runs.
  void finish(const std::function<void()>& run, const std::function<void()>& check) {
    run();
    end("first_launch_ms");
    figures["first_result_ms"] = figures["load_ms"].get<double>() + figures["first_launch_ms"].get<double>();
    check();
    std::vector<double> steady;
    const auto start = Clock::now();
    do {
      mark = Clock::now();
      run();
      steady.push_back(ms_since(mark));
    } while (steady.size() < kSteadyRuns && Clock::now() - start < kSteadyTime);
    figures["steady_ms"] = builder::median(steady);
  }
};

std::uint32_t number(const std::string& text) {
  return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
}

builder::Session open_session(const ColdJob& job, builder::Device& device, Steps& steps) {
  device = need(builder::device_of(need(need(Bundle::open(job.bundle)).target(number(job.target)))));
  steps.end("platform_ms");
  return need(builder::Session::open(device));
}

void try_clbake(const ColdJob& job, const Problem& problem, Steps& steps) {
  steps.end("start_ms");
  builder::Device device;
  const builder::Session session = open_session(job, device, steps);
  steps.end("context_ms");
  builder::GemmRun gemm_run = need(builder::GemmRun::create(session, device, problem));
  steps.mark = Clock::now();
  Options options;
  options.only_build = !job.variant.empty();  // for the rows of the driver alone
  const Bundle bundle = need(Bundle::open(job.bundle));
  Gemm gemm =
      need(need(Library::create(session.context(), device.id, {bundle}, options)).prepare(problem, job.variant));
  steps.end("load_ms");
  steps.finish([&] { need(gemm_run.run(gemm)); },
               [&] {
                 if (!need(gemm_run.check()).ok()) throw Failure("the first result is wrong");
               });
  steps.figures["origin"] = name(gemm.explanation().origin);
  steps.figures["variant"] = gemm.explanation().variant;
}

void try_peer(const ColdJob& job, const Problem& problem, Steps& steps) {
  const std::unique_ptr<Peer> peer = make_peer(job.peer);
  steps.end("start_ms");
  steps.figures["platform_ms"] = steps.figures["load_ms"] = 0.0;
  if (peer->uses_opencl()) {
    builder::Device device;
    const builder::Session session = open_session(job, device, steps);
    peer->attach(&session);
  } else {
    peer->attach(nullptr);
  }
  steps.end("context_ms");
  peer->set(problem);
  steps.mark = Clock::now();
  steps.finish([&] { peer->run(); }, [&] { check_product(*peer, problem); });
}

}  // namespace

std::vector<std::string> cold_arguments(const ColdJob& job, const std::string& output) {
  const std::chrono::nanoseconds now = Clock::now().time_since_epoch();
  return {"cold", std::to_string(now.count()), job.bundle, job.target, job.size, job.peer, job.variant, output};
}

void cold_worker(const std::vector<std::string>& a) {
  Steps steps{Clock::time_point(std::chrono::nanoseconds(std::strtoll(a[1].c_str(), nullptr, 10)))};
  const ColdJob job = {a[2], a[3], a[4], a[5], a[6]};
  const std::size_t n = number(job.size);
  const Problem problem = builder::tight_problem(Precision::single_precision, n, n, n);
  job.peer.empty() ? try_clbake(job, problem, steps) : try_peer(job, problem, steps);
  write_text(a[7], steps.figures.dump());
}

}  // namespace clbake::tool
