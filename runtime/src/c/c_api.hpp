// What the functions of the C header share.
#pragma once

#include <clbake/clbake.h>
#include <clbake/clbake.hpp>
#include <clbake/exceptions_to_status.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

struct clbake_overlay {
  std::shared_ptr<clbake::OverlayStore> store;
};

namespace clbake::c {

// Cut where it is longer.
template <std::size_t size>
void copy_text(char (&to)[size], const std::string& from) {
  const std::size_t length = std::min(from.size(), size - 1);
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

inline clbake_code report(const Status& status, clbake_error* error) {
  const auto code = static_cast<clbake_code>(status.code());
  if (status.ok() || !error) return code;
  error->code = code;
  copy_text(error->message, status.message().empty() ? std::string(name(status.code())) : status.message());
  return code;
}

// Runs `work` (-> Status) with nothing thrown past it.
template <typename Work>
clbake_code run(clbake_error* error, const Work& work) {
  return report(exceptions_to_status(work), error);
}

// What a caller in C wrote into an enum, which may be any number; to read one that is none of its values as the enum is
// undefined in C++.
template <typename Enum>
int number(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int n = 0;
  std::memcpy(&n, &value, sizeof n);
  return n;
}

inline Status null(const char* argument) { return {Code::invalid_argument, std::string(argument) + " is null"}; }

}  // namespace clbake::c
