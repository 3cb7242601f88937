#include "cli/cli.hpp"
#include "command/verbs.hpp"
#include "recording/capture_programs.hpp"
#include "recording/recorded_files.hpp"
#include "recording/recording.hpp"
#include "recording/under_layer.hpp"

#include <clbake/added_options.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/os/paths.hpp>

#include <cstdio>

namespace clbake::tool {

int record(const std::vector<std::string>& arguments) {
  Cli cli("record -o DIR [OPTIONS] -- PROGRAM ARGUMENTS...",
          "Runs a program, unchanged, and records its OpenCL programs: sources with all files that they include,\n"
          "build options, kernels, local sizes, and the values that some launches were given. DIR gets\n"
          "programs.json, for 'build --programs', and the files that it names; an earlier recording there is kept\n"
          "and added to. The contents are the program's data: look at them before you pass on the directory, or a\n"
          "bundle of it ('merge --without-trials' takes them out). A program that loads its kernels from a cache\n"
          "of its own shows no source: empty that cache first, or use --refuse-binaries. The exit status is the\n"
          "program's, or 3 when that is 0 and nothing was recorded. 'capture' joins recordings.");
  cli.add_required("output,o", "DIR", "the directory for the recording");
  cli.add_value("max-bytes", "N", "bytes of contents that DIR may hold; default 268435456");
  cli.add_flag("refuse-binaries",
               "the program gets an error for binaries of its own cache, and so compiles its sources");
  const WithCommand split = split_command(arguments);
  if (const auto status = cli.parse(split.own)) return *status;
  need(no_added_options());
  const std::string directory = os::absolute_path(cli.text("output"));
  make_private_directory(os::native(directory));
  Recording().add(directory);  // fails now for a folder with another programs.json, not after the run
  std::vector<std::pair<std::string, std::string>> environment = {
      {"CLBAKE_RECORD", directory},
      {"CLBAKE_RECORD_BYTES", std::to_string(cli.size("max-bytes", 268435456))},
      {"CLBAKE_RECORD_BINARIES", cli.has("refuse-binaries") ? "off" : "on"}};
  if (!os::variable("CLBAKE_LOG")) environment.emplace_back("CLBAKE_LOG", "stderr");
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
