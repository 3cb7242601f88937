#include <clbake/builder/tuning_file.hpp>
#include <clbake/platform.hpp>

namespace clbake::builder::profile {

namespace embedded {
extern const char* const files[][2];  // by tools/cmake/EmbedText.cmake
}

std::string device_class(const Device& device) {
  const auto made_by = [&](const char* vendor) { return device.target.vendor.find(vendor) != std::string::npos; };
  if (device.type == kernels::DeviceType::cpu) {
    // Intel's compiler makes other code of a kernel than LLVM alone does.
    if (platform_of(device.target).id == PlatformId::intel_cpu) {
      return device.vector_bytes >= 64 ? "intel-avx512" : "intel-avx2";
    }
    if (device.target.device_version.find("-aarch64-") != std::string::npos) return "cpu-neon";
    return device.vector_bytes >= 64 ? "cpu-avx512" : device.vector_bytes >= 32 ? "cpu-avx2" : "other";
  }
  if (device.limits.ptx || made_by("NVIDIA")) return "nvidia";
  if (made_by("Advanced Micro Devices") || made_by("AMD")) return "amd";
  return made_by("Intel") ? "intel-gpu" : "other";
}

const std::vector<NamedTuning>& shipped_profiles() {
  static const std::vector<NamedTuning> profiles = [] {
    std::vector<NamedTuning> all;
    for (const auto* file = embedded::files; (*file)[0]; ++file) {
      const std::string name = (*file)[0];
      Result<Tuning> tuning = parse_tuning((*file)[1], name);  // a test reads every one of them
      if (tuning) all.push_back({name.substr(0, name.rfind('.')), std::move(*tuning)});
    }
    return all;
  }();
  return profiles;
}

}  // namespace clbake::builder::profile
