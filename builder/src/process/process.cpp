#include <clbake/builder/process.hpp>

#include <clbake/builder/platforms.hpp>
#include <clbake/layer_off.hpp>
#include "process/time_limit.hpp"

#include <clbake/os/environment.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/libraries.hpp>
#include <clbake/os/line_channel.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/program.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

namespace clbake::builder::process {
namespace {

namespace fs = std::filesystem;

using Variables = std::map<std::string, std::string>;

// The environment as it was at start-up. Khronos' ICD loader splits OCL_ICD_FILENAMES in place, so that a child started
// after the first OpenCL call would see the first driver only.
const Variables environment_at_start = os::variables();

// The caller's environment, undamaged, with the command's variables on top.
Variables merged_environment(const Command& command) {
  Variables merged(command.environment.begin(), command.environment.end());
  merged.insert(environment_at_start.begin(), environment_at_start.end());
  const Variables now = os::variables();
  merged.insert(now.begin(), now.end());  // insert keeps what is there
  return merged;
}

}  // namespace

os::Launch launch_of(const Command& command) {
  return {command.arguments, merged_environment(command), command.log, command.directory, !command.with_caller};
}

namespace {

// The most that one process does: drivers leak.
constexpr unsigned kMostServed = 100;

// A worker that does one command after the other.
struct Server {
  std::string host;
  os::LineChannel channel;
  unsigned served = 0;
};

struct Running {
  std::size_t index = 0;
  std::variant<os::Child, Server> process;
  TimeLimit limit;

  const os::Child& child() const {
    const auto* const server = std::get_if<Server>(&process);
    return server ? server->channel.child() : std::get<os::Child>(process);
  }
};

// Behind the executable and "worker".
std::string line_of(const Command& command) {
  std::string line;
  for (std::size_t i = 2; i < command.arguments.size(); ++i) line += (i > 2 ? "\t" : "") + command.arguments[i];
  return line;
}

// The running children of one run_all; none survives it.
class Pool {
 public:
  std::size_t size() const { return running_.size(); }

  Status start(std::size_t index, const Command& command, std::chrono::seconds timeout, bool alone = false) {
    if (!command.host.empty() && !alone) return serve(index, command, timeout);
    Result<os::Child> child = os::Child::start(launch_of(command));
    if (!child) return child.status();
    running_.push_back({index, std::move(*child), TimeLimit(timeout)});
    return {};
  }

  // Removes one child that has ended or exceeded its timeout, or a server's command. False when there is none now.
  // `again`: it failed in a process that had done others, and is to be started alone.
  bool reap(std::size_t& index, Exit& exit, bool& again) {
    for (auto running = running_.begin(); running != running_.end(); ++running) {
      const std::optional<Exit> ended = end_of(*running, again);
      if (!ended) continue;
      exit = *ended;
      index = running->index;
      running_.erase(running);
      return true;
    }
    return false;
  }

 private:
  Status serve(std::size_t index, const Command& command, std::chrono::seconds timeout) {
    const auto idle = std::find_if(idle_.begin(), idle_.end(), [&](const Server& s) { return s.host == command.host; });
    const bool is_new = idle == idle_.end();
    Command served = command;
    served.arguments = {command.arguments[0], command.arguments[1], kServe};
    Result<os::LineChannel> started =
        is_new ? os::LineChannel::start(launch_of(served)) : Result<os::LineChannel>(std::move(idle->channel));
    if (!started) return started.status();
    Server server{command.host, std::move(*started), is_new ? 0 : idle->served};
    if (!is_new) idle_.erase(idle);
    server.channel.send(line_of(command));
    const TimeLimit limit(timeout, TimeLimit::Clock::now(), server.channel.child().processor_time());
    running_.push_back({index, std::move(server), limit});
    return {};
  }

  std::optional<Exit> end_of(Running& running, bool& again) {
    const bool late = running.limit.is_over(running.child());
    again = false;
    if (auto* const child = std::get_if<os::Child>(&running.process)) {
      const std::optional<os::Exit> ended = late ? child->kill() : child->ended();
      if (!ended) return std::nullopt;
      Exit exit = *ended;
      exit.timed_out = late && os::was_killed(exit);
      return exit;
    }
    Server& server = std::get<Server>(running.process);
    if (const std::optional<std::string> line = server.channel.receive()) {
      if (*line == kDoneLine && ++server.served < kMostServed) idle_.push_back(std::move(server));
      return Exit();
    }
    const std::optional<os::Exit> ended = server.channel.ended();
    if (!ended && !late) return std::nullopt;
    Exit exit = ended ? *ended : os::Exit();
    exit.timed_out = !ended;
    again = ended && server.served > 0;
    return exit;
  }

  std::vector<Running> running_;
  std::vector<Server> idle_;
};

std::string last_line(const std::string& path) {
  std::ifstream file(os::native(path));
  std::string line;
  std::string last;
  while (std::getline(file, line)) {
    if (!line.empty()) last = line;
  }
  return last;
}

constexpr std::uintmax_t kLeastSpace = 1 << 20;  // less than a worker's files and a driver's cache need

// True when the disk of the worker's files is full. A driver whose cache does not fit ends the process in its own ways.
bool no_space(const Command& command) {
  std::error_code error;
  const fs::space_info space = fs::space(os::native(os::parent_of(command.log)), error);
  return !error && space.available < kLeastSpace;
}

bool exited_with(const Exit& exit, int code) { return exit.signal == 0 && !exit.timed_out && exit.code == code; }

}  // namespace

std::string describe(const Exit& exit, const Command& command, std::chrono::seconds timeout) {
  if (exit.timed_out) return "no end after " + std::to_string(timeout.count()) + " s";
  const std::string line = exit.signal == 0 ? last_line(command.log) : std::string();
  return line.empty() ? os::describe(exit) : line;
}

Status run_all(std::vector<Command>& commands, unsigned parallel, std::chrono::seconds timeout,
               const std::atomic<bool>& cancel, const std::function<void(std::size_t, const Exit&)>& done) {
  Pool pool;
  std::size_t next = 0;
  while (next < commands.size() || pool.size() > 0) {
    if (cancel) return {Code::cancelled, "interrupted"};
    while (next < commands.size() && pool.size() < std::max(1u, parallel)) {
      const Status started = pool.start(next, commands[next], timeout);
      if (!started) return started;
      ++next;
    }
    std::size_t index = 0;
    Exit exit;
    bool again = false;
    if (pool.reap(index, exit, again)) {
      const Status started = again ? pool.start(index, commands[index], timeout, true) : Status();
      if (!started) return started;
      if (!again) done(index, exit);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  return {};
}

Result<Exit> run(const Command& command, std::chrono::seconds timeout, const std::atomic<bool>& cancel) {
  std::vector<Command> commands = {command};
  Exit result;
  const Status ran = run_all(commands, 1, timeout, cancel, [&](std::size_t, const Exit& exit) { result = exit; });
  if (!ran) return ran;
  return result;
}

Status start_anew(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {os::path_of_program()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const Status failed = os::become(all, os::variables());
  return {failed.code(), all[0] + ": cannot start: " + failed.message()};
}

Command worker_command(const std::string& worker, const std::vector<std::string>& arguments,
                       const ScratchDirectory& cache, const std::string& log) {
  os::remove_file(arguments.back());
  Command command;
  command.arguments = {worker, "worker"};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.environment = driver_cache_environment(cache.path());
  for (auto& variable : steady_environment()) command.environment.push_back(std::move(variable));
  for (const auto& [name, value] : kLayerOff) command.environment.emplace_back(name, value);
  command.log = log;
  return command;
}

std::string last_tried(const std::string& log) {
  const std::string mark = kTriedMark;
  std::string tried;
  std::ifstream file(os::native(log));
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(mark, 0) == 0) tried = line.substr(mark.size());
  }
  return tried;
}

std::string failure_of(const Exit& exit, const Command& command, std::chrono::seconds timeout) {
  if (!exit.timed_out && exit.code != kWorkerIoExit && no_space(command)) {
    return "no space left on the disk of " + os::parent_of(command.log);
  }
  std::string cause = describe(exit, command, timeout);
  if (exit.signal == 0 && !exit.timed_out) return cause;  // the last line of the log
  const std::string tried = last_tried(command.log);
  if (tried.empty()) return cause;
  return tried + ": " + cause + (exit.timed_out ? "" : "; perhaps the kernel accesses memory outside of its buffers");
}

bool is_full_disk(const Exit& exit, const Command& command) {
  return exited_with(exit, kWorkerIoExit) || (!exit.ok() && !exit.timed_out && no_space(command));
}
bool is_wrong_result(const Exit& exit) { return exited_with(exit, kWorkerWrongExit); }

}  // namespace clbake::builder::process
