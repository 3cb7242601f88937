#include "recording/under_layer.hpp"

#include "cli/cli.hpp"

#include <clbake/builder/process.hpp>

#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace clbake::tool {
namespace {

namespace fs = std::filesystem;

// Beside the command, where an installation has libraries, or where a build leaves it.
std::string library_path(const std::string& file) {
  const fs::path folder = fs::path(builder::process::own_path()).parent_path();
  for (const char* place : {".", "../" CLBAKE_LIBRARY_FOLDER, "../lib", "../runtime/layer"}) {
    const fs::path path = (folder / place / file).lexically_normal();
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) return path.string();
  }
  throw Failure(file + " is not installed beside this command");
}

volatile pid_t child = 0;

void pass_on(int signal) {
  if (child > 0) ::kill(child, signal);
}

// The parent's part in signals, as long as this lives. Those that it was started to ignore, as by nohup, stay ignored.
class Signals {
 public:
  Signals() {
    struct sigaction action = {};
    action.sa_handler = SIG_IGN;
    for (const int signal : {SIGINT, SIGQUIT}) ::sigaction(signal, &action, old(signal));
    action.sa_handler = pass_on;
    for (const int signal : {SIGTERM, SIGHUP}) {
      ::sigaction(signal, nullptr, old(signal));
      if (!was_ignored(signal)) ::sigaction(signal, &action, nullptr);
    }
  }
  ~Signals() {
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) ::sigaction(signal, old(signal), nullptr);
    child = 0;
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  bool was_ignored(int signal) const { return old_[signal].sa_handler == SIG_IGN; }

 private:
  struct sigaction* old(int signal) {
    return &old_[signal];
  }
  struct sigaction old_[32] = {};
};

// The variables of this process, but for those that are set anew.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> all;
  for (char** at = environ; *at; ++at) {
    const std::string line = *at;
    const bool replaced = std::any_of(variables.begin(), variables.end(), [&](const auto& variable) {
      return line.compare(0, variable.first.size() + 1, variable.first + "=") == 0;
    });
    if (!replaced) all.push_back(line);
  }
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

using Variables = std::vector<std::pair<std::string, std::string>>;

// True unless the loader that a program here gets is one without layers: then it does not know the variable's name.
bool loader_has_layers() {
  void* const loader = ::dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_LOCAL);
  void* const function = loader ? ::dlsym(loader, "clGetPlatformIDs") : nullptr;
  Dl_info info = {};
  if (!function || ::dladdr(function, &info) == 0) return true;
  std::ifstream file(info.dli_fname, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return bytes.find("OPENCL_LAYERS") != std::string::npos;
}

// The layer comes before those that are there.
Variables with_layer(Variables variables) {
  const bool layers = loader_has_layers();
  const char* const name = layers ? "OPENCL_LAYERS" : "LD_PRELOAD";
  const char* const others = std::getenv(name);
  const std::string own = library_path(layers ? "libclbake-layer.so" : "libclbake-preload.so");
  variables.emplace_back(name, own + (others && *others ? ":" + std::string(others) : ""));
  return variables;
}

[[noreturn]] void fail_to_start(const std::string& program, int error) {
  throw Failure(program + ": cannot be started: " + std::strerror(error));
}

// With the signals' actions from before this command.
int spawn(const Signals& signals, std::vector<std::string> command, std::vector<std::string> environment) {
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t own;
  ::sigemptyset(&own);
  ::sigaddset(&own, SIGXFSZ);
  for (const int signal : {SIGINT, SIGQUIT}) {
    if (!signals.was_ignored(signal)) ::sigaddset(&own, signal);
  }
  ::posix_spawnattr_setsigdefault(&attributes, &own);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t started = 0;
  const int error = ::posix_spawnp(&started, command[0].c_str(), nullptr, &attributes, pointers(command).data(),
                                   pointers(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  child = started;
  return error;
}

}  // namespace

WithCommand split_command(const std::vector<std::string>& arguments) {
  const auto at = std::find(arguments.begin(), arguments.end(), "--");
  const bool asks = std::find(arguments.begin(), at, "--help") != at || std::find(arguments.begin(), at, "-h") != at;
  if (at == arguments.end() && !asks) throw UsageError("'--' must stand before the program to run");
  if (at != arguments.end() && at + 1 == arguments.end()) throw UsageError("no program stands behind '--'");
  return {{arguments.begin(), at}, {at == arguments.end() ? at : at + 1, arguments.end()}};
}

int run_under_layer(const std::vector<std::string>& command,
                    const std::vector<std::pair<std::string, std::string>>& environment) {
  const Variables variables = with_layer(environment);
  const Signals signals;
  const int error = spawn(signals, command, environment_with(variables));
  if (error != 0) fail_to_start(command[0], error);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void become_under_layer(const std::vector<std::string>& command,
                        const std::vector<std::pair<std::string, std::string>>& environment) {
  Variables variables = with_layer(environment);
  if (!std::getenv("CLBAKE_LEARNER")) variables.emplace_back("CLBAKE_LEARNER", builder::process::own_path());
  std::vector<std::string> words = command;
  std::vector<std::string> all = environment_with(variables);
  ::signal(SIGXFSZ, SIG_DFL);  // as it was before this command began
  ::execvpe(words[0].c_str(), pointers(words).data(), pointers(all).data());
  fail_to_start(command[0], errno);
}

}  // namespace clbake::tool
