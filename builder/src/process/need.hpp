// Failures inside of the builder: need() throws them. Functions that callers of the builder see return them as a
// Status, as those of clbake's libraries do; others, which return none, pass them on.
#pragma once

#include <clbake/status.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace clbake::builder {

struct Failure : std::runtime_error {
  explicit Failure(Status why) : std::runtime_error(why.message()), status(std::move(why)) {}
  Status status;
};

// Throw Failure for anything but success; `where`, if not empty, begins its message.
inline void need(const Status& status, const std::string& where = {}) {
  if (!status) throw Failure(where.empty() ? status : status.within(where));
}
template <typename T>
T need(Result<T> result, const std::string& where = {}) {
  need(result.status(), where);
  return std::move(*result);
}

// Does the work; the messages of its failures begin with `where`.
template <typename Work>
auto within(const std::string& where, const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const Failure& failure) {
    throw Failure(failure.status.within(where));
  }
}

}  // namespace clbake::builder
