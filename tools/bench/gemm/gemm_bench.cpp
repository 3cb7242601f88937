#include "bench/gemm/gemm_bench.hpp"

#include "bench/alternate.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/tuning.hpp>

#include <filesystem>

namespace clbake::tool {
namespace {

// The source, options and tools of a variant's program; empty if the bundle has none for exactly this target.
std::string build_of(const Bundle& bundle, const Target& target, const std::string& name) {
  const Result<std::uint32_t> at = bundle.find_target(target);
  for (std::uint32_t i = 0; at && i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    if (!variant || variant->name != name) continue;
    const Result<cache::EntryInfo> entry = bundle.find_entry(*at, i);
    const Result<cache::Source> source = bundle.source(variant->source);
    if (!entry || !source) return "";
    std::string build = source->text + '\n' + variant->build_options;
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
Result<double> checked_error(builder::GemmRun& gemm_run, Gemm& gemm) {
  Status status = gemm_run.reset();
  if (status) status = gemm_run.run(gemm).status();
  if (!status) return status;
  const Result<builder::Check> check = gemm_run.check();
  if (!check) return check.status();
  if (!check->ok()) return {Code::wrong_result, "wrong result of " + gemm.explanation().variant};
  return check->max_error;
}

// A library that computes something else is no peer. Its products in other precisions and batches are not checked.
Status check_peer(Peer& peer, const Problem& problem) {
  if (problem.precision != Precision::single_precision || problem.batch > 1 || !peer.computes()) return {};
  const Status ran = peer.run();
  return ran ? check_single(peer, problem) : ran;
}

}  // namespace

Result<Served> serve(const BenchDevice& on, const Bundle& bundle, const std::string& file) {
  Options baked_only;
  baked_only.on_miss = OnMiss::fail;
  Result<Library> library = open_library(on, bundle, baked_only);
  if (!library) return library.status();
  return Served{std::filesystem::path(file).filename().string(), bundle, std::move(*library)};
}

GemmBench::GemmBench(const BenchDevice& on, const std::vector<Served>& bundles,
                     const std::vector<std::unique_ptr<Peer>>& peers, std::size_t rounds)
    : on_(on), bundles_(bundles), peers_(peers) {
  report.target = on.device.target;
  report.rounds = rounds;
}

Status GemmBench::measure(const Problem& problem, const std::string& variant) {
  Result<std::vector<Entrant>> ours = entrants(problem, variant);
  if (!ours) return ours.status();
  if (ours->empty()) return {};
  builder::GemmRunOptions options;
  options.check_limit = builder::kPatientCheck;
  Result<builder::GemmRun> gemm_run = builder::GemmRun::create(on_.session, on_.device, problem, options);
  if (!gemm_run) return gemm_run.status();
  std::vector<TimedCall> calls;
  for (Entrant& entrant : *ours) {
    const Result<double> error = checked_error(*gemm_run, entrant.gemm);
    if (!error) return error.status().within(entrant.bundle);
    entrant.error = *error;
    calls.push_back({[&gemm_run, &entrant] { return gemm_run->time(entrant.gemm).status(); }, {}});
  }
  const Result<std::vector<Peer*>> peers = peers_for(problem);
  if (!peers) return peers.status();
  for (Peer* peer : *peers) calls.push_back({[peer] { return peer->run(); }, {}});
  const Status timed = time_alternately(calls, report.rounds);
  if (!timed) return timed;

  GemmRow row;
  row.problem = problem;
  row.variant = ours->front().gemm.explanation().variant;
  row.us = builder::median(calls[0].us);
  row.error = ours->front().error;
  if (calls.size() == 1) report.rows.push_back(row);
  for (std::size_t i = 1; i < calls.size(); ++i) {
    const bool is_bundle = i < ours->size();
    row.peer = is_bundle ? (*ours)[i].bundle : (*peers)[i - ours->size()]->name();
    row.peer_variant = is_bundle ? (*ours)[i].gemm.explanation().variant : "";
    row.same_build = is_bundle && row.variant == row.peer_variant && same_build(row.variant);
    row.peer_us = builder::median(calls[i].us);
    report.rows.push_back(row);
  }
  return {};
}

// None when one of the bundles lacks the problem. The variant is that of the first bundle only.
Result<std::vector<GemmBench::Entrant>> GemmBench::entrants(const Problem& problem, const std::string& variant) {
  std::vector<Entrant> list;
  for (const Served& bundle : bundles_) {
    Result<Gemm> gemm = bundle.library.prepare(problem, list.empty() ? variant : std::string());
    if (gemm) {
      list.push_back({bundle.name, std::move(*gemm), 0});
      continue;
    }
    if (!is_missing(gemm.status())) return gemm.status().within(bundle.name);
    note_missing(bundle.name, builder::kind_name(problem), gemm.status().message());
    lacks_kinds = true;
    return std::vector<Entrant>();
  }
  return list;
}

// Those that compute the problem, with its matrices.
Result<std::vector<Peer*>> GemmBench::peers_for(const Problem& problem) {
  std::vector<Peer*> able;
  for (const std::unique_ptr<Peer>& peer : peers_) {
    if (!peer->has(problem.precision)) {
      note_missing(peer->name(), clbake::name(problem.precision), "not in this library's interface");
      continue;
    }
    Status status = peer->set(problem);
    if (status.code() == Code::not_found) {
      const std::string size = clbake::tool::name(Size{problem.m, problem.n, problem.k});
      note_missing(peer->name(), builder::kind_name(problem) + ' ' + size, status.message());
      continue;
    }
    if (status) status = check_peer(*peer, problem);
    if (!status) return status;
    able.push_back(peer.get());
  }
  return able;
}

// Once for each part: other sizes lack it for the same reason.
void GemmBench::note_missing(const std::string& name, const std::string& part, const std::string& cause) {
  if (noted_.insert(name + part).second) report.missing.push_back(name + ": " + part + ": " + cause);
}

// Both bundles hold the same program of this variant, but for what a compiler does not repeat.
bool GemmBench::same_build(const std::string& variant) const {
  const std::string build = build_of(bundles_[0].bundle, report.target, variant);
  return !build.empty() && build == build_of(bundles_[1].bundle, report.target, variant);
}

}  // namespace clbake::tool
