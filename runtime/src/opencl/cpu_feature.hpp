// A feature of a CPU, and the least of LLVM's CPUs that has it.
#pragma once

#include <cstdint>

namespace clbake {

// A line of CPUs, each with all features of those before it.
enum class CpuLevel : std::uint8_t { x86_64, core2, penryn, nehalem, sandybridge, ivybridge, haswell, avx512, none };

// Registers that the system saves for programs, each with those before it; without them the features that use them are
// switched off.
enum class Registers : std::uint8_t { old, avx, avx512, apx };

struct CpuFeature {
  char name[16];
  std::uint8_t word;  // bit `bit` of this word is set where the CPU has it
  std::uint8_t bit;
  Registers registers = Registers::old;
  CpuLevel level = CpuLevel::none;  // none: no CPU of the line
};

}  // namespace clbake
