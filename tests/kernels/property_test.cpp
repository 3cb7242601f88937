// Random points of the space on random problems, plain and mixed, with weights and in groups. Whatever the constraints
// admit must build and compute correctly.
//
// CLBAKE_TEST_SEED repeats a run (the seed is printed); CLBAKE_TEST_POINTS is the number of points for each family,
// each of a random precision.
#include "driver_main.hpp"
#include "gemm_checks.hpp"
#include "random_point.hpp"

#include <clbake/builder/jobs.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;

namespace {

std::size_t from_environment(const char* name, std::size_t fallback) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

std::size_t seed() {
  static const std::size_t chosen = from_environment("CLBAKE_TEST_SEED", std::random_device()());
  return chosen;
}

// Uses the generator's bits directly, so that a seed gives the same numbers with every standard library.
class Dice {
 public:
  explicit Dice(std::size_t number) : bits_(static_cast<std::uint32_t>(number)) {}
  std::size_t below(std::size_t count) { return bits_() % count; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  // 1 to `most`, small numbers as likely as large ones.
  std::size_t size(std::size_t most) {
    return static_cast<std::size_t>(
        std::exp(std::log(static_cast<double>(most) + 1) * static_cast<double>(bits_()) / 4294967296.0));
  }
  double factor() {
    const double common[] = {0.0, 1.0, -1.0, 0.5, -1.75};
    return common[below(5)];
  }
  // One that the family has: mixed ones, which are many, as often as the others.
  Precision precision(kernels::Family family) {
    const bool weights = family == kernels::Family::weight_tile;
    const bool bytes = kernels::multiplies_bytes(family);
    for (;;) {
      const bool plain = !weights && one_in(2);
      const Precision drawn =
          plain ? all_precisions[below(std::size(all_precisions))] : mixed_precisions[below(mixed_precisions.size())];
      if (plain || (has_weights(drawn) ? family != kernels::Family::direct : bytes)) return drawn;
    }
  }
  std::mt19937& bits() { return bits_; }

 private:
  std::mt19937 bits_;
};

// Weights begin at multiples of 16 bytes, and k is one of their group.
Problem random_problem(const cache::Variant& v, Dice& dice) {
  const bool column_major = dice.one_in(4);
  const Precision stated = column_major && is_mixed(v.precision)
                               ? mixed(element_b(v.precision), element_a(v.precision), element_c(v.precision))
                               : v.precision;
  const std::size_t m = dice.one_in(30) ? 0 : dice.size(190), n = dice.one_in(30) ? 0 : dice.size(190);
  const std::size_t k = dice.one_in(15) ? 0 : has_weights(v.precision) ? 32 * dice.size(12) : dice.size(300);
  Problem p = tight_problem(stated, m, n, k, column_major ? v.trans_b : v.trans_a, column_major ? v.trans_a : v.trans_b,
                            column_major ? Layout::column_major : Layout::row_major);
  for (std::size_t* ld : {&p.lda, &p.ldb, &p.ldc}) *ld += dice.one_in(2) ? 0 : dice.below(20);
  if (is_mixed(stated)) set_quantization(p, dice.below(210));
  if (!dice.one_in(4)) return p;
  const Extents one = extents(p);
  p.batch = dice.size(4);
  p.a_stride = offset_for(element_a(stated), one.a + dice.below(5));
  p.b_stride = dice.one_in(3) ? 0 : offset_for(element_b(stated), one.b);
  p.c_stride = std::max<std::size_t>(1, one.c + dice.below(5));
  if (dice.one_in(2)) return p;
  for (std::size_t i = 0; i < p.batch; ++i) {
    p.offsets.push_back({dice.below(3) * p.a_stride, i * p.b_stride, (p.batch - 1 - i) * p.c_stride});
  }
  return p;
}

GemmRunOptions random_options(const Problem& p, Dice& dice) {
  GemmRunOptions options;
  options.alpha = alpha_for(p.precision, dice.factor());
  options.beta = beta_for(p.precision, dice.factor());
  options.a_offset = offset_for(element_a(p.precision), dice.below(9));
  options.b_offset = offset_for(element_b(p.precision), dice.below(9));
  options.c_offset = dice.below(9);
  options.seed = static_cast<std::uint32_t>(dice.below(1000));
  options.infinite_a = dice.one_in(4) && !is_mixed(p.precision);
  return options;
}

std::string failures_of_problems(const FromSource& made, Dice& dice) {
  std::string failures;
  for (int problem = 0; problem < 8; ++problem) {
    Problem p = random_problem(made.variant, dice);
    GemmRunOptions options = random_options(p, dice);
    const std::size_t epilogue = dice.below(2 * kEpilogues);
    const Quantization quantization = p.quantization;  // decides the size of packed weights
    if (!options.infinite_a && epilogue < kEpilogues) set_epilogue(p, options, epilogue);
    p.quantization = quantization;
    failures += failure_of(made.where, made.variant.name, p, options);
  }
  return failures;
}

std::string failures_of_groups(const FromSource& made, Dice& dice) {
  std::string failures;
  for (int list = 0; list < 4; ++list) {
    GemmRunOptions options;
    const std::vector<Problem> products =
        random_group(made.variant, 1 + dice.size(90), dice.below(100 * kEpilogues), options);
    Result<GemmGroup> group = made.where.library.prepare_group(products, made.variant.name);
    failures += group ? failure_of(made.where, *group, products, options) : group.status().message();
  }
  return failures;
}

void check_family(kernels::Family family) {
  const Device& device = devices()->front();
  Dice dice(seed() + 101 * static_cast<std::size_t>(family));
  for (std::size_t i = 0; i < from_environment("CLBAKE_TEST_POINTS", 1); ++i) {
    const Precision precision = dice.precision(family);
    auto params = random_point(family, precision, dice.bits(), device.limits);
    if (!params) continue;
    params->group = dice.one_in(3);
    params->group = kernels::admits(device.limits, *params) && params->group;
    BOOST_TEST_CONTEXT("seed " << seed() << ", " << kernels::name(*params)) {
      const Result<FromSource> compiled = from_source(device, *params);
      BOOST_REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
      const std::string failures =
          failures_of_problems(*compiled, dice) + (params->group ? failures_of_groups(*compiled, dice) : "");
      BOOST_TEST(failures.empty(), failures);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(RandomPointsOfEveryFamilyAreRight) {
  std::printf("CLBAKE_TEST_SEED=%zu\n", seed());
  std::fflush(stdout);  // a driver may crash
  for (const kernels::Family family : kernels::all_families) check_family(family);
}
