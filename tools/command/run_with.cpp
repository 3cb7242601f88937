#include "cli/cli.hpp"
#include "command/verbs.hpp"
#include "recording/under_layer.hpp"

#include <clbake/clbake.hpp>
#include <clbake/os/appended_file.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/paths.hpp>

namespace clbake::tool {
namespace {

// As CLBAKE_BUNDLE wants them. A file that is no bundle is refused now: the layer could only log it.
std::string joined(const std::vector<std::string>& bundles) {
  std::string all;
  for (const std::string& bundle : bundles) {
    need(Bundle::open(bundle).status());
    const std::string path = os::absolute_path(bundle);
    if (path.find(':') != std::string::npos) throw UsageError(path + ": a path with ':' cannot be passed on");
    all += (all.empty() ? "" : ":") + path;
  }
  return all;
}

// Lines are added to it: so it has to be new, or a log.
void check_log(const std::string& path) {
  const std::string begin = "clbake: ";
  const Result<os::Mapping> file = os::map_file(path);
  const bool is_log = file && file->size >= begin.size() && std::equal(begin.begin(), begin.end(), file->data);
  if (file && file->size > 0 && !is_log) throw UsageError("--log: " + path + " exists and is no log of clbake's");
  if (!os::AppendedFile::open(path)) throw UsageError("--log: " + path + " cannot be written");
}

}  // namespace

int run_with(const std::vector<std::string>& arguments) {
  Cli cli(
      "run-with [FILE...] [OPTIONS] -- PROGRAM ARGUMENTS...",
      "Runs an OpenCL program, unchanged. Kernels that the bundles hold are loaded; all others are compiled by the\n"
      "driver, and learnt for the next time, in the overlay. The exit status is the program's. The layer's settings\n"
      "(runtime/layer/LAYER.md) apply here, too.");
  cli.add_value("learn", "on|read-only|off",
                "off: bundles alone serve; read-only: what was learnt earlier does, too; default on");
  cli.add_value("overlay", "DIR", "where what is learnt is kept; default: clbake-layer/clbake in the user's cache");
  cli.add_value("log", "FILE", "what comes from where, and why something is compiled; 'stderr' is possible");
  const WithCommand split = split_command(arguments);
  if (const auto status = cli.parse(split.own)) return *status;
  std::vector<std::pair<std::string, std::string>> environment;
  if (!cli.files().empty()) environment.emplace_back("CLBAKE_BUNDLE", joined(cli.files()));
  if (cli.has("learn")) {
    const std::string learn = cli.text("learn");
    if (learn != "on" && learn != "read-only" && learn != "off") {
      throw UsageError("--learn: '" + learn + "' is none of on, read-only, off");
    }
    environment.emplace_back("CLBAKE_LEARN", learn);
  }
  if (cli.has("overlay")) {
    environment.emplace_back("CLBAKE_OVERLAY", os::absolute_path(cli.text("overlay")));
  }
  if (cli.has("log")) {
    const std::string log = cli.text("log");
    if (log != "stderr") check_log(log);
    environment.emplace_back("CLBAKE_LOG", log == "stderr" ? log : os::absolute_path(log));
  }
  become_under_layer(split.command, environment);
}

}  // namespace clbake::tool
