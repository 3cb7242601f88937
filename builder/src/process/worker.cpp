#include "process/worker.hpp"

#include <filesystem>
#include <fstream>

namespace clbake::builder {
namespace {

bool exited_with(const Exit& exit, int code) { return exit.signal == 0 && !exit.timed_out && exit.code == code; }

}  // namespace

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

std::string failure_of(const Exit& exit, const Command& command, std::chrono::seconds timeout) {
  std::string cause = describe(exit, command, timeout);
  if (exit.signal == 0 && !exit.timed_out) return cause;  // the last line of the log
  const std::string mark = kTriedMark;
  std::string tried;
  std::ifstream log(command.log);
  for (std::string line; std::getline(log, line);) {
    if (line.rfind(mark, 0) == 0) tried = line.substr(mark.size());
  }
  return tried.empty() ? cause : tried + ": " + cause;
}

bool is_full_disk(const Exit& exit) { return exited_with(exit, kWorkerIoExit); }
bool is_wrong_result(const Exit& exit) { return exited_with(exit, kWorkerWrongExit); }
bool is_near_miss(const Exit& exit) { return exited_with(exit, kWorkerNearMissExit); }

}  // namespace clbake::builder
