// A manifest to begin with (BAKING.md, "Your own kernels"), made of an application's sources.
#pragma once

#include <clbake/builder/devices.hpp>

#include <string>
#include <vector>

namespace clbake::builder::program {

struct SkeletonOptions {
  std::vector<std::string> files;  // of OpenCL C, each a program
  std::string options;             // of clBuildProgram
  std::string directory;           // of the manifest, to which it names the files relatively
  const Device* device = nullptr;  // whose driver tells what the kernels take; null: their texts do
};

struct Skeleton {
  std::string manifest;
  std::vector<std::string> remarks;  // on files that the driver did not build: what their texts say may be wrong
};

// Kernels with the sizes that they require and a plausible trial each, which their author has to look through. Fails
// with not_found, io or malformed for a file, or with no_program when none has a kernel.
Result<Skeleton> program_skeleton(const SkeletonOptions& options);

}  // namespace clbake::builder::program
