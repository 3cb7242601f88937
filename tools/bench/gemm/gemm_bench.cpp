#include "bench/gemm/gemm_bench.hpp"

#include "bench/alternate.hpp"
#include "cli/arguments.hpp"
#include "cli/cli.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/tuning.hpp>

namespace clbake::tool {
namespace {

// The source, options and tools of a variant's program; empty if the bundle has none for exactly this target.
std::string build_of(const Bundle& bundle, const Target& target, const std::string& name) {
  const Result<std::uint32_t> at = bundle.find_target(target);
  for (std::uint32_t i = 0; at && i < bundle.variant_count(); ++i) {
    const cache::Variant variant = need(bundle.variant(i));
    const Result<cache::EntryInfo> entry = bundle.find_entry(*at, i);
    if (variant.name != name || !entry) continue;
    std::string build = need(bundle.source(variant.source)).text + '\n' + variant.build_options;
    for (const cache::Tool& tool : entry->proof.tools) build += '\n' + tool.name + ' ' + tool.version;
    return build;
  }
  return "";
}

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

// Once for each part: other sizes lack it for the same reason.
void note_missing(GemmBench& bench, const std::string& name, const std::string& part, const std::string& cause) {
  if (bench.noted.insert(name + part).second) bench.report.missing.push_back(name + ": " + part + ": " + cause);
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
      note_missing(bench, bundle.name, builder::kind_name(problem), gemm.status().message());
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
      note_missing(bench, peer->name(), clbake::name(problem.precision), "not in this library's interface");
    } else if (!peer->set(problem)) {
      const std::string size = clbake::tool::name(Size{problem.m, problem.n, problem.k});
      note_missing(bench, peer->name(), builder::kind_name(problem) + ' ' + size,
                   "no proposed algorithm computes this product");
    } else {
      const bool checked = problem.precision == Precision::single_precision && problem.batch == 1 && peer->computes();
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
  time_alternately(calls, report.rounds);

  GemmRow row;
  row.problem = problem;
  row.variant = ours.front().gemm.explanation().variant;
  row.us = builder::median(calls[0].us);
  row.error = ours.front().error;
  if (calls.size() == 1) report.rows.push_back(row);
  for (std::size_t i = 1; i < calls.size(); ++i) {
    const bool is_bundle = i < ours.size();
    row.peer = is_bundle ? ours[i].bundle : others[i - ours.size()]->name();
    row.peer_variant = is_bundle ? ours[i].gemm.explanation().variant : "";
    // Both bundles hold the same program, but for what a compiler does not repeat.
    const std::string build = is_bundle ? build_of(bundles[0].bundle, on.device.target, row.variant) : "";
    row.same_build = is_bundle && row.variant == row.peer_variant && !build.empty() &&
                     build == build_of(bundles[1].bundle, on.device.target, row.variant);
    row.peer_us = builder::median(calls[i].us);
    report.rows.push_back(row);
  }
}

}  // namespace clbake::tool
