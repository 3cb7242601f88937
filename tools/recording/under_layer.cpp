#include "recording/under_layer.hpp"

#include "cli/cli.hpp"

#include <clbake/os/environment.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/libraries.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/program.hpp>

#include <algorithm>
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

}  // namespace

WithCommand split_command(const std::vector<std::string>& arguments) {
  const auto at = std::find(arguments.begin(), arguments.end(), "--");
  const bool asks = std::find(arguments.begin(), at, "--help") != at || std::find(arguments.begin(), at, "-h") != at;
  if (at == arguments.end() && !asks) throw UsageError("'--' must stand before the program to run");
  if (at != arguments.end() && at + 1 == arguments.end()) throw UsageError("no program stands behind '--'");
  return {{arguments.begin(), at}, {at == arguments.end() ? at : at + 1, arguments.end()}};
}

int run_under_layer(const std::vector<std::string>& command,
                    const std::vector<std::pair<std::string, std::string>>& environment) {
  const Result<os::Exit> exit = os::run_in_foreground(command, environment_with(with_layer(environment)));
  if (!exit) fail_to_start(command[0], exit.status());
  return os::status_of(*exit);
}

void become_under_layer(const std::vector<std::string>& command,
                        const std::vector<std::pair<std::string, std::string>>& environment) {
  Variables variables = with_layer(environment);
  if (!os::variable("CLBAKE_LEARNER")) variables.emplace_back("CLBAKE_LEARNER", os::path_of_program());
  fail_to_start(command[0], os::become(command, environment_with(variables)));
}

}  // namespace clbake::tool
