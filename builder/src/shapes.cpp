#include <clbake/builder/shapes.hpp>
#include <clbake/builder/trial.hpp>

#include <algorithm>

namespace clbake::builder {
namespace {

// From this many work-items in a dimension on, PoCL counts a grid as large.
constexpr std::size_t kLargeGrid = 65535;

bool has(const cache::Variant& variant, cache::Role role) {
  return std::any_of(variant.launches.begin(), variant.launches.end(),
                     [&](const cache::Launch& launch) { return launch.role == role; });
}

Status launch(const Session& session, const Device& device, const Library& library, const cache::Variant& variant,
              const Problem& problem) {
  TrialOptions options;
  options.beta = 1;
  Result<Trial> trial = Trial::create(session, device, problem, options);
  if (!trial) return trial.status();
  Result<Gemm> gemm = library.prepare(problem, variant.name);
  // An image of this size is more than the device allows: nobody will launch this grid.
  const bool images = variant.image_a || variant.image_b;
  if (!gemm && gemm.status().code() == Code::out_of_memory && images) return {};
  if (!gemm) return gemm.status();
  return trial->run(*gemm).status();
}

}  // namespace

const cache::Launch& product_launch(const cache::Variant& variant) {
  return *std::find_if(variant.launches.begin(), variant.launches.end(),
                       [](const cache::Launch& launch) { return launch.role == cache::Role::gemm; });
}

std::vector<Problem> large_grids(const cache::Variant& v) {
  const auto problem = [&](std::size_t m, std::size_t n) {
    return tight_problem(v.precision, m, n, 1, v.trans_a, v.trans_b);
  };
  const cache::Launch& launch = product_launch(v);
  const std::size_t rows = (kLargeGrid / launch.local[1] + 1) * std::size_t{launch.tile_m};
  const std::size_t columns = (kLargeGrid / launch.local[0] + 1) * std::size_t{launch.tile_n};
  if (has(v, cache::Role::copy_a) || has(v, cache::Role::copy_b)) return {problem(rows, 1), problem(1, columns)};
  // A device may limit the groups in y to 65,535 (NVIDIA's do), which work-groups one item high would exceed.
  return {rows < columns && launch.local[1] > 1 ? problem(rows, 1) : problem(1, columns)};
}

Status launch_every_shape(const Session& session, const Device& device, const Library& library,
                          const cache::Variant& variant) {
  Status status = launch(session, device, library, variant,
                         tight_problem(variant.precision, 1, 1, 1, variant.trans_a, variant.trans_b));
  for (const Problem& large : large_grids(variant)) {
    if (status) status = launch(session, device, library, variant, large);
  }
  return status;
}

}  // namespace clbake::builder
