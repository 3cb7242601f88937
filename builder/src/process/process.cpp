#include <clbake/builder/process.hpp>

#include <clbake/builder/platforms.hpp>
#include <clbake/layer_off.hpp>
#include "process/time_limit.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <thread>

extern char** environ;

namespace clbake::builder::process {
namespace {

namespace fs = std::filesystem;

// Tells a child who started it.
constexpr const char* kParentVariable = "CLBAKE_PARENT";

struct Child {
  std::size_t index = 0;
  pid_t pid = 0;
  bool leads_group = true;
  TimeLimit limit;
};

using Variables = std::map<std::string, std::string>;

Variables variables_of(char** entries) {
  Variables variables;
  for (; *entries; ++entries) {
    const std::string text = *entries;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return variables;
}

// The environment as it was at start-up. Khronos' ICD loader splits OCL_ICD_FILENAMES in place, so that a child started
// after the first OpenCL call would see the first driver only.
const Variables environment_at_start = variables_of(environ);

// The caller's environment, undamaged, with the command's variables on top; "NAME=value".
std::vector<std::string> merged_environment(const Command& command) {
  Variables merged(command.environment.begin(), command.environment.end());
  merged[kParentVariable] = std::to_string(getpid());
  merged.insert(environment_at_start.begin(), environment_at_start.end());
  const Variables now = variables_of(environ);
  merged.insert(now.begin(), now.end());  // insert keeps what is there
  std::vector<std::string> texts;
  texts.reserve(merged.size());
  for (const auto& [name, value] : merged) texts.push_back(name + "=" + value);
  return texts;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> list;
  list.reserve(strings.size() + 1);
  for (const std::string& s : strings) list.push_back(const_cast<char*>(s.c_str()));
  list.push_back(nullptr);
  return list;
}

}  // namespace

// The child gets its own process group unless it is `with_caller`: then the terminal's Ctrl-C reaches only the parent,
// which decides what to do, and killing the group also kills what the driver started.
Result<pid_t> spawn(const Command& command, int standard_input) {
  const std::vector<std::string> environment = merged_environment(command);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  if (standard_input >= 0) {
    posix_spawn_file_actions_adddup2(&actions, standard_input, 0);
  } else {
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_addopen(&actions, 1, command.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);  // files that this process's drivers opened
  if (!command.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, command.directory.c_str());
  if (!command.with_caller) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, command.arguments.front().c_str(), &actions, &attributes,
                                pointers(command.arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return {Code::io, command.arguments.front() + ": cannot start: " + std::strerror(error)};
  return pid;
}

Exit exit_of(int status) {
  Exit exit;
  if (WIFSIGNALED(status)) exit.signal = WTERMSIG(status);
  if (WIFEXITED(status)) exit.code = WEXITSTATUS(status);
  return exit;
}

namespace {

void kill_child(const Child& child) { kill(child.leads_group ? -child.pid : child.pid, SIGKILL); }

// The running children of one run_all; none survives it.
class Pool {
 public:
  ~Pool() {
    for (const Child& child : running_) {
      kill_child(child);
      waitpid(child.pid, nullptr, 0);
    }
  }

  std::size_t size() const { return running_.size(); }

  Status start(std::size_t index, const Command& command, std::chrono::seconds timeout) {
    const Result<pid_t> pid = spawn(command);
    if (!pid) return pid.status();
    running_.push_back({index, *pid, !command.with_caller, TimeLimit(timeout)});
    return {};
  }

  // Removes one child that has ended or exceeded its timeout. False when there is none now.
  bool reap(std::size_t& index, Exit& exit) {
    for (auto child = running_.begin(); child != running_.end(); ++child) {
      int status = 0;
      const bool late = child->limit.is_over(child->pid);
      if (late) kill_child(*child);
      if (waitpid(child->pid, &status, late ? 0 : WNOHANG) != child->pid) continue;
      exit = exit_of(status);
      exit.timed_out = late && exit.signal == SIGKILL;
      index = child->index;
      running_.erase(child);
      return true;
    }
    return false;
  }

 private:
  std::vector<Child> running_;
};

std::string last_line(const std::string& path) {
  std::ifstream file(path);
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
  const fs::space_info space = fs::space(fs::path(command.log).parent_path(), error);
  return !error && space.available < kLeastSpace;
}

bool exited_with(const Exit& exit, int code) { return exit.signal == 0 && !exit.timed_out && exit.code == code; }

}  // namespace

std::string describe(const Exit& exit, const Command& command, std::chrono::seconds timeout) {
  if (exit.timed_out) return "no end after " + std::to_string(timeout.count()) + " s";
  if (exit.signal != 0) {
    return "killed by signal " + std::to_string(exit.signal) + " (" + strsignal(exit.signal) + ")";
  }
  const std::string line = last_line(command.log);
  return line.empty() ? "exit status " + std::to_string(exit.code) : line;
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
    if (pool.reap(index, exit)) {
      done(index, exit);
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

void end_with_parent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const char* parent = std::getenv(kParentVariable);  // the parent may have died before that call
  if (parent && parent != std::to_string(getppid())) std::_Exit(1);
}

Status start_anew(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {own_path()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  execv(all[0].c_str(), pointers(all).data());
  return {Code::io, all[0] + ": cannot start: " + std::strerror(errno)};
}

std::string own_path() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

Command worker_command(const std::string& worker, const std::vector<std::string>& arguments,
                       const ScratchDirectory& cache, const std::string& log) {
  std::error_code ignored;
  fs::remove(arguments.back(), ignored);
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
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(mark, 0) == 0) tried = line.substr(mark.size());
  }
  return tried;
}

std::string failure_of(const Exit& exit, const Command& command, std::chrono::seconds timeout) {
  if (!exit.timed_out && exit.code != kWorkerIoExit && no_space(command)) {
    return "no space left on the disk of " + fs::path(command.log).parent_path().string();
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
