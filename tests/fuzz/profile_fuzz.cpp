// A PROFILE.json may come from another user and another version. Whatever the text, reading it ends with a tuning or a
// Status that begins with the file's name; and a tuning that was accepted can be written and read back unchanged.
#include <clbake/builder/tuning_file.hpp>
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clbake;
  using namespace clbake::builder;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<profile::Tuning> tuning = profile::parse_tuning(text, "PROFILE.json");
  if (!tuning) {
    fuzz::expect(tuning.status().message().rfind("PROFILE.json", 0) == 0, "a message begins with the file's name");
    return 0;
  }
  const std::string written = profile::tuning_text(*tuning);
  const Result<profile::Tuning> again = profile::parse_tuning(written, "written");
  fuzz::expect(again.ok(), "what was read can be written and read again");
  fuzz::expect(profile::tuning_text(*again) == written, "a written tuning is read back unchanged");
  const Result<profile::Tuning> shortened =
      profile::parse_tuning(profile::tuning_text(profile::brief(*tuning)), "brief");
  fuzz::expect(shortened.ok(), "a brief tuning can be read");
  return 0;
}
