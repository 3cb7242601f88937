#include <clbake/kernels/complex.hpp>

#include "sources.hpp"

namespace clbake::kernels {
namespace {

// On CPUs a work-item copies whole rows, 64 bytes at a time, the widest vector register; on GPUs neighbours copy
// neighbouring elements.
constexpr std::uint32_t vector_bytes = 64;
constexpr std::uint32_t gpu_items = 64;

}  // namespace

ComplexProgram complex_program(DeviceType type, Precision precision) {
  const bool is_cpu = type == DeviceType::cpu;
  const std::uint32_t bytes = real_bytes(real_precision(precision));
  ComplexProgram program;
  program.source_name = "complex.cl";
  program.source = std::string("#line 1 \"complex.cl\"\n") + embedded::complex_cl;
  program.items = is_cpu ? 1 : gpu_items;
  program.build_options = "-cl-std=CL1.2 -DPRECISION=" + std::to_string(8 * bytes) +
                          " -DITEMS=" + std::to_string(program.items) +
                          " -DWIDTH=" + std::to_string(is_cpu ? vector_bytes / bytes : 2);
  program.kernel_names = {"clbake_complex_a", "clbake_complex_b", "clbake_complex_c"};
  return program;
}

}  // namespace clbake::kernels
