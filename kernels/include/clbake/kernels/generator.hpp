// Params -> everything needed to compile and launch. Text only: no OpenCL is called.
#pragma once

#include <clbake/kernels/params.hpp>

namespace clbake::kernels {

// The version of the kernel contract (KERNELS.md) that generated kernels obey.
inline constexpr std::uint32_t contract_version = 2;

// What a kernel of a variant does; each role has its own list of arguments in the contract.
enum class Role { gemm, copy_a, copy_b, reduce };

struct Launch {
  Role role = Role::gemm;
  std::string kernel_name;             // of the __kernel function
  std::uint32_t local[3] = {1, 1, 1};  // work-group size, work-items
  std::uint32_t tile_m = 1;            // rows of C, of a copy, per work-group
  std::uint32_t tile_n = 1;            // columns of C, of a copy, per work-group
};

struct Kernel {
  std::string name;              // name(params)
  std::string source_name;       // file name of the family, for build logs: "register_tile.cl"
  std::string source;            // complete OpenCL C text, the same for all variants of a family
  std::string build_options;     // for clBuildProgram: the parameters as macros
  std::vector<Launch> launches;  // in the order they run: copies, gemm, reduction
};

// Requires check(params, some device).empty(). Pure: equal Params give equal Kernels.
Kernel generate(const Params& params);

}  // namespace clbake::kernels
