#include "profile/tunings.hpp"

#include <clbake/builder/jobs.hpp>

#include "profile/cost_fit.hpp"

#include <algorithm>

namespace clbake::builder::test {
using namespace profile;
namespace {

cache::CostModel geometry_of_variant(const Tuning& tuning, std::uint32_t variant) {
  cache::CostModel model = geometry_of(std::get<kernels::Params>(kernels::parse(tuning.variants[variant])));
  model.variant = variant;
  return model;
}

}  // namespace

Tuning made_up_tuning(const Device& device) {
  Tuning t;
  t.target = device.target;
  t.compute_units = device.compute_units;
  t.tool = "clbake 0.1.0";
  t.command = "clbake tune --budget 10m -o \"a b.json\"";
  t.date = "2026-11-21T20:15:00Z";
  t.strategy = "staged";
  t.seed = 18446744073709551615U;
  t.shard = 2;
  t.shards = 3;
  t.budget_s = 600;
  t.elapsed_s = 598.25;
  t.complete = true;
  t.tried = 5;
  t.noise = 0.015625;
  t.variants = {kLoser, kSmallWinner, kLargeWinner, kTransposedWinner};
  for (const char* text : {"single nn 16x16x16 batch 8", "single nn 512x512x512", "single tn 2048x16x2048"}) {
    t.shapes.push_back(*parse_shape(text));
  }
  t.shapes[2].weight = 2.5;
  t.measurements = {{0, 0, 40.5, 0.5, 1, false},
                    {0, 1, 2500, 0.0625, 9, false},
                    {1, 0, 20.25, 0.03125, 30, true},
                    {2, 1, 1264.5, 0.01, 30, true},
                    {3, 2, 0.000123456, 0, 4294967295, false}};
  t.failures = {{kFailing, "wrong result at 5 x 3 x 129\nand \"more\""}};
  cache::Rule small;
  small.m_max = 128;
  small.n_min = 3;
  small.n_max = 128;
  small.k_min = 7;
  small.batch_min = 2;
  small.batch_max = 64;
  small.variant = 1;
  cache::Rule transposed;
  transposed.trans_a = true;
  transposed.variant = 3;
  t.exceptions = {small, transposed};
  cache::CostModel large = geometry_of_variant(t, 2);
  large.resident = 3;
  large.regime = 2;
  large.call_us = 20.5F;
  large.start_us = 2.5F;
  large.wave_us = 1.25F;
  large.latency_us = 0.0625F;
  large.step_us = 0.00123456F;
  large.unaligned_us = 0.03125F;
  large.a_us = 250;
  large.b_us = 125;
  large.c_us = 500;
  large.error = 0.03125F;
  large.margin = 0.02F;
  cache::CostModel direct = geometry_of_variant(t, 1);
  direct.call_us = 1e12F;
  t.models = {large, direct};
  return t;
}

Tuning tuning_of(const std::string& variant, double median_us, const Device& device) {
  const auto params = std::get<kernels::Params>(kernels::parse(variant));
  Tuning t;
  t.target = device.target;
  t.compute_units = std::max(device.compute_units, 1U);
  t.date = "2026-11-21T20:15:00Z";
  t.complete = true;
  t.tried = 1;
  t.elapsed_s = 10;
  t.variants = {variant};
  Shape shape;
  shape.precision = params.precision;
  shape.trans_a = params.trans_a;
  shape.trans_b = params.trans_b;
  shape.m = shape.n = shape.k = 512;
  t.shapes = {shape};
  t.measurements = {{0, 0, median_us, 0.01, 9, false}};
  t.models = {geometry_of_variant(t, 0)};
  t.models[0].call_us = static_cast<float>(median_us);
  return t;
}

}  // namespace clbake::builder::test
