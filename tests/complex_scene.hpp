// Real variants of several ways, and the kernels of complex products, compiled from source.
#pragma once

#include "driver_main.hpp"
#include "gemm_checks.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/builder/programs.hpp>
#include <clbake/cache/writer.hpp>

#include <algorithm>

namespace clbake::tests {

using namespace builder;
using kernels::DeviceType;

// A real variant of each way that operands and results can take; a complex product may be any kind of real one.
inline constexpr const char* kWays[] = {
    "direct-s-nn-6x8x1-3x4x2-v4", "register_tile-s-nn-15x16x12-5x8x2-v4",
    "local_tile-s-nn-16x32x8-4x4x8-v2-apad-bcbl-split2-buffers2-noprefetch-load2-mapblocked"};

// The way's variant for the product that computes `p`.
inline kernels::Params variant_for(const std::string& way, const Problem& p) {
  auto params = std::get<kernels::Params>(kernels::parse(way));
  const bool exchanged = p.layout == Layout::column_major;
  params.precision = real_precision(p.precision);
  params.trans_a = exchanged ? p.trans_b : p.trans_a;
  params.trans_b = exchanged ? p.trans_a : p.trans_b;
  return params;
}

inline std::vector<Precision> precisions() {
  return devices()->front().limits.fp64 ? std::vector<Precision>{Precision::complex_single, Precision::complex_double}
                                        : std::vector<Precision>{Precision::complex_single};
}

struct Scene {
  cache::Bytes bytes;  // of the bundle
  Surroundings where;
};

// All ways from source, and the copies in the form made for a type of device: any device runs either.
inline Scene make_scene(DeviceType form) {
  const Device& device = devices()->front();
  cache::Contents contents;
  contents.targets = {device.target};
  cache::Profile profile;  // for calls that name no variant
  for (const Precision precision : precisions()) {
    for (const char* way : kWays) {
      for (const int transposes : {0, 1, 2, 3}) {
        const Problem p = tight_problem(precision, 1, 1, 1, (transposes & 1) != 0, (transposes & 2) != 0);
        const kernels::Params params = variant_for(way, p);
        cache::Rule rule;
        rule.kind() = params.kind();
        rule.variant = add_job(contents, make_job(device.target, kernels::generate(params), params));
        if (way == kWays[0]) profile.defaults.push_back(rule);
      }
    }
    Job job = make_job(device.target, program::complex_programs(form, {precision}).front());
    job.variant.name = program::complex_programs(device.type, {precision}).front().name;
    add_job(contents, job);
  }
  std::sort(profile.defaults.begin(), profile.defaults.end(),
            [](const cache::Rule& a, const cache::Rule& b) { return a.kind() < b.kind(); });
  contents.profiles = {profile};
  cache::Bytes bytes = *cache::encode(contents);
  const Bundle bundle = *Bundle::from_memory({bytes.data(), bytes.size()});
  Session session = *Session::open(device);
  Library library = *Library::create(session.context(), device.id, {bundle});
  return {std::move(bytes), {device, std::move(session), std::move(library)}};
}

inline const Scene& scene(DeviceType form = DeviceType::cpu) {
  static const Scene for_cpus = make_scene(DeviceType::cpu);
  static const Scene for_gpus = make_scene(DeviceType::gpu);
  return form == DeviceType::cpu ? for_cpus : for_gpus;
}

}  // namespace clbake::tests
