#include "cli/cli.hpp"
#include "command/verbs.hpp"
#include "recording/capture_programs.hpp"
#include "recording/recorded_files.hpp"
#include "recording/under_layer.hpp"

#include <clbake/added_options.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace clbake::tool {

int record(const std::vector<std::string>& arguments) {
  Cli cli("record -o DIR [OPTIONS] -- PROGRAM ARGUMENTS...",
          "Runs a program, unchanged, and records its OpenCL programs: sources and all that they include, build\n"
          "options, kernels, local sizes, and for some launches what they were given, with the contents. DIR gets\n"
          "programs.json, for 'build --programs', and the files that it names; what an earlier recording there has\n"
          "seen stays. The contents are the program's data: look at them before you pass the directory on. A program\n"
          "that loads its kernels from a cache of its own shows no source: empty that cache first, or use\n"
          "--refuse-binaries. The exit status is the program's, or 3 when that is 0 and\n"
          "nothing was recorded. 'capture' joins recordings.");
  cli.add_required("output,o", "DIR", "the directory for the recording");
  cli.add_value("max-bytes", "N", "bytes of contents that DIR may hold; default 268435456");
  cli.add_flag("refuse-binaries", "say no to binaries of the program's own cache, so that it compiles its sources");
  const WithCommand split = split_command(arguments);
  if (const auto status = cli.parse(split.own)) return *status;
  need(no_added_options());
  const std::string directory = std::filesystem::absolute(cli.text("output")).string();
  make_private_directory(directory);
  std::vector<std::pair<std::string, std::string>> environment = {
      {"CLBAKE_RECORD", directory},
      {"CLBAKE_RECORD_BYTES", std::to_string(cli.size("max-bytes", 268435456))},
      {"CLBAKE_RECORD_BINARIES", cli.has("refuse-binaries") ? "off" : "on"}};
  if (!std::getenv("CLBAKE_LOG")) environment.emplace_back("CLBAKE_LOG", "stderr");
  const int status = run_under_layer(split.command, environment);
  try {
    print_summary(stderr, capture_programs({directory}, directory));
    return status;
  } catch (const std::exception& failure) {
    fail("clbake record: " + printable(failure.what()));
    return status == 0 ? kLeftOut : status;
  }
}

}  // namespace clbake::tool
