// What the verbs share: options, error lines, opening a bundle for a device.
#pragma once

#include <clbake/builder/devices.hpp>

#include <boost/program_options.hpp>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace clbake::tool {

enum ExitStatus : int { kSuccess = 0, kFailure = 1, kUsage = 2, kLeftOut = 3, kInterrupted = 130 };

// Prints one line on stderr; returns kFailure.
int fail(const std::string& line);
int fail(const char* verb, const Status& status);

// The options of a verb, and what was given for them.
class Cli {
 public:
  // `synopsis`: what stands behind "usage: clbake ", for example "inspect FILE [OPTIONS]". A synopsis with " FILE "
  // or " FILE|DEVICE " takes one positional argument, required; one with " [FILE] " at most one; one with " FILE... "
  // one or more.
  Cli(std::string synopsis, std::string summary);

  boost::program_options::options_description_easy_init options() { return options_.add_options(); }

  // Nothing when the verb may go on, else the exit status: --help was asked for, or the usage was wrong (one line on
  // stderr has said why).
  std::optional<int> parse(const std::vector<std::string>& arguments);

  bool has(const char* option) const { return values_.count(option) > 0; }
  std::string text(const char* option) const;
  std::vector<std::string> list(const char* option) const;  // of an option that may be repeated, each "a,b,c"
  std::string file() const { return files_.empty() ? std::string() : files_.front(); }
  const std::vector<std::string>& files() const { return files_; }

  // A count or size in decimal from `least` to `most`; `fallback` when the option was not given. Wrong text throws
  // UsageError, here and in the functions below.
  std::size_t size(const char* option, std::size_t fallback, std::size_t least = 0, std::size_t most = SIZE_MAX) const;
  double number(const char* option, double fallback) const;
  std::vector<Precision> precisions(const char* option) const;  // "single,double"; both when not given

 private:
  std::string synopsis_;
  std::string summary_;
  std::vector<std::string> files_;
  boost::program_options::options_description options_;
  boost::program_options::variables_map values_;
};

// Text that is no number, and the like; its what() is for the user. main prints it and returns kUsage.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// "a,b,c" in parts; no empty parts.
std::vector<std::string> split(const std::string& text, char separator);

// Where a file that is to be replaced lies: a symbolic link stays one, the file that it leads to is replaced.
std::string behind_links(const std::string& path);

// Opens a bundle and verifies every byte of it.
Result<Bundle> open_verified(const std::string& path);

// The device to use: of those that SPEC selects the first that the bundle has a target for, else the first that a
// program for another target can serve. When the bundle does not decide, a SPEC must not select different devices.
Result<builder::Device> device_for(const Bundle& bundle, const std::string& spec);

}  // namespace clbake::tool
