#include "tune/time_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace clbake::builder::test {
namespace {

struct Ideal {
  std::uint32_t rows;   // of a work-item
  std::uint32_t width;  // of its vectors
  std::uint32_t unrolling;
  std::uint32_t slices;
};

Ideal ideal_for(const Shape& shape) {
  const std::string of = shape_class(shape);
  if (of == "square") return {8, 8, 8, 1};
  if (of == "small") return {4, 4, 2, 1};
  if (of == "batched") return {2, 4, 1, 1};
  return {2, 16, 16, 4};
}

double steps(double value, double ideal) { return std::abs(std::log2(value / ideal)); }

}  // namespace

double ideal_us(const Shape& shape) { return operations(shape) / 1e4; }

double modelled_us(const kernels::Params& p, const Shape& shape) {
  const Ideal ideal = ideal_for(shape);
  const kernels::WorkGroup group = kernels::work_group_size(p);
  const double away = steps(p.ms, ideal.rows) + steps(p.vector_width, ideal.width) + steps(p.ks, ideal.unrolling) +
                      steps(std::max(p.split_k, 1U), ideal.slices) + steps(group.x, 1) + steps(group.y, 1) +
                      steps(p.ns, p.vector_width) + (p.family == kernels::Family::direct ? 0 : 2);
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : kernels::name(p)) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  const double unequal = away > 0 ? 1 + hash / 4294967296.0 / 100 : 1;
  return ideal_us(shape) * std::pow(1.2, away) * unequal;
}

}  // namespace clbake::builder::test
