#include "device/worker_calls.hpp"

#include <algorithm>
#include <filesystem>

namespace clbake::builder {
namespace {

bool exited_with(const Exit& exit, int code) { return exit.signal == 0 && !exit.timed_out && exit.code == code; }

}  // namespace

std::string makers(const cache::Proof& proof) { return proof.tools.substr(0, proof.tools.find(kProvenOn)); }

bool all_proven(const Job& job) {
  return !job.entries.empty() && std::all_of(job.entries.begin(), job.entries.end(),
                                             [](const cache::Entry& entry) { return entry.proof.proven; });
}

bool noise_possible(const Job& job) {
  return std::any_of(job.entries.begin(), job.entries.end(), [](const cache::Entry& entry) {
    return !entry.proof.jit_free && entry.form == cache::Form::native;
  });
}

void sign(Job& job) {
  for (cache::Entry& entry : job.entries) {
    std::string& tools = entry.proof.tools;
    if (tools.rfind(kTool, 0) != 0) tools.insert(0, kTool + std::string(tools.empty() ? "" : ", "));
  }
}

void mark_unproven(Job& job, const std::string& tools) {
  for (cache::Entry& entry : job.entries) {
    entry.proof = {};
    entry.proof.tools = tools;
    entry.proof.note = "not proven: compiled for " + job.target.architecture + ", which was not here";
  }
  sign(job);
}

bool is_full_disk(const Exit& exit) { return exited_with(exit, kWorkerIoExit); }
bool is_wrong_result(const Exit& exit) { return exited_with(exit, kWorkerWrongExit); }
bool is_near_miss(const Exit& exit) { return exited_with(exit, kWorkerNearMissExit); }

Command worker_command(const std::string& worker, const std::vector<std::string>& arguments,
                       const ScratchDirectory& cache, const std::string& log) {
  std::error_code ignored;
  std::filesystem::remove(arguments.back(), ignored);
  Command command;
  command.arguments = {worker, "worker"};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.environment = driver_cache_environment(cache.path());
  for (auto& variable : steady_environment()) command.environment.push_back(std::move(variable));
  command.log = log;
  return command;
}

}  // namespace clbake::builder
