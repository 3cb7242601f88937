#include "bench/gemm_bench.hpp"

#include "cli/arguments.hpp"
#include "cli/cli.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/tuning.hpp>

namespace clbake::tool {
namespace {

// Not baked: left out. Any other failure ends the benchmark.
bool is_missing(const Status& status) {
  const Code code = status.code();
  return code == Code::no_target || code == Code::other_driver || code == Code::no_variant || code == Code::no_entry;
}

// The largest error of one product.
double checked_error(builder::GemmRun& gemm_run, Gemm& gemm) {
  need(gemm_run.reset());
  need(gemm_run.run(gemm));
  const builder::Check check = need(gemm_run.check());
  if (!check.ok()) throw Failure("wrong result of " + gemm.explanation().variant);
  return check.max_error;
}

// A bundle's kernels for the problem.
struct Entrant {
  std::string bundle;
  Gemm gemm;
  double error;
};

// None when one of the bundles lacks the problem. The variant is that of the first bundle only.
std::vector<Entrant> entrants(GemmBench& bench, const Problem& problem, const std::string& variant) {
  std::vector<Entrant> list;
  for (const Served& bundle : bench.bundles) {
    Result<Gemm> gemm = bundle.library.prepare(problem, list.empty() ? variant : std::string());
    if (!gemm && is_missing(gemm.status())) {
      bench.missing.emplace(bundle.name + ": " + builder::kind_name(problem), gemm.status().message());
      bench.lacks_kinds = true;
      return {};
    }
    list.push_back({bundle.name, need(std::move(gemm), bundle.name), 0});
  }
  return list;
}

// Those that compute the problem, with its matrices. A library that computes something else is no peer; its products in
// other precisions than single, and its batches, are not checked.
std::vector<Peer*> peers_for(GemmBench& bench, const Problem& problem) {
  std::vector<Peer*> able;
  for (const std::unique_ptr<Peer>& peer : bench.peers) {
    if (!peer->has(problem.precision)) {
      bench.missing.emplace(peer->name() + (": " + std::string(clbake::name(problem.precision))),
                            "not in this library's interface");
    } else if (!peer->set(problem)) {
      bench.missing.emplace(peer->name() + (": " + builder::name(builder::shape_of(problem))),
                            "no proposed algorithm computes this product");
    } else {
      const bool checked = problem.precision == Precision::single_precision && problem.batch == 1;
      if (checked) check_single(*peer, problem);
      able.push_back(peer.get());
    }
  }
  return able;
}

}  // namespace

void GemmBench::measure(const Problem& problem, const std::string& variant) {
  std::vector<Entrant> ours = entrants(*this, problem, variant);
  if (ours.empty()) return;
  builder::GemmRunOptions options;
  options.check_limit = builder::kPatientCheck;
  builder::GemmRun gemm_run = need(builder::GemmRun::create(on.session, on.device, problem, options));
  std::vector<TimedCall> calls;
  for (Entrant& entrant : ours) {
    entrant.error = checked_error(gemm_run, entrant.gemm);
    calls.push_back({[&] { need(gemm_run.time(entrant.gemm)); }});
  }
  const std::vector<Peer*> others = peers_for(*this, problem);
  for (Peer* peer : others) calls.push_back({[peer] { peer->run(); }});
  time_alternately(calls, rounds);

  const auto speed = [&](double us) { return builder::gflops(builder::shape_of(problem), us); };
  const double us = builder::median(calls[0].us);
  const bool fused = problem.epilogue.bias != Bias::none;
  const Json row = {
      {"precision", clbake::name(problem.precision)},
      {"trans", trans_name(problem)},
      {"m", problem.m},
      {"n", problem.n},
      {"k", problem.k},
      {"batch", problem.batch},
      {"activation", fused ? Json(activation_words[static_cast<std::size_t>(problem.epilogue.activation)]) : Json()},
      {"variant", ours.front().gemm.explanation().variant},
      {"median_us", us},
      {"gflops", speed(us)},
      {"error", ours.front().error},
      {"peer", nullptr},
      {"peer_variant", nullptr},
      {"peer_gflops", nullptr},
      {"ratio", nullptr}};
  if (calls.size() == 1) rows.push_back(row);
  for (std::size_t i = 1; i < calls.size(); ++i) {
    const bool is_bundle = i < ours.size();
    const double peer_us = builder::median(calls[i].us);
    Json& compared = rows.emplace_back(row);
    compared["peer"] = is_bundle ? ours[i].bundle : others[i - ours.size()]->name();
    if (is_bundle) compared["peer_variant"] = ours[i].gemm.explanation().variant;
    compared["peer_gflops"] = speed(peer_us);
    compared["ratio"] = peer_us / us;
  }
}

}  // namespace clbake::tool
