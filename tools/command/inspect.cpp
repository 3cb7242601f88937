#include "cli/cli.hpp"
#include "command/verbs.hpp"
#include "report/bundle_report.hpp"
#include "report/summary_report.hpp"

namespace clbake::tool {
namespace {

int print_summary_of(const Bundle& bundle, const std::string& file, bool json) {
  const Result<builder::BundleSummary> summary = builder::summarize(bundle);
  if (!summary) return fail("inspect", summary.status().within(file));
  if (json) {
    print(summary_json(bundle, *summary));
  } else {
    print_screen(bundle, *summary, file);
  }
  return kSuccess;
}

}  // namespace

int inspect(const std::vector<std::string>& arguments) {
  Cli cli(
      "inspect FILE [OPTIONS]",
      "Verifies every byte of a bundle and shows what it holds: the targets, the kinds of problems that each serves,\n"
      "and how many of its programs are proven and JIT-free. Needs no OpenCL device.");
  cli.add_flag("summary", "one screen: a line for each target, with counts by precision, form and proof");
  cli.add_flag("entries", "also list every program with the figures of its proof");
  cli.add_flag("profile", "also list the cost models and rules by which the runtime chooses a variant");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const Result<Bundle> bundle = open_verified(cli.file());
  if (!bundle) return fail("inspect", bundle.status());
  if (cli.has("summary")) return print_summary_of(*bundle, cli.file(), cli.has("json"));
  const Result<Json> report = bundle_report(*bundle);
  if (!report) return fail("inspect", report.status().within(cli.file()));
  if (cli.has("json")) {
    print(*report);
    return kSuccess;
  }
  print_summary(*report, cli.file());
  if (cli.has("entries")) print_entries(*report);
  if (cli.has("profile")) print_profiles(*report);
  return kSuccess;
}

}  // namespace clbake::tool
