// `clbake record` and `clbake run-with`: programs that run under the layer (runtime/layer). The loader of OpenCL that
// this machine has loads the layer (OPENCL_LAYERS) or, if it has no layers, a library that is loaded before it does
// (LD_PRELOAD).
#include "cli/cli.hpp"
#include "command/verbs.hpp"
#include "recording/recorded_files.hpp"
#include "recording/recording.hpp"

#include <clbake/added_options.hpp>
#include <clbake/clbake.hpp>
#include <clbake/os/appended_file.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/libraries.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/program.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace clbake::tool {
namespace {

namespace fs = std::filesystem;

// Beside the command, where an installation has libraries, or where a build leaves it.
std::string library_path(const std::string& file) {
  const std::string folder = os::parent_of(os::path_of_program());
  for (const char* place : {".", "../" CLBAKE_LIBRARY_FOLDER, "../lib", "../runtime/layer"}) {
    std::string path = os::joined_path(folder, std::string(place) + "/" + file);
    std::error_code ignored;
    if (fs::is_regular_file(os::native(path), ignored)) return path;
  }
  throw Failure(file + " is not installed beside this command");
}

using Variables = std::vector<std::pair<std::string, std::string>>;

// The variables of this process, but for those that are set anew.
std::map<std::string, std::string> environment_with(const Variables& variables) {
  std::map<std::string, std::string> all = os::variables();
  for (const auto& [name, value] : variables) all[name] = value;
  return all;
}

// True unless the loader that a program here gets is one without layers: then it does not know the variable's name.
bool loader_has_layers() {
  const Result<os::LibraryHandle> loader = os::open_library(os::by_system("libOpenCL.so.1", "OpenCL.dll"));
  void* const function = loader ? os::symbol(*loader, "clGetPlatformIDs") : nullptr;
  const std::string path = function ? os::path_of_module(function) : std::string();
  if (path.empty()) return true;
  const Result<os::Mapping> file = os::map_file(path);
  return file && std::string_view(reinterpret_cast<const char*>(file->data), file->size).find("OPENCL_LAYERS") !=
                     std::string_view::npos;
}

// The layer comes before those that are there.
Variables with_layer(Variables variables) {
  const bool layers = loader_has_layers();
  const char* const name = layers ? "OPENCL_LAYERS" : "LD_PRELOAD";
  const std::string others = os::variable(name).value_or("");
  const std::string own =
      library_path(layers ? os::by_system("libclbake-layer.so", "libclbake-layer.dll") : "libclbake-preload.so");
  variables.emplace_back(name, own + (others.empty() ? "" : os::by_system(":", ";") + others));
  return variables;
}

[[noreturn]] void fail_to_start(const std::string& program, const Status& why) {
  throw Failure(program + ": cannot be started: " + why.message());
}

// The arguments of a verb: its own, and behind "--" a program with its arguments.
struct WithCommand {
  std::vector<std::string> own;
  std::vector<std::string> command;  // empty when help is asked for
};

WithCommand split_command(const std::vector<std::string>& arguments) {
  const auto at = std::find(arguments.begin(), arguments.end(), "--");
  const bool asks = std::find(arguments.begin(), at, "--help") != at || std::find(arguments.begin(), at, "-h") != at;
  if (at == arguments.end() && !asks) throw UsageError("'--' must stand before the program to run");
  if (at != arguments.end() && at + 1 == arguments.end()) throw UsageError("no program stands behind '--'");
  return {{arguments.begin(), at}, {at == arguments.end() ? at : at + 1, arguments.end()}};
}

// Runs the program in this terminal, under the layer and with these variables set, and returns its exit status; 128 and
// the signal's number when one killed it. While it runs, SIGINT and SIGQUIT are left to it, and SIGTERM and SIGHUP are
// passed on.
int run_under_layer(const std::vector<std::string>& command, const Variables& environment) {
  const Result<os::Exit> exit = os::run_in_foreground(command, environment_with(with_layer(environment)));
  if (!exit) fail_to_start(command[0], exit.status());
  return os::status_of(*exit);
}

// This process becomes the program, with those variables and with CLBAKE_LEARNER, this command, if that is not set.
[[noreturn]] void become_under_layer(const std::vector<std::string>& command, const Variables& environment) {
  Variables variables = with_layer(environment);
  if (!os::variable("CLBAKE_LEARNER")) variables.emplace_back("CLBAKE_LEARNER", os::path_of_program());
  fail_to_start(command[0], os::become(command, environment_with(variables)));
}

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
  Variables environment;
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
  Variables environment = {{"CLBAKE_RECORD", directory},
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
