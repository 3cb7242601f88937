// The expected time of a call, and what a profile chooses by it.
#include <clbake/choice.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

namespace clbake {
namespace {

namespace tt = boost::test_tools;

Problem problem(std::size_t m, std::size_t n, std::size_t k, std::size_t batch = 1) {
  Problem p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.batch = batch;
  return p;
}

// Tiles of 64 x 32 and 16 deep.
cache::CostModel tiles() {
  cache::CostModel model;
  model.tile_m = model.item_m = 64;
  model.tile_n = model.item_n = 32;
  model.step_k = 16;
  return model;
}

cache::CostModel constant(std::uint32_t variant, float us) {
  cache::CostModel model;
  model.variant = variant;
  model.call_us = us;
  return model;
}

cache::Rule rule(std::uint32_t variant, std::uint32_t m_max = UINT32_MAX) {
  cache::Rule r;
  r.variant = variant;
  r.m_max = m_max;
  return r;
}

std::uint32_t chosen(const cache::Profile& profile, const Problem& p, std::uint32_t units = 0) {
  const Choices choices(profile, units);
  const Choices::Choice choice = choices.find(p);
  return choice.variant.value_or(UINT32_MAX);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(expected_time)

BOOST_AUTO_TEST_CASE(a_wave_is_as_many_groups_as_run_at_the_same_time) {
  cache::CostModel model = tiles();
  model.wave_us = 10;
  model.resident = 2;
  // 3 units with 2 groups each.
  BOOST_TEST(expected_us(model, problem(64, 32, 16), 3) == 10);
  BOOST_TEST(expected_us(model, problem(64 * 3, 32 * 2, 16), 3) == 10);
  BOOST_TEST(expected_us(model, problem(64 * 3 + 1, 32 * 2, 16), 3) == 20);
  BOOST_TEST(expected_us(model, problem(64, 32, 16, 13), 3) == 30);
}

BOOST_AUTO_TEST_CASE(more_than_one_group_starts_other_units) {
  cache::CostModel model = tiles();
  model.start_us = 7;
  BOOST_TEST(expected_us(model, problem(64, 32, 16), 4) == 0);
  BOOST_TEST(expected_us(model, problem(64, 32, 16, 2), 4) == 7);
  BOOST_TEST(expected_us(model, problem(65, 32, 16), 1) == 7);
  model.slices = 2;
  BOOST_TEST(expected_us(model, problem(64, 32, 16), 4) == 7);
}

BOOST_AUTO_TEST_CASE(steps_count_whole_and_on_the_busiest_unit) {
  cache::CostModel model = tiles();
  model.step_us = 1;
  BOOST_TEST(expected_us(model, problem(64, 32, 16), 4) == 1);
  BOOST_TEST(expected_us(model, problem(64, 32, 17), 4) == 2);
  BOOST_TEST(expected_us(model, problem(64, 32 * 4, 17), 4) == 2);
  BOOST_TEST(expected_us(model, problem(64, 32 * 4 + 1, 17), 4) == 4);
  BOOST_TEST(expected_us(model, problem(64, 32, 0), 4) == 0);
}

// A tile takes three times as much of A as of B.
BOOST_AUTO_TEST_CASE(a_step_takes_longer_the_worse_rows_are_aligned) {
  cache::CostModel model = tiles();
  model.tile_m = model.item_m = 96;
  model.step_us = 1;
  model.unaligned_us = 0.5F;
  Problem p = problem(64, 32 * 4, 32);
  struct Case {
    Precision precision;
    std::size_t lda, ldb;
    double us;
  };
  constexpr Precision s = Precision::single_precision, d = Precision::double_precision, h = Precision::half_precision;
  for (const Case& c : {Case{s, 32, 128, 2},
                        {s, 48, 128, 2.046875},
                        {s, 32, 144, 2.015625},
                        {s, 40, 128, 2.09375},
                        {s, 36, 128, 2.1875},
                        {s, 34, 36, 2.4375},
                        {s, 35, 128, 2.75},
                        {s, 33, 131, 3},
                        {d, 16, 128, 2},
                        {d, 24, 128, 2.09375},
                        {d, 18, 128, 2.375},
                        {d, 32, 131, 2.25},
                        {h, 64, 128, 2},
                        {h, 32, 128, 2.0234375},
                        {h, 36, 128, 2.1875},
                        {h, 33, 128, 2.75}}) {
    p.precision = c.precision;
    p.lda = c.lda;
    p.ldb = c.ldb;
    BOOST_TEST(expected_us(model, p, 4) == c.us, c.lda << " " << c.ldb);
  }
}

BOOST_AUTO_TEST_CASE(latency_counts_once_for_a_wave) {
  cache::CostModel model = tiles();
  model.latency_us = 1;
  model.resident = 4;
  BOOST_TEST(expected_us(model, problem(64 * 4, 32, 32), 1) == 2);
  BOOST_TEST(expected_us(model, problem(64 * 5, 32, 32), 1) == 4);
}

BOOST_AUTO_TEST_CASE(slices_make_more_groups_of_fewer_steps) {
  cache::CostModel model = tiles();
  model.slices = 4;
  model.step_us = 1;
  BOOST_TEST(expected_us(model, problem(64, 32, 256), 4) == 4);
  BOOST_TEST(expected_us(model, problem(64, 32, 256), 2) == 8);
  BOOST_TEST(expected_us(model, problem(64, 32, 257), 4) == 5);  // 65 steps of k in a slice, 16 at a time
}

// Tiles of 64 x 32, blocks of 16 steps.
BOOST_AUTO_TEST_CASE(a_cut_tail_takes_its_part_of_a_wave) {
  cache::CostModel model = tiles();
  model.slices = 0;
  model.step_us = 1;
  const auto us = [&](std::size_t tiles_of_c, std::size_t k) {
    return expected_us(model, problem(64, 32 * tiles_of_c, k), 8);
  };
  BOOST_TEST(us(8, 256) == 16);       // a whole wave
  BOOST_TEST(us(9, 256) == 16 + 4);   // one tile in four slices
  BOOST_TEST(us(2, 256) == 4);        // no whole wave: two tiles in four slices each, on all units
  BOOST_TEST(us(11, 256) == 16 + 8);  // three tiles in two slices
  BOOST_TEST(us(12, 256) == 32);      // two slices of four tiles leave no unit free
  BOOST_TEST(us(10, 256) == 16 + 16. / 3, tt::tolerance(1e-12));  // two tiles in three slices
  BOOST_TEST(us(9, 192) == 12 + 4);                               // at most three slices of four blocks
  BOOST_TEST(us(10, 127) == 16);                                  // slices of less than four blocks
  BOOST_TEST(us(24, 256) == 48);
}

BOOST_AUTO_TEST_CASE(a_cut_tail_takes_a_second_launch_and_its_partial_sums) {
  cache::CostModel model = tiles();
  model.slices = 0;
  model.call_us = 10;
  BOOST_TEST(expected_us(model, problem(64, 32 * 8, 256), 8) == 10);
  BOOST_TEST(expected_us(model, problem(64, 32 * 9, 256), 8) == 15 + 0.16, tt::tolerance(1e-12));  // four slices
  model.call_us = 0;
  model.c_us = 1e6F;
  BOOST_TEST(expected_us(model, problem(64, 32 * 9, 256), 8) == 64 * 32 * (9 + 4));
  model.c_us = 0;
  model.wave_us = 8;
  BOOST_TEST(expected_us(model, problem(64, 32 * 8, 256), 8) == 8);
  BOOST_TEST(expected_us(model, problem(64, 32 * 9, 256), 8) == 8 + 2);  // four slices
  model.resident = 2;
  BOOST_TEST(expected_us(model, problem(64, 32 * 9, 256), 8) == 8);  // beside the whole ones
  BOOST_TEST(expected_us(model, problem(64, 32 * 17, 256), 8) == 8 + 2);
}

BOOST_AUTO_TEST_CASE(equal_parts_compute_whole_items) {
  cache::CostModel model = tiles();
  model.item_m = 8;
  model.item_n = 16;
  model.step_us = 1;
  // 70 rows are two parts of 35, which take 40 of 64; 20 columns take 32 of 32.
  BOOST_TEST(expected_us(model, problem(70, 20, 16), 1) == 2 * 40 / 64.0, tt::tolerance(1e-12));
  BOOST_TEST(expected_us(model, problem(1, 1, 16), 1) == 8 / 64.0 * 16 / 32.0, tt::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(traffic_counts_each_matrix_of_a_batch_once) {
  cache::CostModel model = tiles();
  model.call_us = 5;
  model.a_us = 1;
  model.b_us = 10;
  model.c_us = 100;
  BOOST_TEST(expected_us(model, problem(1000, 2000, 3000), 1) == 5 + 3 + 60 + 200, tt::tolerance(1e-12));
  BOOST_TEST(expected_us(model, problem(1000, 2000, 3000, 2), 1) == 5 + 2 * (3 + 60 + 200), tt::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(the_largest_problem_has_a_finite_time) {
  cache::CostModel model;
  for (float* us : {&model.call_us, &model.wave_us, &model.latency_us, &model.step_us, &model.a_us}) *us = 1;
  const std::size_t most = std::numeric_limits<std::int32_t>::max();
  const double us = expected_us(model, problem(most, most, most, most), 1);
  BOOST_TEST(std::isfinite(us));
  BOOST_TEST(us > 1e36);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(choices)

BOOST_AUTO_TEST_CASE(the_least_expected_time_is_chosen) {
  cache::Profile profile;
  profile.models = {constant(0, 3), constant(1, 2), constant(2, 4)};
  BOOST_TEST(chosen(profile, problem(1, 1, 1)) == 1);
  const Choices choices(profile, 0);
  BOOST_TEST(choices.find(problem(1, 1, 1)).expected_us == 2);
  BOOST_TEST(*choices.runner_up(problem(1, 1, 1), 1).variant == 0U);
}

BOOST_AUTO_TEST_CASE(a_model_counts_in_its_regime) {
  cache::Profile profile;
  profile.models = {constant(0, 2), constant(0, 4), constant(1, 3)};
  for (const std::uint32_t regime : {1U, 2U}) profile.models[regime - 1].regime = regime;
  for (cache::CostModel& model : profile.models) model.few_m = 8, model.few_n = 4;
  for (const auto& [m, n] : {std::pair(8, 5), {9, 4}}) BOOST_TEST(chosen(profile, problem(m, n, 1)) == 0);
  BOOST_TEST(chosen(profile, problem(9, 5, 1)) == 1);
  const Choices choices(profile);
  BOOST_TEST(*choices.expected_of(problem(9, 5, 1), 0) == 4);
  BOOST_TEST(choices.runner_up(problem(9, 5, 1), 1).expected_us == 4);
  profile.models = {profile.models[0]};
  BOOST_TEST(chosen(profile, problem(9, 5, 1)) == UINT32_MAX);
}

BOOST_AUTO_TEST_CASE(an_exception_comes_first) {
  cache::Profile profile;
  profile.exceptions = {rule(7, 10)};
  profile.models = {constant(0, 3)};
  BOOST_TEST(chosen(profile, problem(10, 1, 1)) == 7);
  BOOST_TEST(chosen(profile, problem(11, 1, 1)) == 0);
}

BOOST_AUTO_TEST_CASE(the_default_variant_stays_within_the_margin) {
  cache::Profile profile;
  profile.models = {constant(0, 110), constant(1, 100)};
  profile.defaults = {rule(0)};
  BOOST_TEST(chosen(profile, problem(1, 1, 1)) == 1);
  profile.models[1].margin = 0.09F;
  BOOST_TEST(chosen(profile, problem(1, 1, 1)) == 1);
  profile.models[1].margin = 0.11F;
  BOOST_TEST(chosen(profile, problem(1, 1, 1)) == 0);
}

BOOST_AUTO_TEST_CASE(a_default_variant_without_a_model_gives_way) {
  cache::Profile profile;
  profile.models = {constant(1, 100)};
  profile.models[0].margin = 10;
  profile.defaults = {rule(0)};
  BOOST_TEST(chosen(profile, problem(1, 1, 1)) == 1);
}

BOOST_AUTO_TEST_CASE(without_models_the_defaults_serve) {
  cache::Profile profile;
  profile.defaults = {rule(0, 10), rule(1)};
  BOOST_TEST(chosen(profile, problem(10, 1, 1)) == 0);
  BOOST_TEST(chosen(profile, problem(11, 1, 1)) == 1);
}

BOOST_AUTO_TEST_CASE(kinds_do_not_mix) {
  cache::Profile profile;
  profile.models = {constant(0, 3), constant(1, 2)};
  profile.models[1].trans_b = true;
  BOOST_TEST(chosen(profile, problem(1, 1, 1)) == 0);
  Problem other = problem(1, 1, 1);
  other.trans_b = true;
  BOOST_TEST(chosen(profile, other) == 1);
  other.precision = Precision::double_precision;
  BOOST_TEST(chosen(profile, other) == UINT32_MAX);
}

BOOST_AUTO_TEST_CASE(units_are_those_of_the_device_or_of_the_profile) {
  cache::CostModel model = tiles();
  model.wave_us = 10;
  cache::Profile profile;
  profile.units = 4;
  profile.models = {model};
  BOOST_TEST(Choices(profile, 0).find(problem(64 * 4, 32, 1)).expected_us == 10);
  BOOST_TEST(Choices(profile, 2).find(problem(64 * 4, 32, 1)).expected_us == 20);
}

BOOST_AUTO_TEST_CASE(exceptions_hold_for_as_many_units_as_were_measured) {
  cache::Profile profile;
  profile.units = 4;
  profile.exceptions = {rule(7)};
  profile.models = {constant(3, 10)};
  BOOST_TEST(chosen(profile, problem(1, 1, 1), 0) == 7);
  BOOST_TEST(chosen(profile, problem(1, 1, 1), 4) == 7);
  BOOST_TEST(chosen(profile, problem(1, 1, 1), 8) == 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace clbake
