#include "posix/process/detached.hpp"

#include "posix/process/child.hpp"
#include "posix/process/spawn_actions.hpp"

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

// The thread sanitizer's runtime takes `clone` for a fork, after which it ends a program that starts threads. This is
// glibc's other name for it.
#ifdef __GLIBC__
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...) noexcept;
#else
#define __clone clone
#endif

namespace clbake::os::posix {
namespace {

#ifdef POSIX_SPAWN_SETSID  // glibc 2.26, musl
constexpr int kOwnSession = POSIX_SPAWN_SETSID;
#else
constexpr int kOwnSession = 0;
#endif

constexpr std::size_t kStack = std::size_t{64} << 10;  // bytes, of a function that calls posix_spawn

// All that posix_spawn needs, made beforehand: the process that calls it shares the program's memory.
class Plan {
 public:
  Plan(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment, int socket)
      : arguments_(pointers(arguments)), assignments_(assignments(environment)), environment_(pointers(assignments_)) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, socket, 0);
    posix_spawn_file_actions_addopen(&actions_, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, 2, "/dev/null", O_WRONLY, 0);
    close_from(actions_, 3);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_,
                             static_cast<short>(kOwnSession | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  // In the process between the program and the other.
  void spawn() {
    pid_t started = 0;
    error_ = posix_spawn(&started, arguments_[0], &actions_, &attributes_, arguments_.data(), environment_.data());
  }
  int error() const { return error_; }

 private:
  std::vector<char*> arguments_;
  std::vector<std::string> assignments_;
  std::vector<char*> environment_;
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  int error_ = ECHILD;  // until posix_spawn has set it
};

int run_plan(void* plan) {
  if (kOwnSession == 0) ::setsid();
  static_cast<Plan*>(plan)->spawn();
  return 0;
}

// The new process is a grandchild: the process between ends at once, so that init waits for the new one. That process
// has no exit signal: the program gets no SIGCHLD, and its own calls of wait() do not see it. It shares the program's
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

Result<int> start_detached(const std::vector<std::string>& arguments,
                           const std::map<std::string, std::string>& environment) {
  int ends[2] = {};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return {Code::io, std::string("socket: ") + std::strerror(errno)};
  }
  const int error = [&] {
    Plan plan(arguments, environment, ends[1]);
    return run_between(plan);
  }();
  close(ends[1]);
  if (error == 0) return ends[0];
  close(ends[0]);
  return cannot_start(arguments[0], error);
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

}  // namespace clbake::os::posix
