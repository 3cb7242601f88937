// The compilers behind the offline targets: where they are, and how to run them.
#pragma once

#include <clbake/builder/offline_targets.hpp>
#include <clbake/builder/scratch.hpp>

#include <chrono>

namespace clbake::builder::compile {

// The version is left empty: to find it costs a process.
Tool clang_tool();
Tool libclc_tool(const Tool& clang);  // the bitcode for NVIDIA: clang's own, else the system's
Tool ptxas_tool();
Tool ocloc_tool();

// "ptxas 12.9.86", or the name alone when the version is unknown.
std::string name(const cache::Tool& tool);

// Fails with not_found when one of the tools is not installed; the message names its package.
Status required(const std::vector<Tool>& tools);

// For clang. "nvcl", not libclc's "nvidiacl": then it marks pointer arguments with their address space, as NVIDIA's
// OpenCL compiler does.
inline constexpr const char* kNvidiaTriple = "--target=nvptx64--nvcl";

// For clang: vstore_half in the place of vstore_half_rte. Both round to nearest even, libclc's second in software,
// which makes a kernel that stores 8x8 halves per work-item five times as long.
std::vector<std::string> options_for_halves();

constexpr std::chrono::seconds kPatience(20);  // with a tool that only answers a question

// A scratch directory in which tools run.
class ToolRoom {
 public:
  static Result<ToolRoom> create();

  // Runs an installed tool. Compilers need no limit: whoever waits for this process has one. Fails with build_failed
  // and the first line of its output that mentions an error.
  Status run(const Tool& tool, const std::vector<std::string>& arguments,
             std::chrono::seconds limit = std::chrono::hours(24)) const;

  // The same; what the tool printed, whatever its exit status, after at most kPatience.
  std::string ask(const Tool& tool, const std::vector<std::string>& arguments) const;

  // "12.9.86"; empty when the tool is not installed or tells none.
  std::string version_of(const Tool& tool) const;

  // Files of the directory and of folders in it, which write makes; empty when one cannot be read. write fails with
  // invalid_argument for a name that leads elsewhere.
  std::string read(const std::string& file) const;
  Status write(const std::string& file, const std::string& text) const;

 private:
  explicit ToolRoom(process::ScratchDirectory directory) : directory_(std::move(directory)) {}
  process::ScratchDirectory directory_;
};

}  // namespace clbake::builder::compile
