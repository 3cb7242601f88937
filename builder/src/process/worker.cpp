#include "process/worker.hpp"

#include <clbake/builder/platforms.hpp>

#include <filesystem>
#include <fstream>

namespace clbake::builder::process {
namespace {

constexpr std::uintmax_t kLeastSpace = 1 << 20;  // less than a worker's files and a driver's cache need

namespace fs = std::filesystem;

// True when the disk of the worker's files is full. A driver whose cache does not fit ends the process in its own ways.
bool no_space(const Command& command) {
  std::error_code error;
  const fs::space_info space = fs::space(fs::path(command.log).parent_path(), error);
  return !error && space.available < kLeastSpace;
}

bool exited_with(const Exit& exit, int code) { return exit.signal == 0 && !exit.timed_out && exit.code == code; }

}  // namespace

Command worker_command(const std::string& worker, const std::vector<std::string>& arguments,
                       const ScratchDirectory& cache, const std::string& log) {
  std::error_code ignored;
  fs::remove(arguments.back(), ignored);
  Command command;
  command.arguments = {worker, "worker"};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.environment = driver_cache_environment(cache.path());
  for (auto& variable : steady_environment()) command.environment.push_back(std::move(variable));
  command.log = log;
  return command;
}

std::string failure_of(const Exit& exit, const Command& command, std::chrono::seconds timeout) {
  if (!exit.timed_out && exit.code != kWorkerIoExit && no_space(command)) {
    return "no space left on the disk of " + fs::path(command.log).parent_path().string();
  }
  std::string cause = describe(exit, command, timeout);
  if (exit.signal == 0 && !exit.timed_out) return cause;  // the last line of the log
  const std::string mark = kTriedMark;
  std::string tried;
  std::ifstream log(command.log);
  for (std::string line; std::getline(log, line);) {
    if (line.rfind(mark, 0) == 0) tried = line.substr(mark.size());
  }
  if (tried.empty()) return cause;
  return tried + ": " + cause + (exit.timed_out ? "" : "; perhaps the kernel accesses memory outside of its buffers");
}

bool is_full_disk(const Exit& exit, const Command& command) {
  return exited_with(exit, kWorkerIoExit) || (!exit.ok() && !exit.timed_out && no_space(command));
}
bool is_wrong_result(const Exit& exit) { return exited_with(exit, kWorkerWrongExit); }

}  // namespace clbake::builder::process
