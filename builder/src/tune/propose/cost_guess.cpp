#include "tune/propose/cost_guess.hpp"

#include <algorithm>

namespace clbake::builder {
namespace {

// By which factor `have` falls short of `wanted`; 1 when it does not.
double shortage(double have, double wanted) { return std::max(1.0, wanted / have); }

// Vector registers: AVX-512 has 32, narrower sets 16.
double cpu_cost(const kernels::Params& p, std::uint32_t vector_bytes) {
  const double bytes = kernels::real_bytes(p.precision);
  const double width = std::max<double>(vector_bytes, bytes);
  const double lanes = std::min(1.0, p.vector_width * bytes / width);  // used part of a register
  const double row = std::max(1.0, p.ns * bytes / width / lanes);      // registers of a row of the tile
  const double sums = p.ms * row;
  const double registers = vector_bytes >= 64 ? 32 : 16;
  const double spilled = std::max(0.0, (sums + row + 1 - registers) / registers);
  const double loads = (p.ms + row) / sums;
  const double in_flight = shortage(sums, 8);  // two multiply-adds a cycle, four cycles each
  const double code = sums * p.ks;             // compile time grows with it
  return in_flight * (1 + loads / 2) * (1 + 4 * spilled) / lanes * (1 + code / 400);
}

double gpu_cost(const kernels::Params& p) {
  const double words = kernels::real_bytes(p.precision) / 4.0;
  const kernels::WorkGroup group = kernels::work_group_size(p);
  const double items = static_cast<double>(group.x) * group.y;
  const double sums = static_cast<double>(p.ms) * p.ns;
  const double loads = (p.ms + p.ns) / sums;
  const double registers = (sums + (p.ms + p.ns) * p.fragments) * words;
  const double width = std::min(1.0, p.vector_width * words / 4);  // of a 16-byte load
  double cost = (1 + 2 * loads) * (1 + 0.3 * (1 - width)) * shortage(items, 64) * std::max(1.0, items / 512);
  if (registers > 200) cost *= 3;
  const bool uncached = p.family == kernels::Family::stripe && !p.local_a && !p.local_b;
  return uncached ? cost * 1.5 : cost;
}

}  // namespace

double cost_guess(const kernels::Params& params, const Device& device) {
  // Partial sums go through memory, to a second kernel; with 0 few do.
  const double slices = params.split_k == 0 ? 1.1 : params.split_k > 1 ? 1.5 + 0.05 * params.split_k : 1;
  return slices * (device.type == kernels::DeviceType::cpu ? cpu_cost(params, device.vector_bytes) : gpu_cost(params));
}

double family_weight(kernels::Family family, kernels::DeviceType type) {
  const bool cpu = type == kernels::DeviceType::cpu;
  switch (family) {
    case kernels::Family::direct: return 0.3;
    case kernels::Family::register_tile: return cpu ? 1 : 0.1;
    case kernels::Family::local_tile: return cpu ? 0.1 : 1;
    case kernels::Family::thin_tile:
    case kernels::Family::warp_tile:
    case kernels::Family::warpgroup_tile: return cpu ? 0 : 1;
    case kernels::Family::stripe: break;
  }
  return cpu ? 0.1 : 0.5;
}

}  // namespace clbake::builder
