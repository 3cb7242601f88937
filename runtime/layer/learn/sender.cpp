#include "learn/sender.hpp"

#include <clbake/exceptions_to_status.hpp>
#include <clbake/os/message_sender.hpp>
#include <clbake/os/program.hpp>

#include "learn/learner_command.hpp"

#include <mutex>
#include <optional>
#include <utility>

namespace clbake::learn {

constexpr int kMaxStarts = 32;  // of learners by one process; each ends when the program has been silent for a while

struct Sender::State {
  explicit State(SenderSettings given) : settings(std::move(given)) {}

  Status start() {
    learner.reset();
    Result<os::MessageSender> started = Status(Code::io, "too many learners");
    if (starts < kMaxStarts) started = os::MessageSender::start(learner_command(settings), learner_environment());
    ++starts;
    given_up = !started;
    if (!started) return started.status();
    learner.emplace(std::move(*started));
    return {};
  }

  Status deliver(const std::string& message) {
    Status sent = learner ? learner->send(message) : Status(Code::not_found, "none has started");
    if (sent.code() == Code::not_found) {
      const Status started = start();
      if (!started) return started;
      sent = learner->send(message);
    }
    return sent ? sent : Status(Code::io, "the learner: " + sent.message());
  }

  Status send(Request request) {
    if (request.directory.empty()) request.directory = os::working_directory();
    const Result<std::string> message = encode(request);
    if (!message) return message.status();
    const std::lock_guard<std::mutex> lock(mutex);
    return given_up ? Status() : deliver(*message);
  }

  const SenderSettings settings;
  std::mutex mutex;
  std::optional<os::MessageSender> learner;
  int starts = 0;
  bool given_up = false;
};

Sender::Sender(SenderSettings settings) : state_(std::make_unique<State>(std::move(settings))) {}

Sender::~Sender() = default;

Status Sender::send(Request request) noexcept {
  return exceptions_to_status([&] { return state_->send(std::move(request)); });
}

}  // namespace clbake::learn
