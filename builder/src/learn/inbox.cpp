#include "learn/inbox.hpp"

#include <algorithm>
#include <utility>

namespace clbake::builder::learn {
namespace {

constexpr int kQuietMs = 2000;  // a program that starts sends much; its own work goes first
constexpr int kIdleMs = 10000;

bool same_program(const Request& a, const Request& b) { return a.digest == b.digest && a.target == b.target; }

void merge(Request& into, Request&& from) {
  if (into.program.empty()) std::swap(into.program, from.program), std::swap(into.directory, from.directory);
  if (into.log.empty()) into.log = std::move(from.log);
  for (SeenLaunch& launch : from.launches) {
    const bool known = std::find(into.launches.begin(), into.launches.end(), launch) != into.launches.end();
    if (!known && into.launches.size() < clbake::learn::kMaxLaunches) into.launches.push_back(std::move(launch));
  }
}

}  // namespace

Inbox::Inbox(std::function<void(const std::string&)> complain) : complain_(std::move(complain)) {}

bool Inbox::wait() {
  while (!ended_) {
    if (!receive(requests_.empty() ? kIdleMs : kQuietMs)) break;
  }
  return !requests_.empty();
}

void Inbox::drain() {
  while (!ended_ && receive(0)) {
  }
}

std::optional<Request> Inbox::next() {
  if (requests_.empty()) return {};
  Request request = std::move(requests_.front());
  requests_.pop_front();
  bytes_ -= request.program.size();
  return request;
}

bool Inbox::receive(int milliseconds) {
  const os::Received got = os::receive_message(milliseconds, clbake::learn::kMaxMessage);
  ended_ = got.event == os::Received::Event::end;
  if (got.event == os::Received::Event::message) take(got);
  return got.event != os::Received::Event::silence;
}

void Inbox::take(const os::Received& got) {
  Result<Request> request = got.status ? clbake::learn::decode(got.message) : got.status;
  if (request) return add(std::move(*request));
  complain_(request.status().message());
}

void Inbox::add(Request request) {
  const auto known = std::find_if(requests_.begin(), requests_.end(),
                                  [&](const Request& other) { return same_program(request, other); });
  if (bytes_ + request.program.size() > kMostBytes) return complain_("too many programs wait: one is not learned");
  bytes_ += request.program.size();
  if (known == requests_.end()) return requests_.push_back(std::move(request));
  const std::size_t twice = known->program.empty() ? 0 : request.program.size();
  bytes_ -= twice;
  merge(*known, std::move(request));
}

}  // namespace clbake::builder::learn
