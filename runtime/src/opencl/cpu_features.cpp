#include "opencl/cpu_features.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#include "opencl/x86_features.hpp"
using namespace clbake::x86;
#elif defined(__aarch64__)
#include "opencl/arm_features.hpp"
using namespace clbake::arm;
#endif

namespace clbake {

#if defined(__x86_64__) || defined(_M_X64) || defined(__aarch64__)

namespace {

// LLVM's names of the CPUs of the line, in their order.
constexpr char kCpus[][15] = {"x86-64",      "core2",     "penryn",  "nehalem",
                              "sandybridge", "ivybridge", "haswell", "skylake-avx512"};

CpuLevel level_of(const std::string& cpu) {
  std::uint8_t level = 0;
  for (const char* known : kCpus) {
    if (cpu == known) break;
    ++level;
  }
  return static_cast<CpuLevel>(level);
}

}  // namespace

std::string cpu_features(const std::string& compiled_for) {
  if (compiled_for == "generic") return {};
  static const CpuWords words = read_cpu_words();
  const CpuLevel level = level_of(compiled_for);
  std::string names;
  for (const CpuFeature& feature : kCpuFeatures) {
    const bool present = (words.word[feature.word] >> feature.bit & 1U) != 0;
    if (!present || feature.registers > words.saved || feature.level > level) continue;
    if (!names.empty()) names += ' ';
    names += feature.name;
  }
  return names;
}

#else

std::string cpu_features(const std::string&) { return {}; }

#endif

}  // namespace clbake
