// The compilers behind the offline targets: where they are, and how to run them.
#pragma once

#include <clbake/builder/offline_targets.hpp>
#include <clbake/builder/scratch.hpp>

#include <chrono>

namespace clbake::builder {

// The version is left empty: to find it costs a process.
Tool clang_tool();
Tool libclc_tool(const Tool& clang);  // the bitcode for NVIDIA: clang's own, else the system's
Tool ptxas_tool();
Tool ocloc_tool();

// Run an installed tool in `directory`; empty when it prints no version.
std::string clang_version(const Tool& clang, const ScratchDirectory& directory, std::chrono::seconds timeout);
std::string ptxas_version(const Tool& ptxas, const ScratchDirectory& directory, std::chrono::seconds timeout);
std::string ocloc_version(const Tool& ocloc, const ScratchDirectory& directory, std::chrono::seconds timeout);

// "ptxas 12.9.86", or the name alone when the version is unknown.
std::string name(const cache::Tool& tool);

// Fails with not_found when the tool is not installed; the message names its package.
Status required(const Tool& tool);

// Runs the tool in `directory`, its working directory, and returns what it printed. Fails with build_failed and the
// first line that mentions an error.
Result<std::string> run_tool(const Tool& tool, const std::vector<std::string>& arguments,
                             const ScratchDirectory& directory, std::chrono::seconds timeout);

// The file that takes what run_tool's tool prints; the next run replaces it.
std::string log_of(const Tool& tool, const ScratchDirectory& directory);

// Empty when the file cannot be read.
std::string file_text(const std::string& path);
Status write_text(const std::string& path, const std::string& text);

// The word of `text` that follows `prefix`, up to a blank or comma; empty when there is none.
std::string word_behind(const std::string& text, const std::string& prefix);

}  // namespace clbake::builder
