#include "offline_tools.hpp"

#include <algorithm>

namespace clbake::builder {
namespace {

constexpr std::chrono::seconds kPatience{20};  // for a tool that is asked for its version

constexpr const char* kNvidiaArchitectures[] = {"sm_50",  "sm_52",  "sm_53",  "sm_60",  "sm_61", "sm_62", "sm_70",
                                                "sm_72",  "sm_75",  "sm_80",  "sm_86",  "sm_87", "sm_89", "sm_90",
                                                "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};

// As ocloc names them; what NEO, the driver, reports of these devices.
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
    {"dg2", false, true, 1024},   // Arc, Xe-HPG
    {"pvc", true, false, 1024},   // Data Center GPU Max, Xe-HPC
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

std::string ask(const Tool& tool, const std::vector<std::string>& arguments, const ScratchDirectory& directory) {
  if (tool.path.empty()) return {};
  const Result<std::string> answer = run_tool(tool, arguments, directory, kPatience);
  return answer ? *answer : std::string();
}

std::string obstacle_of(const std::vector<Tool>& tools) {
  for (const Tool& tool : tools) {
    const Status status = required(tool);
    if (!status) return status.message();
  }
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
  target.device.kind = kernels::DeviceKind::gpu;
  target.device.vector_bytes = 4;
  kernels::DeviceLimits& limits = target.device.limits;
  limits.fp64 = true;
  limits.max_work_group_size = 1024;
  limits.max_work_item_sizes[0] = limits.max_work_item_sizes[1] = 1024;
  limits.max_work_item_sizes[2] = 64;
  limits.local_memory_bytes = 49152;
  limits.images = true;
  limits.ptx = static_cast<std::uint32_t>(generation(architecture));
  const Tool& ptxas = tools.back();
  target.obstacle = obstacle_of(tools);
  if (!target.obstacle.empty()) return target;
  if (ptxas_help.find("'" + t.architecture + "'") == std::string::npos) {
    target.obstacle = "ptxas " + ptxas.version + " does not know " + t.architecture;
  } else if (t.driver_version.empty()) {
    target.obstacle =
        "which drivers load machine code of CUDA " + ptxas.version + " is not known: those of 11 to 13 are";
  }
  return target;
}

OfflineTarget intel_target(const IntelDevice& intel, const Tool& ocloc) {
  OfflineTarget target;
  target.name = std::string("intel:") + intel.name;
  target.tools = {ocloc};
  Target& t = target.device.target;
  t.platform_name = "Intel(R) OpenCL HD Graphics";
  t.vendor = "Intel(R) Corporation";
  t.architecture = intel.name;
  t.address_bits = 64;
  t.driver_version = ocloc.version;
  target.device.kind = kernels::DeviceKind::gpu;
  target.device.vector_bytes = 4;
  kernels::DeviceLimits& limits = target.device.limits;
  limits.fp64 = intel.fp64;
  limits.images = intel.images;
  limits.max_work_group_size = intel.work_group_size;
  for (std::uint64_t& size : limits.max_work_item_sizes) size = intel.work_group_size;
  limits.local_memory_bytes = 65536;
  target.obstacle = obstacle_of(target.tools);
  return target;
}

std::string known_names(const std::vector<OfflineTarget>& targets) {
  std::string text;
  for (const OfflineTarget& target : targets) text += (text.empty() ? "" : ", ") + target.name;
  return text;
}

}  // namespace

std::vector<OfflineTarget> offline_targets() {
  std::vector<OfflineTarget> targets;
  const Result<ScratchDirectory> scratch = ScratchDirectory::create();
  Tool clang = clang_tool();
  Tool ptxas = ptxas_tool();
  Tool ocloc = ocloc_tool();
  std::string ptxas_help;
  if (scratch) {
    if (!clang.path.empty()) clang.version = clang_version(clang, *scratch, kPatience);
    ptxas.version = word_behind(ask(ptxas, {"--version"}, *scratch), ", V");
    ptxas_help = ask(ptxas, {"--help"}, *scratch);
    // Leaves a file of that name.
    ask(ocloc, {"query", "OCL_DRIVER_VERSION"}, *scratch);
    ocloc.version = file_text(scratch->path() + "/OCL_DRIVER_VERSION");
  }
  for (const char* architecture : kNvidiaArchitectures) {
    targets.push_back(nvidia_target(architecture, {clang, libclc_tool(clang), ptxas}, ptxas_help));
  }
  for (const IntelDevice& device : kIntelDevices) targets.push_back(intel_target(device, ocloc));
  return targets;
}

Result<std::vector<OfflineTarget>> offline_targets_named(const std::vector<std::string>& names) {
  const std::vector<OfflineTarget> all = offline_targets();
  std::vector<OfflineTarget> found;
  for (const std::string& name : names) {
    const auto target = std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.name == name; });
    if (target == all.end()) {
      return {Code::invalid_argument, "there is no '" + name + "'; there are: " + known_names(all)};
    }
    if (!target->obstacle.empty()) return {Code::not_found, name + ": " + target->obstacle};
    found.push_back(*target);
  }
  return found;
}

std::string tools_of(const OfflineTarget& target) {
  std::string text;
  for (const Tool& tool : target.tools) {
    text += (text.empty() ? "" : ", ") + tool.name + (tool.version.empty() ? "" : " " + tool.version);
  }
  return text;
}

kernels::Params offline_variant(const OfflineTarget& target, kernels::Params params) {
  if (target.device.limits.ptx > 0) params.front_end = kernels::FrontEnd::clang;
  return params;
}

}  // namespace clbake::builder
