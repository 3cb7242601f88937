// Status and Result: how every clbake library reports failure. No clbake library throws, prints or aborts.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace clbake {

// Why an operation failed. The numbers keep their meaning between releases.
// Codes 20 to 49 are also the reasons for a miss: why a program did not come from a bundle.
enum class Code : int {
  ok = 0,
  invalid_argument = 1,  // Status::argument() and the message name the argument
  out_of_memory = 2,     // an allocation on the host or the device failed
  cancelled = 3,         // stopped on request; finished work is kept

  not_found = 10,  // the file does not exist
  io = 11,         // reading, writing, syncing or renaming failed

  not_a_bundle = 20,         // the bytes do not begin with a bundle's magic
  truncated = 21,            // fewer bytes than the header declares
  checksum = 22,             // the bytes are not those that were written
  unsupported_version = 23,  // made by a newer major version, or needs a feature that this reader lacks
  malformed = 24,            // checksums hold, but fields break the rules of FORMAT.md
  not_trusted = 25,          // not what Options::trust accepts: no known key, another digest, an older release

  no_target = 30,        // the bundle has nothing for this device
  other_driver = 31,     // the bundle has this device, under another driver or platform version
  no_variant = 32,       // the profile of this target names no variant for the problem
  no_entry = 33,         // the variant was not baked for this target
  no_program = 34,       // no bundle has a program of this name
  missing_feature = 35,  // the bundle has this device and driver, but for a CPU with a feature that this one lacks

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
    case Code::not_trusted: return "not trusted";
    case Code::no_target: return "no target";
    case Code::other_driver: return "other driver";
    case Code::no_variant: return "no variant";
    case Code::no_entry: return "no entry";
    case Code::no_program: return "no program";
    case Code::missing_feature: return "missing feature";
    case Code::driver_rejected: return "driver rejected";
    case Code::build_failed: return "build failed";
    case Code::opencl: return "OpenCL error";
    case Code::no_device: return "no device";
    case Code::wrong_result: return "wrong result";
  }
  return "unknown";
}

// The argument that a call refused. The numbers keep their meaning between releases.
enum class Argument : std::int16_t {
  none = 0,  // the failure is not about an argument

  // Fields of a Problem.
  precision = 1,
  layout = 2,
  m = 3,
  n = 4,
  k = 5,
  lda = 6,
  ldb = 7,
  ldc = 8,
  batch = 9,
  a_stride = 10,
  b_stride = 11,
  c_stride = 12,
  offsets = 13,
  bias = 14,
  bias_stride = 15,
  activation = 16,
  bounds = 17,  // of a clamp: NaN, or the lower above the upper one
  ldd = 18,
  d_stride = 19,
  quantization = 56,  // scales or zero points that the precision does not have, or out of range
  conj_a = 51,        // of a problem that is not complex
  conj_b = 52,

  // Buffers of a call. a, b and c: null, not a buffer, or of another context.
  a = 20,
  b = 21,
  c = 22,
  a_size = 23,  // the matrix reaches past the end of its buffer
  b_size = 24,
  c_size = 25,
  c_alias = 26,      // C shares elements with A or B
  c_read_only = 27,  // kernels may not write to C's buffer
  workspace = 28,    // missing, too small or not aligned
  d = 32,            // as a, b and c
  d_size = 33,
  d_alias = 34,      // D shares elements with C, and is not C
  bias_vector = 35,  // as a, b and c
  bias_size = 36,
  bias_alias = 37,  // the bias shares elements with C
  row_scales = 57,  // as a, b and c; too small; or shares elements with C
  column_scales = 58,

  group = 64,   // no products, products that differ in what a group shares, or whose Cs share elements
  counts = 65,  // the rows of a group's products: as a, b and c; too small; or in C

  // Scalars of a call: an imaginary part without a complex problem; not one for each product of the batch.
  alpha = 53,
  beta = 54,
  scalars = 55,

  queue = 30,      // null, or of another context or device
  wait_list = 31,  // null, or with a null event

  context = 40,
  device = 41,
  platform = 42,
  bundle = 43,
  library = 44,
  gemm = 45,     // null, or moved from
  options = 46,  // an enumeration has none of its values
  struct_size = 47,
  output = 48,     // where a result should go is null
  directory = 49,  // of the overlay
  other = 50,      // the message names it
};

// Success, or a code and a message of one line. Cheap to move; success allocates nothing.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message, int opencl_code = 0)
      : code_(static_cast<std::int16_t>(code)), opencl_code_(opencl_code), message_(std::move(message)) {}
  // Code::invalid_argument.
  Status(Argument argument, std::string message, int opencl_code = 0)
      : Status(Code::invalid_argument, std::move(message), opencl_code) {
    argument_ = argument;
  }

  bool ok() const { return code() == Code::ok; }
  explicit operator bool() const { return ok(); }
  Code code() const { return static_cast<Code>(code_); }
  const std::string& message() const { return message_; }

  // Which argument was refused; none unless code() is invalid_argument.
  Argument argument() const { return argument_; }

  // Error of the OpenCL call that failed, for example CL_OUT_OF_RESOURCES (-5); 0 when none did.
  int opencl_code() const { return opencl_code_; }

  // The same failure with the message "prefix: message"; the prefix names a file or an option, say.
  Status within(std::string_view prefix) const {
    return ok() ? Status() : with_message(std::string(prefix) + ": " + message_);
  }

  // The same failure with another message.
  Status with_message(std::string message) const {
    Status status(code(), std::move(message), opencl_code_);
    status.argument_ = argument_;
    return status;
  }

 private:
  std::int16_t code_ = 0;  // a Code; 16 bits, so that a Status is no larger than a pointer and a string
  Argument argument_ = Argument::none;
  std::int32_t opencl_code_ = 0;
  std::string message_;
};

// A value, or the Status of the failure. value() requires ok().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status failure) : status_(std::move(failure)) { assert(!status_.ok()); }
  Result(Code code, std::string message, int opencl_code = 0) : status_(code, std::move(message), opencl_code) {}
  Result(Argument argument, std::string message, int opencl_code = 0)
      : status_(argument, std::move(message), opencl_code) {}

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
