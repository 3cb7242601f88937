// The table of OpenCL platforms: how their drivers differ. Nothing else compares the names of platforms
// (tests/structure/platforms.sh); the builder's half of each row is clbake/builder/platforms.hpp. Not installed.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

#include <cstdint>
#include <string>

namespace clbake {

enum class PlatformId : std::uint8_t { pocl, nvidia, amd, intel_gpu, intel_cpu, rusticl, oclgrind, other };

// The content of CL_PROGRAM_BINARIES, by which finalize() goes.
enum class Binaries : std::uint8_t {
  functions,       // machine code for those work-group sizes that were launched before (finalize.cpp)
  intermediate,    // an intermediate language, whatever was launched before: compiled at every load
  after_launches,  // unknown: taken after all kernels were launched at every shape, it holds all that the driver keeps
};

// The source of Target::architecture.
enum class Architecture : std::uint8_t {
  none,
  compute_capability,  // "sm_90", by cl_nv_device_attribute_query
  llvm_cpu,            // "skylake-avx512", the end of CL_DEVICE_VERSION
  gfx_name,            // "gfx90a", CL_DEVICE_NAME where it begins so
};

struct Platform {
  const char* name;  // CL_PLATFORM_NAME
  PlatformId id;
  Binaries binaries;
  Architecture architecture;
  bool runs_on_host;        // a device that is a CPU is the one of this process, and gets machine code for it
  bool loads_older_code;    // made by older drivers, and says so when it cannot
  bool needs_events;        // each launch has an event, also on a queue that is in order; else events only cost time
  bool unpacks_programs;    // into files, which first launches open: milliseconds for each program
  const char* preloadable;  // a library that the driver loads with a process's first program; null: none
};

// The row of a platform; the one of PlatformId::other for a name that no row has.
const Platform& platform_of(const cache::Target& target);
const Platform& platform_named(const std::string& name);

// The feature of CPUs whose instructions the variant has in assembler, which no compiler refuses: "avx512vnni" or
// "avx512bf16"; empty: there are none. cpu_features of a target, which are the compiler's, need not have it.
const char* assembler_feature(const cache::Variant& variant);

// The features of this process's CPU, separated by spaces, whose assembler the device's compiler takes. Asks the CPU:
// microseconds.
std::string assembler_features(const cache::Target& device);

// True where the variant has none, or assembler of one of these features.
bool takes_assembler(const std::string& features, const cache::Variant& variant);

// The failure of a variant whose assembler is not taken: missing_feature.
Status lacks_assembler(const cache::Variant& variant);

}  // namespace clbake
