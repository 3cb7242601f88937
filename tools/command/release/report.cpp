#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/release/shapes_option.hpp"
#include "command/verbs.hpp"
#include "report/release/release_report.hpp"

#include <clbake/builder/shape/shapes_file.hpp>

#include <cstdio>

namespace clbake::tool {
namespace {

std::vector<ReleaseBundle> open_bundles(const std::vector<std::string>& files) {
  std::vector<ReleaseBundle> bundles;
  for (const std::string& file : files) bundles.push_back({file, open_verified(file)});
  return bundles;
}

Json data_of(const Cli& cli) {
  Release release;
  release.newer_driver = cli.has("newer-driver");
  release.bundles = open_bundles(cli.files());
  release.against = open_bundles(cli.list("against"));
  release.shapes_file = cli.text("shapes");
  std::vector<Bundle> bundles;
  for (const ReleaseBundle& named : release.bundles) bundles.push_back(named.bundle);
  for (const ReleaseBundle& named : release.against) bundles.push_back(named.bundle);
  const std::vector<GemmKind> present = kinds_with_entries(cli.file(), bundles);
  const bool asks = cli.has("precision") || cli.has("trans");
  release.shapes = cli.has("shapes") ? shapes_asked_for(cli, bundles)
                                     : standard_shapes(asks ? kinds_asked_for(cli, bundles) : present);
  return release_data(release);
}

}  // namespace

int report(const std::vector<std::string>& arguments) {
  Cli cli("report FILE... [OPTIONS]",
          "Writes an HTML page about a release: what its bundles serve on each device and driver in each precision\n"
          "and of the application's own programs, what is proven and JIT-free, the expected speed, sizes, and what\n"
          "changed since the last release. Several bundles count as one, as in an application that opens them all.\n"
          "Needs no OpenCL device.");
  cli.add_value("output,o", "FILE", "the page to write; needed without --json");
  cli.add_value("shapes", "FILE",
                "the problems that count, one on each line: see 'clbake check'; default: squares from 64 to 4096");
  add_kinds(cli, "; for squares and lines that name none; default: all that the bundles have");
  cli.add_list("against", "LIST", "the bundles of the last release, separated by commas");
  cli.add_flag("newer-driver", "count machine code that was made for an older driver, as Options::newer_driver allows");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  if (!cli.has("output") && !cli.has("json")) throw UsageError("give --output FILE, or --json");
  const std::string output = behind_links(cli.text("output"));
  if (!output.empty())
    check_replaceable(
        output, "a release report", [&] { return is_release_page(output); }, "--output");
  const Json data = data_of(cli);
  if (!output.empty()) write_text(output, release_html(data));
  if (cli.has("json")) {
    print(data);
  } else {
    const Json& total = data["total"];
    std::printf("%s: %s; of %zu problems and programs on them %.1f %% are served by machine code\n", output.c_str(),
                counted(data["targets"].size(), "target").c_str(), total["count"].get<std::size_t>(),
                100 * total["native_share"].get<double>());
  }
  return kSuccess;
}

}  // namespace clbake::tool
