// Refusals of the door: CLBlast's codes, in CLBlast's order, for C++ and for C.
#include "clblast/door_scene.hpp"

#include "test_device.hpp"

#include <clblast_c.h>

#include <boost/test/unit_test.hpp>
#include <functional>

using namespace clbake::tests;
using clblast::StatusCode;

namespace {

constexpr std::size_t kHuge = std::size_t{1} << 61;

// One product of single precision with all of its arguments.
struct Call {
  clblast::Layout layout = clblast::Layout::kRowMajor;
  clblast::Transpose trans_a = clblast::Transpose::kNo, trans_b = clblast::Transpose::kNo;
  std::size_t m = 4, n = 5, k = 6;
  float alpha = 1, beta = 0;
  cl_mem a, b, c;
  std::size_t a_offset = 0, b_offset = 0, c_offset = 0;
  std::size_t lda = 6, ldb = 5, ldc = 5;
  std::size_t a_stride = 24, b_stride = 30, c_stride = 20, batch = 1;
  cl_command_queue queue = tests_queue();
  cl_command_queue* queue_pointer = &queue;

  explicit Call(const Buffers& on) : a(on.a), b(on.b), c(on.c) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  static cl_command_queue tests_queue() { return clbake::tests::queue(); }

  StatusCode product() {
    return clblast::Gemm<float>(layout, trans_a, trans_b, m, n, k, alpha, a, a_offset, lda, b, b_offset, ldb, beta, c,
                                c_offset, ldc, queue_pointer);
  }
  StatusCode product_in_c() {
    return static_cast<StatusCode>(CLBlastSgemm(static_cast<CLBlastLayout>(layout),
                                                static_cast<CLBlastTranspose>(trans_a),
                                                static_cast<CLBlastTranspose>(trans_b), m, n, k, alpha, a, a_offset,
                                                lda, b, b_offset, ldb, beta, c, c_offset, ldc, queue_pointer, nullptr));
  }
  StatusCode strided() {
    return clblast::GemmStridedBatched<float>(layout, trans_a, trans_b, m, n, k, alpha, a, a_offset, lda, a_stride, b,
                                              b_offset, ldb, b_stride, beta, c, c_offset, ldc, c_stride, batch,
                                              queue_pointer);
  }
  StatusCode batched() {
    const float alphas[] = {alpha, 2}, betas[] = {beta, 1};
    const std::size_t as[] = {0, a_offset}, bs[] = {0, b_offset}, cs[] = {0, c_offset};
    return clblast::GemmBatched<float>(layout, trans_a, trans_b, m, n, k, alphas, a, as, lda, b, bs, ldb, betas, c, cs,
                                       ldc, batch, queue_pointer);
  }
};

// Those of a call, and 7 elements behind C.
struct Exact : Buffers {
  Exact() : Buffers(24, 30, 27) {}
};

// Every way to call refuses with `code` what `change` makes of a call, and writes nothing. Batches with offsets may
// have each leading dimension of A and B.
void refused(StatusCode code, const std::function<void(Call&)>& change) {
  const Exact on;
  Call call(on);
  change(call);
  BOOST_TEST(static_cast<int>(call.product()) == static_cast<int>(code));
  BOOST_TEST(static_cast<int>(call.product_in_c()) == static_cast<int>(code));
  BOOST_TEST(static_cast<int>(call.strided()) == static_cast<int>(code));
  if (code != StatusCode::kInvalidLeadDimA && code != StatusCode::kInvalidLeadDimB) {
    BOOST_TEST(static_cast<int>(call.batched()) == static_cast<int>(code));
    call.batch = 2;
    call.c_offset += 21;
    BOOST_TEST(static_cast<int>(call.batched()) == static_cast<int>(code));
  }
  clFinish(queue());
  const std::vector<float> c = on.read_c();
  for (const float x : c) BOOST_TEST(x != x);  // NaN, as before
}

}  // namespace

BOOST_AUTO_TEST_CASE(ABadQueueIsRefused) {
  refused(StatusCode::kInvalidCommandQueue, [](Call& call) { call.queue_pointer = nullptr; });
  refused(StatusCode::kInvalidCommandQueue, [](Call& call) { call.queue = nullptr; });
}

BOOST_AUTO_TEST_CASE(ALeadingDimensionIsChecked) {
  refused(StatusCode::kInvalidLeadDimA, [](Call& call) { call.lda = 5; });
  refused(StatusCode::kInvalidLeadDimB, [](Call& call) { call.ldb = 4; });
  refused(StatusCode::kInvalidLeadDimC, [](Call& call) { call.ldc = 4; });
  refused(StatusCode::kInvalidLeadDimA, [](Call& call) { call.lda = call.ldb = call.ldc = 0; });
  refused(StatusCode::kInvalidLeadDimA, [](Call& call) { call.alpha = 0, call.lda = 5; });
}

BOOST_AUTO_TEST_CASE(ALeadingDimensionIsThatOfTheMatrixAsStored) {
  const Exact on;
  Call call(on);
  call.layout = clblast::Layout::kColMajor;
  call.lda = 4, call.ldb = 6, call.ldc = 4;
  BOOST_TEST((call.product() == StatusCode::kSuccess));
  call.trans_a = clblast::Transpose::kYes;  // A is stored 6 x 4
  BOOST_TEST((call.product() == StatusCode::kInvalidLeadDimA));
  call.lda = 6;
  BOOST_TEST((call.product() == StatusCode::kSuccess));
  clFinish(queue());
}

BOOST_AUTO_TEST_CASE(ABadBufferIsRefused) {
  refused(StatusCode::kInvalidMatrixA, [](Call& call) { call.a = nullptr; });
  refused(StatusCode::kInvalidMatrixB, [](Call& call) { call.b = nullptr; });
  refused(StatusCode::kInvalidMatrixC, [](Call& call) { call.c = nullptr; });
  refused(StatusCode::kInvalidMatrixA, [](Call& call) { call.alpha = 0, call.a = nullptr; });
}

BOOST_AUTO_TEST_CASE(ABufferThatIsTooSmallIsRefused) {
  refused(StatusCode::kInsufficientMemoryA, [](Call& call) { call.lda = 7; });
  refused(StatusCode::kInsufficientMemoryB, [](Call& call) { call.ldb = 6; });
  refused(StatusCode::kInsufficientMemoryC, [](Call& call) { call.ldc = 8; });
  refused(StatusCode::kInsufficientMemoryA, [](Call& call) { call.m = kHuge; });
  refused(StatusCode::kInsufficientMemoryA, [](Call& call) { call.lda = kHuge; });
}

BOOST_AUTO_TEST_CASE(TheFirstMatrixThatIsWrongIsNamed) {
  refused(StatusCode::kInvalidLeadDimA, [](Call& call) { call.lda = call.ldb = 1, call.a = call.c = nullptr; });
  refused(StatusCode::kInvalidMatrixA, [](Call& call) { call.a = nullptr, call.ldb = 1; });
  refused(StatusCode::kInsufficientMemoryA, [](Call& call) { call.lda = 7, call.b = nullptr; });
  refused(StatusCode::kInvalidLeadDimB, [](Call& call) { call.ldb = 1, call.c = nullptr, call.ldc = 1; });
}

BOOST_AUTO_TEST_CASE(AnOffsetPastTheEndIsRefused) {
  const Exact on;
  for (const std::size_t offset : {std::size_t{1}, kHuge, SIZE_MAX}) {
    Call call(on);
    call.a_offset = offset;
    BOOST_TEST((call.product() == StatusCode::kInsufficientMemoryA));
    call.a_offset = 0, call.b_offset = offset;
    BOOST_TEST((call.product() == StatusCode::kInsufficientMemoryB));
    call.b_offset = 0, call.c_offset = 7 + offset - (offset == SIZE_MAX ? 7 : 0);
    BOOST_TEST((call.product() == StatusCode::kInsufficientMemoryC));
  }
}

BOOST_AUTO_TEST_CASE(SizesAreCountedInComplexElements) {
  const Buffers on(48, 60, 54);
  cl_command_queue q = queue();
  const auto call = [&](std::size_t c_offset, std::size_t ldc) {
    return CLBlastCgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, 4, 5, 6, {{1, 0}}, on.a, 0, 6,
                        on.b, 0, 5, {{0, 0}}, on.c, c_offset, ldc, &q, nullptr);
  };
  BOOST_TEST(call(0, 4) == CLBlastInvalidLeadDimC);
  BOOST_TEST(call(8, 5) == CLBlastInsufficientMemoryC);  // 7 elements lie behind C
  BOOST_TEST(call(7, 5) == CLBlastSuccess);
  clFinish(q);
}

BOOST_AUTO_TEST_CASE(ABatchIsChecked) {
  const Exact on;
  Call call(on);
  call.batch = 0;
  call.lda = 1;
  BOOST_TEST((call.strided() == StatusCode::kInvalidBatchCount));
  BOOST_TEST((call.batched() == StatusCode::kInvalidBatchCount));
  call.queue = nullptr;  // the first check of all
  BOOST_TEST((call.strided() == StatusCode::kInvalidCommandQueue));
  BOOST_TEST((call.batched() == StatusCode::kInvalidCommandQueue));
  call.queue = queue();
  call.batch = 2;
  call.c_stride = 0;
  BOOST_TEST((call.strided() == StatusCode::kInvalidDimension));
  call.lda = 6;
  call.c_stride = 20;
  call.a_stride = call.b_stride = 0;
  BOOST_TEST((call.strided() == StatusCode::kInsufficientMemoryC));
  call.a_stride = 1;
  BOOST_TEST((call.strided() == StatusCode::kInsufficientMemoryA));
  call.a_offset = 1;
  BOOST_TEST((call.batched() == StatusCode::kInsufficientMemoryA));
}

// CLBlast asks for a buffer of a size that depends on its kernel; clbake keeps what it needs.
BOOST_AUTO_TEST_CASE(NoTemporaryBufferIsAskedFor) {
  cl_command_queue q = queue();
  std::size_t bytes = 77;
  const auto no = clblast::Transpose::kNo;
  BOOST_TEST((clblast::GemmTempBufferSize<float>(clblast::Layout::kColMajor, no, no, 700, 700, 700, 0, 700, 0, 700, 0,
                                                 700, &q, bytes) == StatusCode::kSuccess));
  BOOST_TEST(bytes == 0U);
  cl_command_queue none = nullptr;
  BOOST_TEST((clblast::GemmTempBufferSize<double>(clblast::Layout::kColMajor, no, no, 7, 7, 7, 0, 7, 0, 7, 0, 7, &none,
                                                  bytes) == StatusCode::kInvalidCommandQueue));
  BOOST_TEST(CLBlastSGemmTempBufferSize(CLBlastLayoutColMajor, CLBlastTransposeNo, CLBlastTransposeNo, 7, 7, 7, 0, 7, 0,
                                        7, 0, 7, &q, nullptr) == CLBlastInvalidValue);
  const Exact on;
  BOOST_TEST(CLBlastSgemmWithTempBuffer(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, 4, 5, 6, 1.5F,
                                        on.a, 0, 6, on.b, 0, 5, 0, on.c, 0, 5, &q, nullptr, on.c) == CLBlastSuccess);
  BOOST_TEST(on.read_c()[19] == 9);  // 1.5 * 6
}

BOOST_AUTO_TEST_CASE(TheCacheIsFilledForADevice) {
  BOOST_TEST(CLBlastFillCache(device().id) == CLBlastSuccess);
  BOOST_TEST(static_cast<int>(clblast::FillCache(nullptr)) == CL_INVALID_DEVICE);
}

int main(int argc, char** argv) {
  device();  // skips without one
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
