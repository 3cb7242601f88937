// For all verbs: options, failures, plurals, opening a bundle and choosing a device.
#pragma once

#include <clbake/builder/devices.hpp>

#include <atomic>
#include <chrono>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace clbake::tool {

enum ExitStatus : int { kSuccess = 0, kFailure = 1, kUsage = 2, kLeftOut = 3, kInterrupted = 130 };

// Prints one line on stderr; returns kFailure.
int fail(const std::string& line);
int fail(const char* verb, const Status& status);

// An option or argument that is wrong. main prints what() and returns kUsage.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Ends a verb. main prints "clbake VERB: " and what(), and returns the verb's exit status of a failure.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws Failure for anything but success. `where`: a file or an option that the message begins with.
inline void need(const Status& status, const std::string& where = {}) {
  if (!status) throw Failure(where.empty() ? status.message() : status.within(where).message());
}
template <typename T>
T need(Result<T> result, const std::string& where = {}) {
  need(result.status(), where);
  return std::move(*result);
}

// Becomes true at SIGINT or SIGTERM, which end the process no more once this was called.
const std::atomic<bool>& interrupted();

// The options that a verb has, and those that were given.
class Cli {
 public:
  // `synopsis` follows "usage: clbake " in the help text, for example "inspect FILE [OPTIONS]"; `summary` is broken
  // into lines there. The synopsis also decides about positional arguments: " FILE " or " FILE|DEVICE " needs exactly
  // one, " [FILE] " takes at most one, " FILE... " one or more, " [FILE...] " any number.
  Cli(std::string synopsis, std::string summary);
  Cli(Cli&&) noexcept;
  ~Cli();

  // Declare an option. `names` is "output" or "output,o"; `value` stands for its argument in the help: FILE, N, LIST.
  void add_flag(const char* names, const char* help);
  void add_value(const char* names, const char* value, const char* help);
  void add_required(const char* names, const char* value, const char* help);
  void add_list(const char* names, const char* value, const char* help);       // may be repeated
  void add_arguments(const char* names, const char* value, const char* help);  // the same; takes several arguments

  // Options that many verbs have.
  void add_device(const std::string& remark = {});  // `remark` ends the help text
  void add_precision(const char* remark);
  void add_jobs();
  void add_timeout(const char* remark);
  void add_json();

  // Empty when the verb is to run. Else its exit status: --help was given, or a usage error was reported on stderr.
  std::optional<int> parse(const std::vector<std::string>& arguments);

  // `fallback`: what an option that was not given counts as.
  bool has(const char* option) const;
  std::string text(const char* option, const char* fallback = "") const;
  std::vector<std::string> list(const char* option) const;  // of add_list and add_arguments; splits "a,b,c"
  std::string file() const { return files_.empty() ? std::string() : files_.front(); }
  const std::vector<std::string>& files() const { return files_; }

  // A whole decimal number from `least` to `most`. This and the functions below throw UsageError for any other text.
  std::size_t size(const char* option, std::size_t fallback, std::size_t least = 0, std::size_t most = SIZE_MAX) const;
  double number(const char* option, double fallback) const;  // finite
  // "RE" or "RE,IM"; of at most so many parts.
  std::complex<double> complex_number(const char* option, double fallback, std::size_t most = 2) const;
  std::vector<Precision> precisions(const char* option) const;       // single and double when not given
  std::vector<Precision> real_precisions(const char* option) const;  // the same without complex ones
  unsigned jobs() const;                                     // of add_jobs; 0, one for each core, when not given
  std::chrono::seconds timeout(std::size_t fallback) const;  // of add_timeout

 private:
  struct Options;  // of Boost.Program_options, whose header takes seconds to compile

  std::string synopsis_;
  std::string summary_;
  std::vector<std::string> files_;
  std::unique_ptr<Options> options_;
};

// "a,b,c" in parts; drops empty ones.
std::vector<std::string> split(const std::string& text, char separator);

// "1 entry", "2 entries".
std::string counted(std::size_t count, const std::string& noun);

// A size for people, three digits: "999 bytes", "33.4 KB", "1.2 MB". 1 KB is 1,000 bytes.
std::string size_text(std::uint64_t bytes);

// Text of drivers and files for a terminal: with '?' for each byte that is not UTF-8, and for each control character,
// U+FFFE and U+FFFF.
std::string printable(const std::string& text);

// The file to replace when `path` is to be written: a symbolic link is followed, so that it stays a link.
std::string behind_links(const std::string& path);

// The functions below throw Failure; `where` begins its message, as need() has it.

// Replaces a file atomically.
void write_text(const std::string& path, const std::string& text);

// Fails when a file to write is one of the files to read, under whatever name.
void check_not_input(const std::string& output, const std::vector<std::string>& inputs, const std::string& where = {});

// Fails when there is a file to write and is not empty nor, as `is_one` says, `kind`: "a profile".
void check_replaceable(const std::string& path, const char* kind, const std::function<bool()>& is_one,
                       const std::string& where = {});

// Opens a bundle and verifies every byte of it, and every digest.
Bundle open_verified(const std::string& path, const std::string& where = {});
Status verify_all(const Bundle& bundle);  // throws nothing

// The bytes of a bundle, every one verified.
cache::Bytes read_verified(const std::string& path);

// The number of signatures of a bundle; 0 where they cannot be read.
std::size_t signatures_in(const std::string& file);

// After `file` was written from what had `before` signatures: the number of those that it has no more, because they
// are of other contents. Says so on stderr.
std::size_t tell_of_dropped(const char* verb, const std::string& file, std::size_t before);

// The devices of this machine that --device SPEC selects, all for an empty SPEC; at least one.
std::vector<builder::Device> selected_devices(const std::string& spec);

// The device to run a bundle on: of those that SPEC selects the first that is a target of the bundle, else the first
// that programs for another target can serve, else the first; fails there when SPEC matches several targets.
builder::Device device_for(const Bundle& bundle, const std::string& spec);

}  // namespace clbake::tool
