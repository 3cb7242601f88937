// The kernels that make a complex product a real one: kernels/complex.cl.
#pragma once

#include <clbake/kernels/defaults.hpp>

namespace clbake::kernels {

struct ComplexProgram {
  std::string source_name;  // "complex.cl"
  std::string source;
  std::string build_options;
  std::uint32_t items = 1;                // work-items of a work-group, in one dimension
  std::vector<std::string> kernel_names;  // copies of A and B, scaling of C
};

// Requires is_complex(precision).
ComplexProgram complex_program(DeviceType type, Precision precision);

}  // namespace clbake::kernels
