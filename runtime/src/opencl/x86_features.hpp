// Features of x86-64 CPUs: https://www.intel.com/sdm, volume 2, CPUID; AMD's manual, volume 3, appendix E.
#pragma once

#include "opencl/cpu_feature.hpp"

#ifdef _MSC_VER
#include <intrin.h>
#include <cstring>
#else
#include <cpuid.h>
#endif

namespace clbake::x86 {

enum X86Word : std::uint8_t { leaf1_ecx, leaf7_ebx, leaf7_ecx, leaf7_edx, leaf7_1_eax, leaf7_1_edx, extended_ecx };

struct CpuWords {
  std::uint32_t word[7] = {};
  Registers saved = Registers::old;
};

struct X86Leaf {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// The CPU must have the leaf. Takes 10 us in a virtual machine.
inline X86Leaf x86_leaf(std::uint32_t leaf, std::uint32_t subleaf = 0) {
  X86Leaf l;
#ifdef _MSC_VER
  int registers[4] = {};
  __cpuidex(registers, static_cast<int>(leaf), static_cast<int>(subleaf));
  std::memcpy(&l, registers, sizeof l);
#else
  __cpuid_count(leaf, subleaf, l.eax, l.ebx, l.ecx, l.edx);
#endif
  return l;
}

// The registers that the system saves, as bits. Needs bit 27 of leaf 1's ECX: the system has switched xgetbv on.
inline std::uint64_t x86_xcr0() {
#ifdef _MSC_VER
  return _xgetbv(0);
#else
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32U | low;
#endif
}

inline Registers registers_of(std::uint64_t xcr0) {
  constexpr std::uint64_t avx = 0x06, avx512 = 0xE6, apx = 0x800E6;
  if ((xcr0 & apx) == apx) return Registers::apx;
  if ((xcr0 & avx512) == avx512) return Registers::avx512;
  return (xcr0 & avx) == avx ? Registers::avx : Registers::old;
}

inline CpuWords read_cpu_words() {
  const X86Leaf one = x86_leaf(1), extended = x86_leaf(0x80000001U);
  X86Leaf seven, seven_1;
  if (x86_leaf(0).eax >= 7) seven = x86_leaf(7);
  if (seven.eax > 0) seven_1 = x86_leaf(7, 1);
  const std::uint64_t saved = (one.ecx >> 27U & 1U) != 0 ? x86_xcr0() : 0;
  return {{one.ecx, seven.ebx, seven.ecx, seven.edx, seven_1.eax, seven_1.edx, extended.ecx}, registers_of(saved)};
}

constexpr CpuFeature kCpuFeatures[] = {{"sse3", leaf1_ecx, 0, Registers::old, CpuLevel::core2},
                                       {"ssse3", leaf1_ecx, 9, Registers::old, CpuLevel::core2},
                                       {"cx16", leaf1_ecx, 13, Registers::old, CpuLevel::core2},
                                       {"sse4.1", leaf1_ecx, 19, Registers::old, CpuLevel::penryn},
                                       {"sse4.2", leaf1_ecx, 20, Registers::old, CpuLevel::nehalem},
                                       {"popcnt", leaf1_ecx, 23, Registers::old, CpuLevel::nehalem},
                                       {"avx", leaf1_ecx, 28, Registers::avx, CpuLevel::sandybridge},
                                       {"f16c", leaf1_ecx, 29, Registers::avx, CpuLevel::ivybridge},
                                       {"fma", leaf1_ecx, 12, Registers::avx, CpuLevel::haswell},
                                       {"movbe", leaf1_ecx, 22, Registers::old, CpuLevel::haswell},
                                       {"bmi", leaf7_ebx, 3, Registers::old, CpuLevel::haswell},
                                       {"bmi2", leaf7_ebx, 8, Registers::old, CpuLevel::haswell},
                                       {"lzcnt", extended_ecx, 5, Registers::old, CpuLevel::haswell},
                                       {"avx2", leaf7_ebx, 5, Registers::avx, CpuLevel::haswell},
                                       {"avx512f", leaf7_ebx, 16, Registers::avx512, CpuLevel::avx512},
                                       {"avx512cd", leaf7_ebx, 28, Registers::avx512, CpuLevel::avx512},
                                       {"avx512bw", leaf7_ebx, 30, Registers::avx512, CpuLevel::avx512},
                                       {"avx512dq", leaf7_ebx, 17, Registers::avx512, CpuLevel::avx512},
                                       {"avx512vl", leaf7_ebx, 31, Registers::avx512, CpuLevel::avx512},
                                       {"avx512ifma", leaf7_ebx, 21, Registers::avx512},
                                       {"avx512vbmi", leaf7_ecx, 1, Registers::avx512},
                                       {"avx512vbmi2", leaf7_ecx, 6, Registers::avx512},
                                       {"avx512vnni", leaf7_ecx, 11, Registers::avx512},
                                       {"avx512bitalg", leaf7_ecx, 12, Registers::avx512},
                                       {"avx512vpopcntdq", leaf7_ecx, 14, Registers::avx512},
                                       {"avx512fp16", leaf7_edx, 23, Registers::avx512},
                                       {"avx512bf16", leaf7_1_eax, 5, Registers::avx512},
                                       {"avx10", leaf7_1_edx, 19, Registers::avx512},
                                       {"avxvnni", leaf7_1_eax, 4, Registers::avx},
                                       {"avxneconvert", leaf7_1_edx, 5, Registers::avx},
                                       {"gfni", leaf7_ecx, 8},
                                       {"sse4a", extended_ecx, 6},
                                       {"xop", extended_ecx, 11, Registers::avx},
                                       {"fma4", extended_ecx, 16, Registers::avx},
                                       {"tbm", extended_ecx, 21},
                                       {"apxf", leaf7_1_edx, 21, Registers::apx}};

}  // namespace clbake::x86
