// Status and Result: how every clbake library reports failure. No clbake library throws, prints or aborts.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace clbake {

// Why an operation failed. The numbers keep their meaning between releases.
// Codes 20 to 49 are also the reasons for a miss: why a program did not come from a bundle.
enum class Code : int {
  ok = 0,
  invalid_argument = 1,  // the message names the argument
  out_of_memory = 2,     // an allocation on the host or the device failed
  cancelled = 3,         // stopped on request; finished work is kept

  not_found = 10,  // the file does not exist
  io = 11,         // reading, writing, syncing or renaming failed

  not_a_bundle = 20,         // the bytes do not begin with a bundle's magic
  truncated = 21,            // fewer bytes than the header declares
  checksum = 22,             // the bytes are not those that were written
  unsupported_version = 23,  // made by a newer major version, or needs a feature that this reader lacks
  malformed = 24,            // checksums hold, but fields break the rules of FORMAT.md

  no_target = 30,     // the bundle has nothing for this device
  other_driver = 31,  // the bundle has this device, under another driver or platform version
  no_variant = 32,    // the profile of this target names no variant for the problem
  no_entry = 33,      // the variant was not baked for this target

  driver_rejected = 40,  // the driver refused a verified program

  build_failed = 50,  // compiling from source failed; the message holds the build log
  opencl = 51,        // another OpenCL call failed; the message names call and error
  no_device = 52,     // no OpenCL platform, or no device that matches
  wrong_result = 53,  // a kernel's result differs from the reference
};

// The code's name as users and JSON see it, for example "checksum". Never null.
constexpr std::string_view name(Code code) {
  switch (code) {
    case Code::ok: return "ok";
    case Code::invalid_argument: return "invalid argument";
    case Code::out_of_memory: return "out of memory";
    case Code::cancelled: return "cancelled";
    case Code::not_found: return "not found";
    case Code::io: return "input/output";
    case Code::not_a_bundle: return "not a bundle";
    case Code::truncated: return "truncated";
    case Code::checksum: return "checksum";
    case Code::unsupported_version: return "unsupported version";
    case Code::malformed: return "malformed";
    case Code::no_target: return "no target";
    case Code::other_driver: return "other driver";
    case Code::no_variant: return "no variant";
    case Code::no_entry: return "no entry";
    case Code::driver_rejected: return "driver rejected";
    case Code::build_failed: return "build failed";
    case Code::opencl: return "OpenCL error";
    case Code::no_device: return "no device";
    case Code::wrong_result: return "wrong result";
  }
  return "unknown";
}

// Success, or a code and a message of one line. Cheap to move; success allocates nothing.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::ok; }
  explicit operator bool() const { return ok(); }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same failure with the message "prefix: message"; the prefix names a file or an option, say.
  Status within(std::string_view prefix) const {
    return ok() ? Status() : Status(code_, std::string(prefix) + ": " + message_);
  }

 private:
  Code code_ = Code::ok;
  std::string message_;
};

// A value, or the Status of the failure. value() requires ok().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status failure) : status_(std::move(failure)) { assert(!status_.ok()); }
  Result(Code code, std::string message) : status_(code, std::move(message)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }

  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace clbake
