#include <clbake/clbake.hpp>

#include <boost/test/unit_test.hpp>
#include <climits>
#include <cstdint>

using namespace clbake;

namespace {

// op(A) 3 x 5, op(B) 5 x 4, C 3 x 4.
Problem small_problem() {
  Problem p;
  p.m = 3;
  p.n = 4;
  p.k = 5;
  p.lda = 5;
  p.ldb = 4;
  p.ldc = 4;
  return p;
}

void require_refused(const Problem& p, const std::string& field) {
  const Status status = check(p);
  BOOST_TEST((status.code() == Code::invalid_argument));
  BOOST_TEST(status.message().find(field) == 0U, status.message());
}

}  // namespace

BOOST_AUTO_TEST_CASE(TightLeadingDimensionsAreAccepted) {
  Problem p = small_problem();
  BOOST_TEST(check(p).ok());
  p.trans_a = p.trans_b = true;
  p.lda = 3;
  p.ldb = 5;
  BOOST_TEST(check(p).ok());
  p.layout = Layout::column_major;
  p.lda = 5;
  p.ldb = 4;
  p.ldc = 3;
  BOOST_TEST(check(p).ok());
}

BOOST_AUTO_TEST_CASE(ALeadingDimensionOneTooSmallIsRefusedByName) {
  for (const bool column_major : {false, true}) {
    for (const bool trans : {false, true}) {
      Problem p = small_problem();
      p.layout = column_major ? Layout::column_major : Layout::row_major;
      p.trans_a = p.trans_b = trans;
      p.lda = trans != column_major ? 3 : 5;
      p.ldb = trans != column_major ? 5 : 4;
      p.ldc = column_major ? 3 : 4;
      BOOST_TEST(check(p).ok());
      Problem q = p;
      --q.lda;
      require_refused(q, "lda");
      q = p;
      --q.ldb;
      require_refused(q, "ldb");
      q = p;
      --q.ldc;
      require_refused(q, "ldc");
    }
  }
}

BOOST_AUTO_TEST_CASE(ALeadingDimensionOfZeroIsRefusedEvenForEmptyMatrices) {
  Problem p;
  require_refused(p, "lda");
  p.lda = p.ldb = p.ldc = 1;
  BOOST_TEST(check(p).ok());
}

BOOST_AUTO_TEST_CASE(SizesBeyondTheKernelsIntegersAreRefusedByName) {
  const std::size_t too_many = std::size_t{INT_MAX} + 1;
  Problem p = small_problem();
  p.m = too_many;
  require_refused(p, "m");
  p = small_problem();
  p.n = p.ldb = p.ldc = too_many;
  require_refused(p, "n");
  p = small_problem();
  p.k = p.lda = too_many;
  require_refused(p, "k");
  p = small_problem();
  p.lda = SIZE_MAX;
  require_refused(p, "lda");
}

BOOST_AUTO_TEST_CASE(ExtentsReachFromTheFirstToTheLastElement) {
  Problem p = small_problem();
  p.lda = 10;
  p.ldb = 20;
  p.ldc = 30;
  BOOST_TEST(extents(p).a == 2U * 10 + 5);
  BOOST_TEST(extents(p).b == 4U * 20 + 4);
  BOOST_TEST(extents(p).c == 2U * 30 + 4);
  p.trans_a = true;
  p.trans_b = true;
  BOOST_TEST(extents(p).a == 4U * 10 + 3);
  BOOST_TEST(extents(p).b == 3U * 20 + 5);
}

BOOST_AUTO_TEST_CASE(ExtentsOfColumnMajorMatricesCountColumns) {
  Problem p = small_problem();
  p.layout = Layout::column_major;
  p.lda = 10;
  p.ldb = 20;
  p.ldc = 30;
  BOOST_TEST(extents(p).a == 4U * 10 + 3);
  BOOST_TEST(extents(p).b == 3U * 20 + 5);
  BOOST_TEST(extents(p).c == 3U * 30 + 3);
}

BOOST_AUTO_TEST_CASE(EmptyMatricesNeedNoElements) {
  Problem p = small_problem();
  p.k = 0;
  BOOST_TEST(extents(p).a == 0U);
  BOOST_TEST(extents(p).b == 0U);
  BOOST_TEST(extents(p).c == 12U);
}

BOOST_AUTO_TEST_CASE(NullHandlesAreRefused) {
  BOOST_TEST((identify(nullptr).status().code() == Code::invalid_argument));
  BOOST_TEST((Library::create(nullptr, nullptr, {}).status().code() == Code::invalid_argument));
}

BOOST_AUTO_TEST_CASE(ImpossibleBatchesAreRefusedByName) {
  Problem p = small_problem();
  p.batch = std::size_t{INT_MAX} + 1;
  require_refused(p, "batch");
  p.batch = 2;
  require_refused(p, "c_stride");  // both products would write to the same C
  p.c_stride = 12;
  BOOST_TEST(check(p).ok());
  p.c_stride = SIZE_MAX / 2;
  require_refused(p, "c_stride");
  p.c_stride = 12;
  p.a_stride = SIZE_MAX;
  require_refused(p, "a_stride");
  p.a_stride = 0;
  p.b_stride = SIZE_MAX;
  require_refused(p, "b_stride");
  p.b_stride = 0;
  p.offsets = {{0, 0, 0}};
  require_refused(p, "offsets");
  p.offsets = {{0, 0, 0}, {0, 0, SIZE_MAX}};
  require_refused(p, "an offset of C");
  p.offsets = {{0, 0, 12}, {7, 0, 0}};
  BOOST_TEST(check(p).ok());
}

BOOST_AUTO_TEST_CASE(ExtentsReachTheLastMatrixOfABatch) {
  Problem p = small_problem();
  p.batch = 3;
  p.a_stride = 100;
  p.b_stride = 0;
  p.c_stride = 20;
  BOOST_TEST(extents(p).a == 200U + 15U);
  BOOST_TEST(extents(p).b == 20U);
  BOOST_TEST(extents(p).c == 40U + 12U);
  p.offsets = {{5, 90, 0}, {50, 0, 24}, {0, 0, 12}};
  BOOST_TEST(extents(p).a == 50U + 15U);
  BOOST_TEST(extents(p).b == 90U + 20U);
  BOOST_TEST(extents(p).c == 24U + 12U);
  p.batch = 0;
  p.offsets.clear();
  BOOST_TEST(extents(p).a == 0U);
  BOOST_TEST(extents(p).c == 0U);
}
