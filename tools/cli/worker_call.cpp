#include "cli/worker_call.hpp"

#include <clbake/builder/platforms.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/scratch.hpp>

#include <atomic>
#include <fstream>

namespace clbake::tool {
namespace {

constexpr std::chrono::seconds kTimeout{180};

builder::Command worker_command(const std::vector<std::string>& arguments, const std::string& cache,
                                const std::string& log) {
  builder::Command command;
  command.arguments = {builder::own_path(), "worker"};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.environment = builder::driver_cache_environment(cache);
  for (auto& variable : builder::steady_environment()) command.environment.push_back(std::move(variable));
  command.log = log;
  return command;
}

}  // namespace

Result<Json> read_json(const std::string& path) {
  std::ifstream file(path);
  Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded()) return {Code::malformed, path + ": the worker wrote no result"};
  return json;
}

Status call_worker(const std::vector<std::string>& arguments, const std::string& cache, const std::string& log) {
  static const std::atomic<bool> never{false};
  const builder::Command command = worker_command(arguments, cache, log);
  Status result;
  std::vector<builder::Command> commands = {command};
  const Status ran = builder::run_all(commands, 1, kTimeout, never, [&](std::size_t, const builder::Exit& exit) {
    if (!exit.ok()) result = Status(Code::opencl, builder::describe(exit, command, kTimeout));
  });
  return ran ? result : ran;
}

}  // namespace clbake::tool
