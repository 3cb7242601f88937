#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "cli/progress_bar.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/build.hpp>
#include <clbake/builder/merge_bundles.hpp>
#include <clbake/builder/release/signing.hpp>
#include <clbake/cache/pack.hpp>
#include <clbake/cache/writer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace clbake::tool {
namespace {

void print_report(const builder::build::MergedBundle& merged, std::size_t parts, std::size_t dropped,
                  const std::string& output, bool json) {
  const cache::Contents& all = merged.contents;
  if (json) {
    print({{"file", output},
           {"bundles", parts},
           {"targets", all.targets.size()},
           {"variants", all.variants.size()},
           {"entries", all.entries.size()},
           {"left_out", merged.left_out},
           {"dropped_signatures", dropped}});
    return;
  }
  std::printf("%s: %s joined; %s, %s, %s\n", output.c_str(), counted(parts, "bundle").c_str(),
              counted(all.targets.size(), "target").c_str(), counted(all.variants.size(), "variant").c_str(),
              counted(all.entries.size(), "entry").c_str());
}

cache::Bytes packed(const cache::Contents& contents) {
  ProgressBar bar;
  const auto start = std::chrono::steady_clock::now();
  cache::PackOptions options;
  options.digest = builder::release::digest_function();
  options.report = [&](std::size_t done, std::size_t all) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (elapsed.count() < 2) return;  // not worth a line
    const double expected =
        elapsed.count() * static_cast<double>(all) / static_cast<double>(std::max<std::size_t>(done, 1));
    bar.show_time(elapsed.count(), expected, "compressed " + std::to_string(done) + " of " + std::to_string(all));
  };
  return need(cache::pack(contents, options));
}

}  // namespace

int merge(const std::vector<std::string>& arguments) {
  Cli cli("merge FILE... -o FILE [OPTIONS]",
          "Joins bundles into one. A directory stands for all bundles in it: an overlay's programs thus become\n"
          "part of the next release. An index of slices, or a directory with one, stands for its slices, which\n"
          "must all be there. Of two entries for the same target, variant and form the proven one is kept,\n"
          "else the first. A target's choice for a precision and transposes is that of the first bundle that has\n"
          "any. Damaged bundles in a directory, and variants whose name an earlier bundle gives to a different\n"
          "variant, are left out and named. Needs no OpenCL device. Signatures of the parts do not hold for the\n"
          "whole, which has none.");
  cli.add_required("output,o", "FILE", "the bundle to write; an earlier bundle there is replaced");
  cli.add_flag("without-trials", "leave out the recorded contents by which own programs were proven");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::string output = behind_links(cli.text("output"));
  need(builder::build::check_output(output));
  std::vector<builder::build::NamedBundle> bundles;
  std::vector<std::string> left_out;
  for (const std::string& path : cli.files()) need(builder::build::read_bundles(path, bundles, left_out));
  if (bundles.empty()) throw Failure("no bundle in " + cli.files().front());
  const std::size_t parts = bundles.size();
  std::size_t signatures = 0;
  for (const builder::build::NamedBundle& part : bundles) signatures += part.signatures;
  builder::build::MergedBundle merged = builder::build::merge_bundles(std::move(bundles));
  merged.left_out.insert(merged.left_out.begin(), left_out.begin(), left_out.end());

  if (cli.has("without-trials")) builder::build::drop_trials(merged.contents);
  const cache::Bytes bytes = packed(merged.contents);
  need(cache::write_file(output, {bytes.data(), bytes.size()}));
  for (const std::string& line : merged.left_out) {
    std::fprintf(stderr, "clbake merge: left out: %s\n", printable(line).c_str());
  }
  const std::size_t dropped = tell_of_dropped("merge", output, signatures);
  print_report(merged, parts, dropped, output, cli.has("json"));
  return merged.left_out.empty() ? kSuccess : kLeftOut;
}

}  // namespace clbake::tool
