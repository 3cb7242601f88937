#include "compile/offline/offline_tools.hpp"

#include <clbake/builder/process.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/installed.hpp>
#include <clbake/os/paths.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace clbake::builder::compile {
using namespace process;
namespace {

namespace fs = std::filesystem;

// Compilers print the cause first and a summary last.
std::string first_error(const std::string& log) {
  std::istringstream stream(log);
  for (std::string line; std::getline(stream, line);) {
    std::string lower = line;
    std::transform(line.begin(), line.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (lower.find("error") != std::string::npos || lower.find("fatal") != std::string::npos) return line;
  }
  return {};
}

// The word of `text` that follows `prefix`, up to a blank or comma; empty when there is none.
std::string word_behind(const std::string& text, const std::string& prefix) {
  const std::size_t at = text.find(prefix);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + prefix.size();
  return text.substr(begin, text.find_first_of(" ,\r\n", begin) - begin);
}

}  // namespace

std::vector<std::string> options_for_halves() {
  std::vector<std::string> options;
  for (const std::string width : {"", "2", "3", "4", "8", "16"}) {
    options.push_back("-Dvstore_half" + width + "_rte=vstore_half" + width);
  }
  return options;
}

// The newest first: libclc is bitcode, which an older clang than its own cannot read.
Tool clang_tool() {
  Tool tool{"clang", {}, {}, "Debian's clang-15, or a newer one"};
  for (int version = 30; version >= 14 && tool.path.empty(); --version) {
    tool.path = os::find_program("clang-" + std::to_string(version));
  }
  if (tool.path.empty()) tool.path = os::find_program("clang");
  return tool;
}

Tool libclc_tool(const Tool& clang) {
  Tool tool{"libclc", {}, {}, "Debian's libclc-15, or that of clang's version"};
  const std::string prefix = os::utf8(os::native(clang.path).parent_path().parent_path());
  for (const std::string& directory :
       {prefix + "/lib/clc", prefix + "/share/clc", std::string("/usr/lib/clc"), std::string("/usr/share/clc")}) {
    const std::string path = directory + "/nvptx64--nvidiacl.bc";
    if (tool.path.empty() && os::map_file(path)) tool.path = path;
  }
  return tool;
}

// The toolkit's installer does not put its programs into PATH.
Tool ptxas_tool() {
  return {"ptxas",
          os::find_program("ptxas", {"/usr/local/cuda/bin"}),
          {},
          "NVIDIA's CUDA toolkit, Debian's nvidia-cuda-toolkit (non-free) or PyPI's nvidia-cuda-nvcc"};
}

Tool ocloc_tool() {
  return {"ocloc", os::find_program("ocloc"), {}, "Debian's intel-ocloc (up to Debian 12: intel-opencl-icd)"};
}

std::string name(const cache::Tool& tool) { return tool.version.empty() ? tool.name : tool.name + " " + tool.version; }

Status required(const std::vector<Tool>& tools) {
  for (const Tool& tool : tools) {
    if (tool.path.empty()) return {Code::not_found, tool.name + " is not installed; it is in " + tool.package};
  }
  return {};
}

Result<ToolRoom> ToolRoom::create() {
  Result<ScratchDirectory> directory = ScratchDirectory::create();
  if (!directory) return directory.status();
  return ToolRoom(std::move(*directory));
}

Status ToolRoom::run(const Tool& tool, const std::vector<std::string>& arguments, std::chrono::seconds limit) const {
  static const std::atomic<bool> never{false};
  Command command;
  command.arguments = {tool.path};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.log = directory_.path() + "/log";
  command.directory = directory_.path();
  command.with_caller = true;  // a worker that is killed takes its compiler along
  const Result<Exit> exit = process::run(command, limit, never);
  if (!exit || exit->ok()) return exit.status();
  const std::string error = exit->signal == 0 && !exit->timed_out ? first_error(read("log")) : std::string();
  return {Code::build_failed, tool.name + ": " + (error.empty() ? describe(*exit, command, limit) : error)};
}

// ocloc 22.43 prints its help and then fails with 212.
std::string ToolRoom::ask(const Tool& tool, const std::vector<std::string>& arguments) const {
  if (tool.path.empty()) return {};
  (void)run(tool, arguments, kPatience);
  return read("log");
}

// clang: "clang version 15.0.6"; ptxas: "Cuda compilation tools, release 12.9, V12.9.86". The file that ocloc's query
// leaves ends in a NUL, in 22.43 in a dot and a NUL; ocloc may fail although it wrote it.
std::string ToolRoom::version_of(const Tool& tool) const {
  if (tool.name == "clang") return word_behind(ask(tool, {"--version"}), "clang version ");
  if (tool.name == "ptxas") return word_behind(ask(tool, {"--version"}), ", V");
  const char* const query = "OCL_DRIVER_VERSION";
  (void)ask(tool, {"query", query});
  const std::string text = read(query);
  return text.substr(0, text.find_last_of("0123456789") + 1);
}

std::string ToolRoom::read(const std::string& file) const {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;
  const Result<std::string> text = os::read_file(directory_.path() + "/" + file, kMostBytes);
  return text ? *text : std::string();
}

Status ToolRoom::write(const std::string& file, const std::string& text) const {
  const fs::path plain = os::native(file).lexically_normal();
  if (plain.is_absolute() || *plain.begin() == "..") {
    return {Code::invalid_argument, "the name " + file + " leads out of the folder that it is for"};
  }
  const std::string path = directory_.path() + "/" + os::utf8(plain);
  std::error_code error;
  fs::create_directories(os::native(path).parent_path(), error);
  std::ofstream stream(os::native(path), std::ios::binary);
  stream << text << std::flush;
  return stream ? Status() : Status(Code::io, path + ": cannot write");
}

}  // namespace clbake::builder::compile
