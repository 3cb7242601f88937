#include <clbake/kernels/generator.hpp>

#include "traits.hpp"

namespace clbake::kernels {

// The .cl files by name, embedded by tools/cmake/EmbedText.cmake.
namespace embedded {
extern const char* const files[][2];
}

namespace {

// PACK_TILE and PACK_ITEMS of pack.cl, REDUCE_ITEMS of reduce.cl.
constexpr std::uint32_t pack_items = 256;
constexpr std::uint32_t reduce_items = 64;
constexpr std::uint32_t terms_items = 64;  // TERMS_ITEMS of terms.cl

// Complex products: on CPUs a work-item copies whole rows, 64 bytes at a time, the widest vector register; on GPUs
// neighbours copy neighbouring elements.
constexpr std::uint32_t complex_vector_bytes = 64;
constexpr std::uint32_t complex_gpu_items = 64;

// The files of a program of this family, in their order; the family's own is the last.
std::vector<std::string> files_of(const Params& params) {
  const Family family = params.family;
  const bool warpgroups = family == Family::warpgroup_tile, mixed = is_mixed(multiplied(params));
  const bool matrix_weights = has_matrix_weights(params);
  std::vector<std::string> files = {"types.cl"};
  const auto add = [&](bool wanted, std::initializer_list<const char*> names) {
    if (wanted) files.insert(files.end(), names.begin(), names.end());
  };
  // The other families that multiply bytes have one text for all precisions.
  const bool bytes = multiplies_bytes(family) && (mixed || !warpgroups);
  add(bytes, {"mixed.cl"});
  add(mixed && warpgroups, {"aligned_stores.cl"});
  add(true, {"common.cl", "tile.cl", "pack.cl"});
  add(bytes, {"terms.cl"});
  add(family == Family::stripe, {"pack_image.cl"});
  add(true, {"reduce.cl"});
  const bool ring = family == Family::warp_tile || has_ring(params);
  add(ring || warpgroups || matrix_weights, {"async_copy.cl"});
  add(reads_weights(params), {"packed_weights.cl"});
  add(warpgroups, {"warpgroup_ring.cl", "warpgroup_turns.cl", "warpgroup_copies.cl", "tensor_copies.cl",
                   "warpgroup_gather.cl", mixed ? "warpgroup_mixed.cl" : "warpgroup_update.cl", "warpgroup_wgmma.cl"});
  add(warpgroups && reads_weights(params), {"warpgroup_weights.cl"});
  add(family == Family::register_tile, {"register_panels.cl"});
  add(params.dots, {"register_dots.cl"});
  add(params.lines, {"register_lines.cl"});
  add(family == Family::local_tile, {"tile_loads.cl", "exchange.cl"});
  add(ring, {"async_ring.cl"});
  add(shares_k(family) || family == Family::local_tile || family == Family::warp_tile, {"share_k.cl"});
  files.push_back(matrix_weights ? "weight_mma.cl" : std::string(name(family)) + ".cl");
  return files;
}

// The files one after the other. The line directives make compiler messages refer to the files in kernels/.
std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const auto* file = embedded::files;
    while (name != (*file)[0]) ++file;
    text.append("#line 1 \"").append(name).append("\"\n").append((*file)[1]);
  }
  return text;
}

// A choice is the macro that the .cl files define for its word.
std::string macro_value(const Parameter& parameter, std::uint32_t value) {
  if (parameter.words.empty() || parameter.is_switch) return std::to_string(value);
  std::string macro;
  for (const char c : parameter.words[value]) macro += 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return macro;
}

std::string build_options(const Params& params) {
  std::string options = "-cl-std=CL1.2";
  const auto define = [&options](std::string_view macro, const std::string& value) {
    options.append(" -D").append(macro).append("=").append(value);
  };
  const Element c = element_c(params.precision);
  define("PRECISION", std::to_string(8 * bytes_of(c)));
  if (c == Element::bfloat16) define("BFLOAT16", "1");
  if (has_weights(params.precision)) {
    define("WEIGHT_BITS", element_b(params.precision) == Element::q4 ? "4" : "8");
    if (params.family == Family::weight_tile) {
      define("A_BITS", std::to_string(8 * bytes_of(element_a(params.precision))));
      define("A_BFLOAT16", element_a(params.precision) == Element::bfloat16 ? "1" : "0");
    }
  } else if (is_mixed(params.precision)) {
    const auto number = [](Element element) { return std::to_string(static_cast<unsigned>(element)); };
    define("A_TYPE", number(element_a(params.precision)));
    define("B_TYPE", number(element_b(params.precision)));
    define("C_TYPE", number(c));
  }
  define("TRANS_A", params.trans_a ? "1" : "0");
  define("TRANS_B", params.trans_b ? "1" : "0");
  // The files that all families share need these.
  constexpr std::string_view shared[] = {"KL", "LAYOUT_A", "LAYOUT_B"};
  for (const Parameter& parameter : parameters()) {
    if (parameter.macro.empty()) continue;
    bool wanted = parameter.of(params.family);
    for (const std::string_view macro : shared) wanted = wanted || macro == parameter.macro;
    if (wanted) define(parameter.macro, macro_value(parameter, parameter.get(params)));
  }
  if (params.lines) {
    const FewLines few = few_lines(params);
    define("MOST_ROWS", std::to_string(few.rows));
    define("MOST_COLUMNS", std::to_string(few.columns));
    define("LINE_GROUP", std::to_string(few.group));
  }
  if (params.group) define("GROUP", "1");
  // So that 16 warps of a multiprocessor have their loads under way; NVIDIA's assembler would take more registers.
  if (has_matrix_weights(params) && params.ml == 8) options += " -cl-nv-maxrregcount=128";
  // PoCL 7.1 has images for OpenCL C 1.2 only if this says so, though the standard has the name from 3.0 on.
  if (params.layout_a == Layout::image || params.layout_b == Layout::image) define("__opencl_c_images", "1");
  return options;
}

Launch pack_launch(Role role, const char* kernel_name, Precision precision) {
  const std::uint32_t pack_tile = bytes_of(element_a(precision)) <= 2 ? 64 : 32;
  return {role, kernel_name, {pack_items, 1, 1}, pack_tile, pack_tile};
}

}  // namespace

FewLines few_lines(const Params& params) {
  if (!params.lines) return {};
  const bool long_vectors = params.vector_width * real_bytes(params.precision) >= 64;
  const std::uint32_t rows = long_vectors || params.trans_b ? 8 : 32;
  return {rows, !params.trans_a || params.dots ? 8U : long_vectors ? 16U : 32U, 4};
}

Kernel generate(const Params& params) {
  Kernel kernel;
  kernel.name = name(params);
  kernel.source_name = std::string(name(params.family)) + ".cl";
  kernel.source = joined(files_of(params));
  kernel.build_options = build_options(params);
  if (params.layout_a != Layout::row_major)
    kernel.launches.push_back(pack_launch(Role::pack_a, "clbake_pack_a", params.precision));
  if (params.layout_b != Layout::row_major)
    kernel.launches.push_back(pack_launch(Role::pack_b, "clbake_pack_b", params.precision));
  if (sums_integers(params.precision)) {
    kernel.launches.push_back({Role::row_terms, "clbake_row_terms", {terms_items, 1, 1}, 1, terms_items});
    kernel.launches.push_back({Role::column_terms, "clbake_column_terms", {terms_items, 1, 1}, 1, terms_items});
  }
  const WorkGroup group = work_group_size(params);
  const Role product = params.group ? Role::group : Role::gemm;
  kernel.launches.push_back({product, "clbake_gemm", {group.x, group.y, 1}, params.ml, params.nl});
  if (params.split_k != 1) {
    const std::uint32_t each = params.split_k < 8 ? 4 : 1;  // REDUCE_EACH
    kernel.launches.push_back({Role::reduce, "clbake_reduce", {reduce_items, 1, 1}, 1, reduce_items * each});
  }
  return kernel;
}

ComplexProgram complex_program(DeviceType type, Precision precision) {
  const bool is_cpu = type == DeviceType::cpu;
  const std::uint32_t bytes = real_bytes(real_precision(precision));
  ComplexProgram program;
  program.source_name = "complex.cl";
  program.source = joined({program.source_name});
  program.items = is_cpu ? 1 : complex_gpu_items;
  program.build_options = "-cl-std=CL1.2 -DPRECISION=" + std::to_string(8 * bytes) +
                          " -DITEMS=" + std::to_string(program.items) +
                          " -DWIDTH=" + std::to_string(is_cpu ? complex_vector_bytes / bytes : 2);
  program.kernel_names = {"clbake_complex_a", "clbake_complex_b", "clbake_complex_c"};
  return program;
}

}  // namespace clbake::kernels
