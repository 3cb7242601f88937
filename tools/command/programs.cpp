// `clbake programs init`: a manifest to begin with.
#include "cli/cli.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/program_skeleton.hpp>
#include <clbake/os/paths.hpp>

#include <cstdio>
#include <filesystem>

namespace clbake::tool {
namespace {

int init(const Arguments& arguments) {
  Cli cli("programs init FILE... [OPTIONS]",
          "Writes a manifest for 'clbake build --programs' (builder/BAKING.md): the kernels of each file of OpenCL C, "
          "with the work-group sizes that they require and a trial with made-up contents, to be looked through.");
  cli.add_value("output,o", "FILE", "the manifest to write; default: to stdout");
  cli.add_value("options", "TEXT", "the options that the application gives to clBuildProgram");
  cli.add_device("; its driver tells what the kernels take; default: the first, and without one the texts themselves");
  if (const auto status = cli.parse(arguments)) return *status;
  const std::string output = cli.text("output");
  builder::program::SkeletonOptions options;
  options.files = cli.files();
  options.options = cli.text("options");
  options.directory = output.empty() ? "." : os::parent_of(os::absolute_path(output));
  const Result<std::vector<builder::Device>> devices = builder::list_devices();
  std::vector<builder::Device> selected;
  if (devices || cli.has("device")) selected = selected_devices(cli.text("device"));
  if (!selected.empty()) options.device = &selected.front();
  if (std::filesystem::exists(os::native(output))) throw Failure(output + ": exists; it stays as it is");
  const builder::program::Skeleton skeleton = need(builder::program::program_skeleton(options));
  for (const std::string& remark : skeleton.remarks) std::fprintf(stderr, "clbake programs: %s\n", remark.c_str());
  if (output.empty()) {
    std::fputs(skeleton.manifest.c_str(), stdout);
  } else {
    write_text(behind_links(output), skeleton.manifest);
  }
  return kSuccess;
}

}  // namespace

int programs(const Arguments& arguments) {
  const std::string word = arguments.empty() ? std::string() : arguments[0];
  if (word == "init") return init({arguments.begin() + 1, arguments.end()});
  if (!word.empty() && word[0] == '-') return init(arguments);  // for help, or the name of a wrong option
  throw UsageError("'" + word + "' is unknown; 'clbake programs init FILE...' is the use of this verb");
}

}  // namespace clbake::tool
