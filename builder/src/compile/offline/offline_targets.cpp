#include "compile/offline/offline_tools.hpp"

#include <clbake/compute_capability.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

namespace clbake::builder::compile {
namespace {

constexpr const char* kNvidiaArchitectures[] = {"sm_50",  "sm_52",  "sm_53",  "sm_60",  "sm_61", "sm_62", "sm_70",
                                                "sm_72",  "sm_75",  "sm_80",  "sm_86",  "sm_87", "sm_89", "sm_90",
                                                "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};

// By ocloc's names, with what NEO, the driver, reports of them. No release of ocloc knows all of them: 26.27 has
// dropped skl and icllp, and 22.43 is older than mtl.
struct IntelDevice {
  const char* name;
  bool fp64;
  bool images;
  std::uint64_t work_group_size;
};
constexpr IntelDevice kIntelDevices[] = {
    {"skl", true, true, 256},     // Skylake, generation 9
    {"icllp", false, true, 256},  // Ice Lake, 11
    {"tgllp", false, true, 512},  // Tiger Lake, 12
    {"adlp", false, true, 512},   // Alder Lake, 12
    {"dg1", false, true, 512},    // Iris Xe MAX, 12
    {"dg2", false, true, 1024},   // Arc A, Xe-HPG
    {"pvc", true, false, 1024},   // Data Center GPU Max, Xe-HPC
    {"mtl", true, true, 1024},    // Meteor Lake, Xe-LPG
    {"arl", true, true, 1024},    // Arrow Lake, Xe-LPG+
    {"bmg", true, true, 1024},    // Arc B, Xe2-HPG
    {"lnl", true, true, 1024},    // Lunar Lake, Xe2-LPG
    {"ptl", true, true, 1024},    // Panther Lake, Xe3-LPG
};

// The oldest driver that loads machine code of a CUDA toolkit: "Minimum Required Driver Version for CUDA Minor Version
// Compatibility" in https://docs.nvidia.com/cuda/cuda-toolkit-release-notes, Linux. Empty for other releases.
std::string oldest_driver(const std::string& toolkit) {
  const std::string major = toolkit.substr(0, toolkit.find('.'));
  if (major == "11") return "450.80.02";
  if (major == "12") return "525.60.13";
  if (major == "13") return "580.65.06";
  return {};
}

OfflineTarget nvidia_target(const char* architecture, const std::vector<Tool>& tools, const std::string& ptxas_help) {
  OfflineTarget target;
  target.name = std::string("nvidia:") + architecture;
  target.tools = tools;
  Target& t = target.device.target;
  t.platform_name = "NVIDIA CUDA";
  t.vendor = "NVIDIA Corporation";
  t.architecture = architecture;
  t.address_bits = 64;
  t.driver_version = oldest_driver(tools.back().version);
  target.device.type = kernels::DeviceType::gpu;
  target.device.vector_bytes = 4;
  kernels::DeviceLimits& limits = target.device.limits;
  limits.fp64 = true;
  limits.max_work_group_size = 1024;
  limits.max_work_item_sizes[0] = limits.max_work_item_sizes[1] = 1024;
  limits.max_work_item_sizes[2] = 64;
  limits.local_memory_bytes = 49152;
  limits.images = true;
  kernels::set_nvidia_limits(limits, static_cast<std::uint32_t>(compute_capability(architecture)));
  const Tool& ptxas = tools.back();
  target.obstacle = required(tools).message();
  if (!target.obstacle.empty()) return target;
  if (ptxas_help.find("'" + t.architecture + "'") == std::string::npos) {
    target.obstacle = "ptxas " + ptxas.version + " does not know " + t.architecture;
  } else if (t.driver_version.empty()) {
    target.obstacle =
        "which drivers load machine code of CUDA " + ptxas.version + " is not known: those of 11 to 13 are";
  }
  return target;
}

std::vector<OfflineTarget> nvidia_targets(const ToolRoom& room) {
  Tool clang = clang_tool();
  Tool ptxas = ptxas_tool();
  clang.version = room.version_of(clang);
  ptxas.version = room.version_of(ptxas);
  const std::string help = room.ask(ptxas, {"--help"});
  std::vector<OfflineTarget> targets;
  for (const char* architecture : kNvidiaArchitectures) {
    targets.push_back(nvidia_target(architecture, {clang, libclc_tool(clang), ptxas}, help));
  }
  return targets;
}

// NEO's name for its platform: with "HD" up to 2022 (seen in 22.43), without it later (seen in 24.26 and 26.27).
const char* neo_platform(const std::string& version) {
  return std::strtol(version.c_str(), nullptr, 10) <= 22 ? "Intel(R) OpenCL HD Graphics" : "Intel(R) OpenCL Graphics";
}

// The devices that `ocloc compile --help` lists: "<device_type> can be: tgllp, dg1, dg2" and, in a second such line,
// those whose names are deprecated.
std::set<std::string> listed_devices(const std::string& help) {
  const std::string mark = "can be:";
  std::set<std::string> devices;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(mark);
    if (at == std::string::npos) continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line.substr(at + mark.size()));
    for (std::string word; words >> word;) devices.insert(word);
  }
  return devices;
}

OfflineTarget intel_target(const IntelDevice& intel, const Tool& ocloc) {
  OfflineTarget target;
  target.name = std::string("intel:") + intel.name;
  target.tools = {ocloc};
  Target& t = target.device.target;
  t.platform_name = neo_platform(ocloc.version);
  t.vendor = "Intel(R) Corporation";
  t.architecture = intel.name;
  t.address_bits = 64;
  t.driver_version = ocloc.version;
  target.device.type = kernels::DeviceType::gpu;
  target.device.vector_bytes = 4;
  kernels::DeviceLimits& limits = target.device.limits;
  limits.fp64 = intel.fp64;
  limits.images = intel.images;
  limits.max_work_group_size = intel.work_group_size;
  for (std::uint64_t& size : limits.max_work_item_sizes) size = intel.work_group_size;
  limits.local_memory_bytes = 65536;
  target.obstacle = required(target.tools).message();
  return target;
}

// The help leaves out some names that ocloc accepts (26.27: arl, lnl); `ocloc ids` resolves those, but not the
// deprecated ones (22.43: dg2).
std::vector<OfflineTarget> intel_targets(const ToolRoom& room) {
  Tool ocloc = ocloc_tool();
  ocloc.version = room.version_of(ocloc);
  const std::set<std::string> listed = listed_devices(room.ask(ocloc, {"compile", "--help"}));
  std::vector<OfflineTarget> targets;
  for (const IntelDevice& device : kIntelDevices) {
    targets.push_back(intel_target(device, ocloc));
    std::string& obstacle = targets.back().obstacle;
    const auto resolved = [&] { return room.run(ocloc, {"ids", device.name}, kPatience).ok(); };
    if (!obstacle.empty() || listed.count(device.name) || resolved()) continue;
    obstacle = "ocloc " + ocloc.version + " does not know " + device.name;
  }
  return targets;
}

}  // namespace

Result<std::vector<OfflineTarget>> offline_targets() {
  const Result<ToolRoom> room = ToolRoom::create();
  if (!room) return room.status();
  std::vector<OfflineTarget> targets = nvidia_targets(*room);
  for (OfflineTarget& target : intel_targets(*room)) targets.push_back(std::move(target));
  return targets;
}

Result<std::vector<OfflineTarget>> offline_targets_named(const std::vector<std::string>& names) {
  const Result<std::vector<OfflineTarget>> all = offline_targets();
  if (!all) return all.status();
  std::vector<OfflineTarget> found;
  for (const std::string& name : names) {
    const auto target = std::find_if(all->begin(), all->end(), [&](const auto& t) { return t.name == name; });
    if (target == all->end()) {
      std::string known;
      for (const OfflineTarget& each : *all) known += (known.empty() ? "" : ", ") + each.name;
      return {Code::invalid_argument, "there is no '" + name + "'; there are: " + known};
    }
    if (!target->obstacle.empty()) return {Code::not_found, name + ": " + target->obstacle};
    found.push_back(*target);
  }
  return found;
}

std::vector<cache::Tool> tools_of(const OfflineTarget& target) {
  std::vector<cache::Tool> tools;
  for (const Tool& tool : target.tools) tools.push_back({tool.name, tool.version});
  return tools;
}

kernels::Params offline_variant(const OfflineTarget& target, kernels::Params params) {
  if (target.device.limits.ptx > 0) params.front_end = kernels::FrontEnd::clang;
  return params;
}

}  // namespace clbake::builder::compile
