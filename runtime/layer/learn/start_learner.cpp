#include "learn/start_learner.hpp"

#include <clbake/layer_off.hpp>

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

extern char** environ;

// The thread sanitizer's runtime takes `clone` for a fork, after which it ends a program that starts threads. This is
// glibc's other name for it.
#ifdef __GLIBC__
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...) noexcept;
#else
#define __clone clone
#endif

namespace clbake::learn {
namespace {

constexpr std::size_t kStack = std::size_t{64} << 10;  // bytes, of a function that calls posix_spawn

bool begins_with(const char* text, const char* prefix) { return std::strncmp(text, prefix, std::strlen(prefix)) == 0; }

bool is_for_layers(const char* variable) {
  return begins_with(variable, "OPENCL_LAYERS=") || begins_with(variable, "OPENCL_LAYER_PATH=") ||
         begins_with(variable, "LD_PRELOAD=") || begins_with(variable, "CLBAKE_");
}

// `off`: gets the settings, which the result points into.
std::vector<char*> environment_without_layers(std::vector<std::string>& off) {
  for (const auto& [name, value] : kLayerOff) off.push_back(std::string(name) + "=" + value);
  std::vector<char*> kept;
  for (char** variable = environ; variable && *variable; ++variable) {
    if (!is_for_layers(*variable)) kept.push_back(*variable);
  }
  for (std::string& setting : off) kept.push_back(setting.data());
  kept.push_back(nullptr);
  return kept;
}

std::vector<std::string> arguments_of(const SenderSettings& settings) {
  std::vector<std::string> arguments = {settings.learner, "learn", "--overlay", settings.overlay};
  if (settings.bytes != 0) {
    arguments.emplace_back("--max-bytes");
    arguments.push_back(std::to_string(settings.bytes));
  }
  if (!settings.log.empty()) {
    arguments.emplace_back("--log");
    arguments.push_back(settings.log);
  }
  return arguments;
}

// All that posix_spawn needs, made beforehand: the process that calls it shares the program's memory.
class Plan {
 public:
  Plan(const SenderSettings& settings, int socket) : texts_(arguments_of(settings)) {
    for (std::string& text : texts_) arguments_.push_back(text.data());
    arguments_.push_back(nullptr);
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, socket, 0);
    posix_spawn_file_actions_addopen(&actions_, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_,
                             static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  // In the process between the program and the learner.
  void spawn() {
    pid_t learner = 0;
    error_ = posix_spawn(&learner, arguments_[0], &actions_, &attributes_, arguments_.data(), environment_.data());
  }
  int error() const { return error_; }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> arguments_;
  std::vector<std::string> off_;
  std::vector<char*> environment_ = environment_without_layers(off_);
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  int error_ = ECHILD;  // until posix_spawn has set it
};

int run_plan(void* plan) {
  static_cast<Plan*>(plan)->spawn();
  return 0;
}

// The learner is a grandchild: the process between ends at once, so that init waits for the learner. That process has
// no exit signal: the program gets no SIGCHLD, and its own calls of wait() do not see it. It shares the program's
// memory and stops the calling thread while it runs, as vfork's does, so that no page table is copied.
int run_between(Plan& plan) {
  void* const stack = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return errno;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of the program may run there
  const int child = __clone(run_plan, static_cast<char*>(stack) + kStack, CLONE_VM | CLONE_VFORK, &plan);
  int error = child < 0 ? errno : 0;
  while (child >= 0 && waitpid(child, nullptr, static_cast<int>(__WCLONE)) < 0 && errno == EINTR) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  munmap(stack, kStack);
  if (error == 0) error = plan.error();
  return error;
}

}  // namespace

Result<int> start_learner(const SenderSettings& settings) {
  int ends[2] = {};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return {Code::io, std::string("the learner's socket: ") + std::strerror(errno)};
  }
  const int error = [&] {
    Plan plan(settings, ends[1]);
    return run_between(plan);
  }();
  close(ends[1]);
  if (error == 0) return ends[0];
  close(ends[0]);
  return {Code::io, settings.learner + ": cannot start: " + std::strerror(error)};
}

int send_file(int socket, int file) {
  char byte = 0;
  iovec data = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(header), &file, sizeof file);
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? errno : 0;
}

}  // namespace clbake::learn
