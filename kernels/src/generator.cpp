#include <clbake/kernels/generator.hpp>

#include "sources.hpp"

namespace clbake::kernels {

namespace {

const char* family_source(Family family) {
  switch (family) {
    case Family::direct: return embedded::direct_cl;
    case Family::register_tile: return embedded::register_tile_cl;
    case Family::local_tile: return embedded::local_tile_cl;
  }
  return "";
}

// The line directives make a compiler's messages point into the files as they are in kernels/.
std::string assemble_source(Family family, const std::string& file_name) {
  return std::string("#line 1 \"common.cl\"\n") + embedded::common_cl + "#line 1 \"" + file_name + "\"\n" +
         family_source(family);
}

std::string build_options(const Params& params) {
  std::string options = "-cl-std=CL1.2";
  const auto define = [&options](const char* macro, std::uint32_t value) {
    options.append(" -D").append(macro).append("=").append(std::to_string(value));
  };
  define("PRECISION", 8 * element_bytes(params.precision));
  define("TRANS_A", params.trans_a ? 1 : 0);
  define("TRANS_B", params.trans_b ? 1 : 0);
  define("ML", params.ml);
  define("NL", params.nl);
  define("KL", params.kl);
  define("MS", params.ms);
  define("NS", params.ns);
  define("KS", params.ks);
  define("VECTOR_WIDTH", params.vector_width);
  return options;
}

}  // namespace

Kernel generate(const Params& params) {
  Kernel kernel;
  kernel.name = name(params);
  kernel.source_name = std::string(name(params.family)) + ".cl";
  kernel.source = assemble_source(params.family, kernel.source_name);
  kernel.build_options = build_options(params);
  kernel.kernel_name = "clbake_gemm";
  const WorkGroup work_group = work_group_size(params);
  kernel.local[0] = work_group.x;
  kernel.local[1] = work_group.y;
  kernel.tile_m = params.ml;
  kernel.tile_n = params.nl;
  return kernel;
}

}  // namespace clbake::kernels
