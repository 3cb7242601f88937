#include "profile/tunings.hpp"

#include <clbake/builder/jobs.hpp>

namespace clbake::builder::test {

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
  t.variants = {kLoser, kSmallWinner, kLargeWinner, kTransposedWinner};
  for (const char* text : {"single nn 16x16x16 batch 8", "single nn 512x512x512", "single tn 2048x16x2048"}) {
    t.shapes.push_back(*parse_shape(text));
  }
  t.measurements = {{0, 0, 40.5, 0.5, 1, false},
                    {0, 1, 2500, 0.0625, 9, false},
                    {1, 0, 20.25, 0.03125, 30, true},
                    {2, 1, 1264.5, 0.01, 30, true},
                    {3, 2, 0.000123456, 0, 4294967295, false}};
  t.failures = {{kFailing, "wrong result at 5 x 3 x 129\nand \"more\""}};
  t.curve = {{1.5, 1, 0, 1, 107.374}, {2.75, 3, 2, 1, 212.286}};
  for (const std::size_t m : {2U, 3U, 4U}) {
    t.winners.push_back({shape_class(t.shapes[t.measurements[m].shape]), t.measurements[m]});
  }
  cache::Rule small;
  small.m_max = 128;
  small.n_min = 3;
  small.n_max = 128;
  small.k_min = 7;
  small.batch_min = 2;
  small.batch_max = 64;
  small.variant = 1;
  cache::Rule large;
  large.variant = 2;
  cache::Rule transposed;
  transposed.trans_a = true;
  transposed.variant = 3;
  t.rules = {small, large, transposed};
  return t;
}

Tuning tuning_of(const std::string& variant, double median_us, const Device& device) {
  const auto params = std::get<kernels::Params>(kernels::parse(variant));
  Tuning t;
  t.target = device.target;
  t.compute_units = device.compute_units;
  t.date = "2026-11-21T20:15:00Z";
  t.complete = true;
  t.tried = 1;
  t.elapsed_s = 10;
  t.variants = {variant};
  Shape shape;
  for (const Precision p : {Precision::half_precision, Precision::single_precision, Precision::double_precision}) {
    if (p == params.precision) shape.precision = p;
  }
  shape.trans_a = params.trans_a;
  shape.trans_b = params.trans_b;
  shape.m = shape.n = shape.k = 512;
  t.shapes = {shape};
  t.measurements = {{0, 0, median_us, 0.01, 9, false}};
  t.winners = {{shape_class(shape), t.measurements[0]}};
  cache::Rule rule;
  rule.precision = shape.precision;
  rule.trans_a = shape.trans_a;
  rule.trans_b = shape.trans_b;
  t.rules = {rule};
  return t;
}

}  // namespace clbake::builder::test
