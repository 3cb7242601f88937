#include <clbake/builder/learn.hpp>

#include <clbake/os/messages.hpp>
#include <clbake/os/program.hpp>
#include <clbake/overlay_directory.hpp>

#include "learn/inbox.hpp"
#include "learn/learner.hpp"
#include "learn/work_lock.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <functional>
#include <utility>

namespace clbake::builder::learn {
namespace {

// Lines of learners that work at once do not mix. Best effort.
class Log {
 public:
  explicit Log(const std::string& path) {
    if (!path.empty()) file_ = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log() {
    if (file_ >= 0) close(file_);
  }

  void operator()(std::string message) const {
    for (char& c : message) c = c == '\n' || c == '\r' ? ' ' : c;
    const std::string line = "clbake learn: " + message + "\n";
    if (file_ >= 0) static_cast<void>(write(file_, line.data(), line.size()) + 1);
  }

 private:
  int file_ = -1;
};

Status work(const Settings& settings, const Overlay& overlay, Inbox& inbox, const Log& log) {
  const Result<WorkLock> lock = WorkLock::take(settings.overlay.directory);
  if (!lock) return lock.status();
  const Learner learner(settings, overlay, lock->directory());
  for (std::optional<Request> request = inbox.next(); request; request = inbox.next()) {
    const Result<std::string> line = learner.learn(*request);
    if (!line) return line.status();
    if (!line->empty()) log(*line);
    inbox.drain();
  }
  return {};
}

Status run(const Settings& settings, const Log& log) {
  if (!os::is_message_channel()) {
    return {Code::io, "the input is no socket of the layer, which starts this command by itself"};
  }
  const Result<Overlay> overlay = Overlay::open(settings.overlay);
  if (!overlay) return overlay.status();
  Inbox inbox(std::cref(log));
  Status status;
  while (status && inbox.wait()) status = work(settings, *overlay, inbox, log);
  return status;
}

}  // namespace

Status learn(const Settings& settings) {
  os::lower_priority();
  const Log log(settings.log);
  Status status = run(settings, log);
  if (!status) log(status.message());
  return status;
}

}  // namespace clbake::builder::learn
