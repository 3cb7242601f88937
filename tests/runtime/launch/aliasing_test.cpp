// Two matrices in one buffer that share elements or not, against painting them.
#include "launch/call_checks.hpp"

#include <boost/test/unit_test.hpp>
#include <random>

using namespace clbake;

namespace {

std::vector<bool> painted(const Operand& x) {
  std::vector<bool> buffer(4096);
  for (std::size_t i = 0; i < x.batch; ++i) {
    const std::size_t start = x.offset + (x.offsets ? (*x.offsets)[i].*x.which : i * x.stride);
    for (std::size_t row = 0; row < x.rows; ++row) {
      for (std::size_t col = 0; col < x.cols; ++col) buffer.at(start + row * x.ld + col) = true;
    }
  }
  return buffer;
}

bool painted_overlap(const Operand& x, const Operand& y) {
  const std::vector<bool> a = painted(x);
  const std::vector<bool> b = painted(y);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] && b[i]) return true;
  }
  return false;
}

// Small enough for the painted buffer: starts to 60, 6 rows of 40 at most, batches of 4.
Operand random_operand(std::mt19937& random, std::vector<BatchOffsets>& offsets, bool common_ld) {
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  Operand r;
  r.offset = below(60);
  r.rows = below(7);
  r.cols = below(9);
  r.ld = common_ld ? 20 : std::max<std::size_t>(r.cols, 1) + below(12);
  r.batch = random() % 2 == 0 ? 1 : 1 + below(4);
  r.stride = below(50);
  r.which = &BatchOffsets::a;
  if (random() % 4 == 0) {
    offsets.clear();
    for (std::size_t i = 0; i < r.batch; ++i) offsets.push_back({below(200), 0, 0});
    r.offsets = &offsets;
  }
  return r;
}

}  // namespace

BOOST_AUTO_TEST_CASE(AgreesWithPaintingTheElements) {
  std::mt19937 random(5);
  int overlapping = 0;
  constexpr int kRounds = 20000;
  for (int i = 0; i < kRounds; ++i) {
    std::vector<BatchOffsets> x_offsets;
    std::vector<BatchOffsets> y_offsets;
    const bool common_ld = random() % 2 == 0;
    const Operand x = random_operand(random, x_offsets, common_ld);
    const Operand y = random_operand(random, y_offsets, common_ld);
    const bool expected = painted_overlap(x, y);
    overlapping += expected ? 1 : 0;
    BOOST_REQUIRE_EQUAL(overlap(x, y), expected);
    BOOST_REQUIRE_EQUAL(overlap(y, x), expected);
  }
  BOOST_TEST(overlapping > kRounds / 20);
  BOOST_TEST(overlapping < kRounds - kRounds / 20);
}

// A blocked factorisation's update: three blocks of one 1000 x 1000 matrix.
BOOST_AUTO_TEST_CASE(BlocksOfOneMatrixAreApart) {
  Problem p;
  p.m = p.n = 500;
  p.k = 100;
  p.lda = p.ldb = p.ldc = 1000;
  const Operand c = operand_c(p, 100100);
  BOOST_TEST(!overlap(operand_a(p, 100000), c));
  BOOST_TEST(!overlap(operand_b(p, 100), c));
  BOOST_TEST(overlap(operand_a(p, 100001), c));
  BOOST_TEST(overlap(operand_b(p, 1000 + 100), c));
}

BOOST_AUTO_TEST_CASE(TooManyInterleavedRowsCountAsShared) {
  Problem p;
  p.m = p.n = p.k = 1024;
  p.lda = p.ldb = p.ldc = 2048;
  p.batch = 1U << 20;
  p.a_stride = p.b_stride = p.c_stride = std::size_t{2048} * 1024;
  BOOST_TEST(overlap(operand_a(p, 0), operand_c(p, 1024)));
}
