#include "bench/synthetic_drivers.hpp"

#include <algorithm>
#include <random>

namespace clbake::tool {
namespace {

constexpr std::size_t kInstructionBytes = 16;
constexpr std::size_t kInstructions = 400;  // that a program chooses from, some of them much more often than others

void add_instruction(std::mt19937& random, cache::Bytes& program) {
  const std::size_t most = 1 + random() % kInstructions;
  std::mt19937 instruction(static_cast<std::uint32_t>(random() % most));
  for (std::size_t i = 0; i < kInstructionBytes; ++i) {
    program.push_back(static_cast<std::uint8_t>(i % 4 == 3 ? 0 : instruction()));
  }
}

cache::Bytes synthetic_program(std::uint32_t target, std::uint32_t variant, std::size_t bytes) {
  std::mt19937 of_variant(variant);
  std::mt19937 of_both(target * 7919 + variant);
  cache::Bytes program;
  program.reserve(bytes + kInstructionBytes);
  for (int i = 0; i < 4; ++i) program.push_back(static_cast<std::uint8_t>(target >> 8 * i));
  for (int i = 0; i < 4; ++i) program.push_back(static_cast<std::uint8_t>(variant >> 8 * i));
  while (program.size() < bytes) {
    const bool differs = of_both() % 20 == 0;
    add_instruction(differs ? of_both : of_variant, program);
    if (differs) of_variant.discard(2);
  }
  program.resize(std::max<std::size_t>(bytes, 8));
  return program;
}

}  // namespace

cache::Contents synthetic_drivers(std::uint32_t targets, std::uint32_t variants, std::size_t program_bytes,
                                  std::uint32_t first_target) {
  cache::Contents contents;
  contents.sources.push_back({"synthetic.cl", "kernel void gemm() {}\n"});
  for (std::uint32_t v = 0; v < variants; ++v) {
    cache::Variant variant;
    variant.name = "made-up-" + std::to_string(v);
    variant.family = "made up";
    variant.contract = 4;
    variant.launches.push_back({cache::Role::gemm, "gemm", {8, 8, 1}, 32, 32});
    contents.variants.push_back(std::move(variant));
  }
  for (std::uint32_t t = 0; t < targets; ++t) {
    cache::Target target;
    target.platform_name = "Made-up Platform";
    target.vendor = "Nobody";
    target.device_name = "Made-up Device";
    target.driver_version = std::to_string(first_target + t);
    target.address_bits = 64;
    contents.targets.push_back(std::move(target));
    for (std::uint32_t v = 0; v < variants; ++v) {
      cache::Entry entry;
      entry.target = t;
      entry.variant = v;
      entry.program = synthetic_program(first_target + t, v, program_bytes);
      contents.entries.push_back(std::move(entry));
    }
  }
  return contents;
}

}  // namespace clbake::tool
