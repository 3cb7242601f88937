// From Params to everything that compiling and launching needs: joins the files of the family and turns parameters into
// build options. Writes no OpenCL C of its own and calls no OpenCL.
#pragma once

#include <clbake/kernels/params.hpp>

namespace clbake::kernels {

// The version of the kernel contract (KERNELS.md) that generated kernels obey.
inline constexpr std::uint32_t contract_version = 4;

// The task of one kernel of a variant. KERNELS.md lists the arguments of each role.
enum class Role { gemm, pack_a, pack_b, reduce, row_terms, column_terms, group };

struct Launch {
  Role role = Role::gemm;
  std::string kernel_name;             // of the __kernel function
  std::uint32_t local[3] = {1, 1, 1};  // work-group size, work-items
  std::uint32_t tile_m = 1;            // rows of C, or of the packed operand, per work-group
  std::uint32_t tile_n = 1;            // columns of C, or of the packed operand, per work-group
};

struct Kernel {
  std::string name;              // name(params)
  std::string source_name;       // the family's file, for build logs: "register_tile.cl"
  std::string source;            // complete OpenCL C text, the same for all variants of a family
  std::string build_options;     // for clBuildProgram: the parameters as macros
  std::vector<Launch> launches;  // in the order in which they run
};

// Requires check(params, some device).empty(). Pure: equal Params give equal Kernels.
Kernel generate(const Params& params);

// Up to so many rows or columns of C a variant with `lines` multiplies by loops of their own, a group at a time
// (register_lines.cl); others 0. More where vectors lie across k.
struct FewLines {
  std::uint32_t rows = 0, columns = 0, group = 1;
};
FewLines few_lines(const Params& params);

// kernels/complex.cl: what makes a complex product a real one.
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
