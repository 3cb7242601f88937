#include <clbake/builder/merge_bundles.hpp>
#include <clbake/builder/release/split.hpp>

#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <cstdio>

namespace clbake::tool {
namespace {

void print_report(const builder::release::SplitReport& report, const std::string& index, std::uint64_t release) {
  std::printf("%s: %s, release %llu%s\n", index.c_str(), size_text(report.index_bytes).c_str(),
              static_cast<unsigned long long>(release), report.public_key.empty() ? ", not signed" : "");
  std::printf("%s of %s; %zu written, %s; a target has %s at most\n", counted(report.slices, "slice").c_str(),
              size_text(report.bytes).c_str(), report.written, size_text(report.written_bytes).c_str(),
              size_text(report.largest_target).c_str());
  if (!report.public_key.empty()) std::printf("signed by %s\n", report.public_key.c_str());
}

}  // namespace

int split(const std::vector<std::string>& arguments) {
  Cli cli("split FILE -o STORE [OPTIONS]",
          "Divides a bundle into slices, bundles for one target and kind of problems, from which a device fetches\n"
          "what it needs. A slice's file is named by its digest, so that slices that did not change keep their names\n"
          "from release to release. The index in STORE names them; 'clbake merge' joins them again. Signatures of\n"
          "FILE do not hold for the index. Needs no OpenCL device.");
  cli.add_required("output,o", "STORE", "the directory for slices and index; slices of earlier releases stay");
  cli.add_value("release", "N",
                "the number of the release, higher than those of all earlier ones; applications refuse an older index "
                "than they ask for; default 0");
  cli.add_value("key", "FILE", "sign the index with this secret key of 'clbake keygen'");
  cli.add_jobs();
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  builder::release::SplitOptions options;
  options.release = cli.size("release", 0);
  options.key_file = cli.text("key");
  options.pack.threads = cli.jobs();
  options.pack.cancel = &interrupted();
  const std::string store = cli.text("output");
  const std::string index = store + "/" + options.index;
  const builder::build::NamedBundle bundle = need(builder::build::read_bundle(cli.file()));
  const builder::release::SplitReport report = need(builder::release::split(bundle.contents, store, options));
  if (cli.has("json")) {
    print({{"index", index},
           {"release", options.release},
           {"public_key", report.public_key.empty() ? Json() : Json(report.public_key)},
           {"index_bytes", report.index_bytes},
           {"slices", report.slices},
           {"bytes", report.bytes},
           {"written", report.written},
           {"written_bytes", report.written_bytes},
           {"largest_target_bytes", report.largest_target}});
  } else {
    print_report(report, index, options.release);
  }
  return kSuccess;
}

}  // namespace clbake::tool
