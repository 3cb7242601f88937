#include <clbake/builder/gemm_run.hpp>
#include <clbake/operand.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace clbake::builder {

std::vector<Problem> random_products(const GemmKind& kind, Layout layout, std::size_t count, std::size_t most,
                                     bool gaps, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto up_to = [&](std::size_t largest) { return random() % (largest + 1); };
  const auto size = [&] { return !gaps ? 16 + up_to(most - 16) : up_to(4) == 0 ? up_to(1) : up_to(most); };
  BatchOffsets next;
  std::vector<Problem> products;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t m = size(), n = size(), k = size();
    Problem p = tight_problem(kind.precision, m, n, k, kind.trans_a, kind.trans_b, layout);
    for (std::size_t* at : {&p.lda, &p.ldb, &p.ldc, &next.a, &next.b, &next.c}) *at += gaps ? up_to(3) : 0;
    p.offsets = {next};
    const Extents elements = extents(p);
    next = {std::max(next.a, elements.a), std::max(next.b, elements.b), std::max(next.c, elements.c)};
    products.push_back(p);
  }
  return products;
}

double alpha_for(Precision precision, double alpha) {
  if (element_c(precision) == Element::int32) return std::ceil(alpha);
  return sums_integers(precision) ? alpha * 0x1p-12 : alpha;
}

double beta_for(Precision precision, double beta) {
  if (element_c(precision) != Element::int32) return beta;
  return beta < 0 ? std::floor(beta) : std::ceil(beta);
}

std::size_t depth_for(Precision precision, std::size_t k) {
  const std::size_t group = has_weights(precision) ? Quantization().weight_group : 1;
  return (k + group - 1) / group * group;
}

std::size_t offset_for(Element element, std::size_t offset) {
  return is_weights(element) ? (offset + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment : offset;
}

}  // namespace clbake::builder
