// Offline targets: machine code for devices that this machine lacks, by compilers that need neither device nor driver.
//
//   NVIDIA  clang's NVPTX back end and libclc write PTX, which ptxas of the CUDA toolkit assembles.
//   Intel   ocloc, the command-line form of the compiler in Intel's GPU driver (NEO).
//
// The result cannot be run here, so it is not proven.
#pragma once

#include <clbake/builder/devices.hpp>

#include <string>
#include <vector>

namespace clbake::builder::compile {

// A program, or a file that a program needs.
struct Tool {
  std::string name;     // "clang"
  std::string path;     // empty when it is not installed
  std::string version;  // "15.0.6"; empty when unknown
  std::string package;  // the packages that contain it, for a message
};

struct OfflineTarget {
  std::string name;  // "nvidia:sm_90"
  // `target` is the one of the entries: what every such device reports, empty where devices differ. driver_version is
  // the oldest driver that loads the machine code (NVIDIA), or ocloc's own version (Intel). `limits` hold on every such
  // device. The handles are null.
  Device device;
  std::vector<Tool> tools;
  std::string obstacle;  // why this machine cannot compile for it; empty when it can
};

// Every target that clbake knows, whether this machine can compile for it or not. Looks for the tools in PATH and asks
// them for their versions and devices: about 0.2 s. Fails with io when there is no scratch directory.
Result<std::vector<OfflineTarget>> offline_targets();

// The named targets, in that order. Fails with invalid_argument for an unknown name, with not_found for a target that
// this machine cannot compile for; the message says which tool is missing or too old.
Result<std::vector<OfflineTarget>> offline_targets_named(const std::vector<std::string>& names);

// The tools as the proof of a native entry names them, behind clbake.
std::vector<cache::Tool> tools_of(const OfflineTarget& target);

// The variant that is compiled for the target: for NVIDIA always with clang's front end.
kernels::Params offline_variant(const OfflineTarget& target, kernels::Params params);

}  // namespace clbake::builder::compile
