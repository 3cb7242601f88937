// Features of AArch64 CPUs, by the bits that Linux gives every program: linux/Documentation/arch/arm64/elf_hwcaps.rst.
// They are those that all cores have; the number of a model (MIDR) may be another one on each core.
#pragma once

#include <clbake/os/cpu.hpp>

#include "opencl/cpu_feature.hpp"

namespace clbake::arm {

struct CpuWords {
  std::array<std::uint64_t, 2> word = {};
  Registers saved = Registers::old;
};

inline CpuWords read_cpu_words() { return {os::hardware_capabilities()}; }

constexpr CpuFeature kCpuFeatures[] = {
    {"crc32", 0, 7},      {"atomics", 0, 8},  {"fphp", 0, 9},    {"asimdhp", 0, 10}, {"asimdrdm", 0, 12},
    {"jscvt", 0, 13},     {"fcma", 0, 14},    {"lrcpc", 0, 15},  {"asimddp", 0, 20}, {"sve", 0, 22},
    {"asimdfhm", 0, 23},  {"uscat", 0, 25},   {"ilrcpc", 0, 26}, {"flagm", 0, 27},   {"sve2", 1, 1},
    {"svebitperm", 1, 4}, {"flagm2", 1, 7},   {"frint", 1, 8},   {"svei8mm", 1, 9},  {"svef32mm", 1, 10},
    {"svef64mm", 1, 11},  {"svebf16", 1, 12}, {"i8mm", 1, 13},   {"bf16", 1, 14}};

}  // namespace clbake::arm
