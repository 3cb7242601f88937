// A manifest of programs is written by hand, and the trial of a variant comes out of a bundle. Whatever the text,
// reading it ends with programs or a Status that begins with the file's name; and what was accepted makes variants that
// can be written, and trials that are read back.
#include <clbake/builder/programs.hpp>
#include "fuzz.hpp"
#include "program/trial.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clbake;
  using namespace clbake::builder;
  using namespace clbake::builder::program;
  const std::string text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(parse_trial(text));
  const Result<std::vector<Program>> programs = parse_programs(text, "programs.json", "/nonexistent");
  if (!programs) {
    fuzz::expect(programs.status().message().rfind("programs.json", 0) == 0, "a message begins with the file's name");
    return 0;
  }
  for (const Program& program : *programs) {
    if (!program.failure.empty() && program.launches.empty()) continue;  // without its files nothing is known
    fuzz::expect(parse_trial(program.trial).ok(), "a trial that was read can be read again");
    fuzz::expect(encode_job(make_job({}, program), cache::Packing::plain).ok(), "the variant can be written");
  }
  return 0;
}
