#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "cli/printable.hpp"
#include "command/release/shapes_option.hpp"
#include "command/verbs.hpp"
#include "report/page.hpp"
#include "report/release/release_report.hpp"

#include <clbake/builder/release/bundle_summary.hpp>
#include <clbake/builder/shape/shapes_file.hpp>

#include <cstdio>
#include <filesystem>
#include <numeric>

namespace clbake::tool {
namespace {

// Nothing but an earlier report is replaced.
Status check_page_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return {};
  const bool is_file = std::filesystem::is_regular_file(status);
  if (is_file && (std::filesystem::file_size(path, error) == 0 || is_release_page(path))) return {};
  return {Code::invalid_argument, "--output: " + path + ": exists and is not a release report; it stays as it is"};
}

std::vector<ReleaseBundle> open_bundles(const std::vector<std::string>& files) {
  std::vector<ReleaseBundle> bundles;
  for (const std::string& file : files) bundles.push_back({file, need(open_verified(file))});
  return bundles;
}

// True if the bundles have programs of the application's own, and nothing for products.
bool have_programs_alone(const std::vector<Bundle>& bundles) {
  std::size_t programs = 0, products = 0;
  for (const Bundle& bundle : bundles) {
    const builder::release::EntryCounts all = need(builder::release::summarize(bundle)).all;
    programs += all.programs;
    products = std::accumulate(all.by_precision.begin(), all.by_precision.end(), products);
  }
  return programs > 0 && products == 0;
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
  if (cli.has("shapes")) {
    release.shapes = shapes_asked_for(cli, bundles);
  } else if (cli.has("precision") || cli.has("trans") || !have_programs_alone(bundles)) {
    release.shapes = standard_shapes(kinds_asked_for(cli, bundles));
  }
  return need(release_data(release));
}

// Programs of the application's own that are no machine code, or whose proof lacks something, one line each.
void print_programs(const Json& data) {
  const Json& own = data["own"];
  std::printf("programs of its own: %s on all targets, %zu machine code, %zu proven, %zu JIT-free\n",
              std::to_string(own["programs"].get<std::size_t>()).c_str(), own["native"].get<std::size_t>(),
              own["proven"].get<std::size_t>(), own["jit_free"].get<std::size_t>());
  for (const Json& target : data["targets"]) {
    if (target["status"] == "lost") continue;
    for (std::size_t i = 0; i < target["own"].size(); ++i) {
      const Json& program = target["own"][i];
      if (program["why"].is_null()) continue;
      const std::string driver = target["driver"].get<std::string>();
      const std::string device = target["device"].get<std::string>() + (driver.empty() ? "" : ", driver " + driver);
      std::printf("%s: program %s: %s\n", printable(device).c_str(),
                  printable(data["programs"][i].get<std::string>()).c_str(),
                  printable(program["why"].get<std::string>()).c_str());
    }
  }
}

void print_served(const Json& data, const std::string& output) {
  const Json& total = data["total"];
  std::printf("%s: %s", output.c_str(), counted(data["targets"].size(), "target").c_str());
  if (!data["precisions"].empty()) {
    std::printf(", %s; %.1f %% served by machine code",
                counted(total["problems"].get<std::size_t>(), "problem").c_str(),
                100 * total["native_share"].get<double>());
  }
  std::printf("\n");
  if (!data["programs"].empty()) print_programs(data);
}

}  // namespace

int report(const std::vector<std::string>& arguments) {
  Cli cli("report FILE... [OPTIONS]",
          "Writes an HTML page about a release: what its bundles serve on each device and driver in each precision and "
          "which programs of the application's own, what is proven and JIT-free, the expected speed, sizes, and what "
          "changed since the last release. Several bundles count as one, as in an application that opens them all. "
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
  if (!output.empty()) need(check_page_path(output));
  const Json data = data_of(cli);
  if (!output.empty()) need(write_page(output, release_html(data)));
  if (cli.has("json")) {
    print(data);
  } else {
    print_served(data, output);
  }
  return kSuccess;
}

}  // namespace clbake::tool
