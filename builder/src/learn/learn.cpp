#include <clbake/builder/learn.hpp>

#include <clbake/os/appended_file.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/messages.hpp>
#include <clbake/os/program.hpp>
#include <clbake/overlay_directory.hpp>

#include "learn/inbox.hpp"
#include "learn/learner.hpp"
#include "learn/work_lock.hpp"

#include <functional>
#include <optional>
#include <utility>

namespace clbake::builder::learn {
namespace {

// Lines of learners that work at once do not mix. Best effort.
class Log {
 public:
  explicit Log(const std::string& path) {
    Result<os::AppendedFile> file =
        path.empty() ? Status(Code::not_found, {}) : os::AppendedFile::open(path, os::Access::user);
    if (file) file_.emplace(std::move(*file));
  }

  void operator()(std::string message) const {
    for (char& c : message) c = c == '\n' || c == '\r' ? ' ' : c;
    const std::string line = "clbake learn: " + message + "\n";
    if (file_) static_cast<void>(file_->append(line));
  }

 private:
  std::optional<os::AppendedFile> file_;
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
