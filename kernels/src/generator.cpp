#include <clbake/kernels/generator.hpp>

#include "sources.hpp"

namespace clbake::kernels {

namespace {

// PACK_TILE and PACK_ITEMS of pack.cl, REDUCE_ITEMS of reduce.cl.
constexpr std::uint32_t pack_items = 256;
constexpr std::uint32_t reduce_items = 64;

const char* family_source(Family family) {
  switch (family) {
    case Family::direct: return embedded::direct_cl;
    case Family::register_tile: return embedded::register_tile_cl;
    case Family::local_tile: return embedded::local_tile_cl;
    case Family::thin_tile: return embedded::thin_tile_cl;
    case Family::warp_tile: return embedded::warp_tile_cl;
    case Family::warpgroup_tile: return embedded::warpgroup_tile_cl;
    case Family::stripe: return embedded::stripe_cl;
  }
  return "";
}

// The line directives make compiler messages refer to the files in kernels/.
std::string assemble_source(Family family, const std::string& file_name) {
  std::string text;
  const auto append = [&text](const std::string& file, const char* content) {
    text.append("#line 1 \"").append(file).append("\"\n").append(content);
  };
  append("common.cl", embedded::common_cl);
  append("tile.cl", embedded::tile_cl);
  append("pack.cl", embedded::pack_cl);
  if (family == Family::stripe) append("pack_image.cl", embedded::pack_image_cl);
  append("reduce.cl", embedded::reduce_cl);
  const bool copies = family == Family::warp_tile || family == Family::warpgroup_tile;
  if (copies) append("async_copy.cl", embedded::async_copy_cl);
  if (family == Family::warpgroup_tile) {
    append("warpgroup_ring.cl", embedded::warpgroup_ring_cl);
    append("warpgroup_turns.cl", embedded::warpgroup_turns_cl);
    append("warpgroup_copies.cl", embedded::warpgroup_copies_cl);
    append("tensor_copies.cl", embedded::tensor_copies_cl);
    append("warpgroup_update.cl", embedded::warpgroup_update_cl);
  }
  if (family == Family::local_tile) {
    append("tile_loads.cl", embedded::tile_loads_cl);
    append("exchange.cl", embedded::exchange_cl);
  }
  if (shares_k(family) || family == Family::local_tile || family == Family::warp_tile)
    append("share_k.cl", embedded::share_k_cl);
  append(file_name, family_source(family));
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
  define("PRECISION", std::to_string(8 * element_bytes(params.precision)));
  if (params.precision == Precision::bfloat16) define("BFLOAT16", "1");
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
  // PoCL 7.1 has images for OpenCL C 1.2 only if this says so, though the standard has the name from 3.0 on.
  if (params.layout_a == Layout::image || params.layout_b == Layout::image) define("__opencl_c_images", "1");
  return options;
}

Launch pack_launch(Role role, const char* kernel_name, Precision precision) {
  const std::uint32_t pack_tile = element_bytes(precision) == 2 ? 64 : 32;
  return {role, kernel_name, {pack_items, 1, 1}, pack_tile, pack_tile};
}

}  // namespace

Kernel generate(const Params& params) {
  Kernel kernel;
  kernel.name = name(params);
  kernel.source_name = std::string(name(params.family)) + ".cl";
  kernel.source = assemble_source(params.family, kernel.source_name);
  kernel.build_options = build_options(params);
  if (params.layout_a != Layout::row_major)
    kernel.launches.push_back(pack_launch(Role::pack_a, "clbake_pack_a", params.precision));
  if (params.layout_b != Layout::row_major)
    kernel.launches.push_back(pack_launch(Role::pack_b, "clbake_pack_b", params.precision));
  const WorkGroup group = work_group_size(params);
  kernel.launches.push_back({Role::gemm, "clbake_gemm", {group.x, group.y, 1}, params.ml, params.nl});
  if (params.split_k != 1) {
    const std::uint32_t each = params.split_k < 8 ? 4 : 1;  // REDUCE_EACH
    kernel.launches.push_back({Role::reduce, "clbake_reduce", {reduce_items, 1, 1}, 1, reduce_items * each});
  }
  return kernel;
}

}  // namespace clbake::kernels
