#include "cli/cli.hpp"
#include "command/verbs.hpp"
#include "report/bundle_report.hpp"
#include "report/summary_report.hpp"

namespace clbake::tool {
int inspect(const std::vector<std::string>& arguments) {
  Cli cli("inspect FILE [OPTIONS]",
          "Verifies every byte of a bundle and shows what it holds: the targets, the kinds of problems that each "
          "serves, and how many of its programs are proven and JIT-free. Needs no OpenCL device.");
  cli.add_flag("summary", "one screen: a line for each target, with counts by precision, form and proof");
  cli.add_flag("entries", "also list every program with the figures of its proof");
  cli.add_flag("profile", "also list the cost models and rules by which the runtime chooses a variant");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::string file = cli.file();
  const Bundle bundle = need(open_verified(file));
  if (cli.has("summary")) {
    const builder::release::BundleSummary summary = need(builder::release::summarize(bundle), file);
    cli.has("json") ? print(summary_json(bundle, summary)) : print_screen(bundle, summary, file);
    return kSuccess;
  }
  const Json report = need(bundle_report(bundle), file);
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
