#include "cli/cli.hpp"
#include "command/verbs.hpp"
#include "report/bundle_report.hpp"

namespace clbake::tool {
int inspect(const std::vector<std::string>& arguments) {
  Cli cli("inspect FILE [OPTIONS]",
          "Verifies every byte of a bundle and shows what it holds: a line for each target, with the kinds of\n"
          "problems that it serves, and how many of its programs are proven and JIT-free. Needs no OpenCL device.");
  cli.add_flag("entries", "also list every program with the figures of its proof");
  cli.add_flag("profile", "also list the cost models and rules by which the runtime chooses a variant");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::string file = cli.file();
  const Json report = bundle_report(open_verified(file));
  if (cli.has("json")) {
    print(report);
    return kSuccess;
  }
  print_summary(report, file);
  if (cli.has("entries")) print_entries(report);
  if (cli.has("profile")) print_profiles(report);
  return kSuccess;
}

}  // namespace clbake::tool
