// Surroundings for builds without an OpenCL device: a directory of their own, made-up devices, the fake worker.
#pragma once

#include "files.hpp"

#include <clbake/builder/build.hpp>
#include <clbake/builder/scratch.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clbake::builder::test {

using namespace clbake::tests;

// A CPU whose limits leave the families direct and register_tile: 12 variants in each precision, 4 and 8.
Device made_up_device(const std::string& name = "Device A", const std::string& driver = "1.0");

constexpr std::size_t kVariants = 12;  // of one made-up device in one precision

// Every field of every build starts from here: one device, single precision, two children at a time.
class BuildFixture {
 public:
  BuildFixture();
  ~BuildFixture();
  BuildFixture(const BuildFixture&) = delete;
  BuildFixture& operator=(const BuildFixture&) = delete;

  build::BuildOptions options;

  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  std::string work_directory() const { return options.output + ".work"; }

  // "VERB:HOW:PART" of fake_worker.cpp; replaces what was set before.
  void misbehave(const std::string& rules);

  // Builds, and forgets earlier calls and steps. With `stop_after`, asks for cancellation as soon as that many steps
  // are done.
  Result<build::BuildReport> build(std::optional<std::size_t> stop_after = std::nullopt);

  // Proves what was built, on the same devices by the same worker.
  Result<build::ProveReport> prove(bool again = false) const;

  // The worker's orders in the last build, as "VERB VARIANT" in the order of the calls ...
  std::vector<std::string> calls() const;
  std::size_t calls_of(const std::string& verb_and_part) const;
  // ... and what the progress callback got.
  const std::vector<build::Progress>& steps() const { return steps_; }

  // The names of all files under the fixture's directory, but the log's.
  std::vector<std::string> files() const;

 private:
  process::ScratchDirectory directory_;
  std::vector<build::Progress> steps_;
};

// Without the defaults that every bundle holds (profile/untuned_profile.hpp): the contents, or those of the file.
cache::Contents without_defaults(cache::Contents contents);
cache::Contents baked_contents_of(const std::string& path);

// The report of one variant; stops the test when it is not there.
const build::JobReport& report_of(const build::BuildReport& report, const std::string& part_of_variant);

// True while a process, by its number in text, does anything; one that has ended and that nobody waited for does
// not.
bool is_running(const std::string& pid);

// Gives a killed process the time to end.
bool ends(const std::string& pid);

// Without line ends at its end.
std::string trimmed(std::string text);

// "ok", or the code's name.
template <typename T>
std::string outcome(const Result<T>& result) {
  return std::string(name(result.status().code()));
}
inline std::string outcome(const Status& status) { return std::string(name(status.code())); }

}  // namespace clbake::builder::test
