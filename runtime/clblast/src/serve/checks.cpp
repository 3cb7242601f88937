#include "serve/checks.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace clbake::door {
namespace {

using clblast::StatusCode;

struct Codes {
  StatusCode leading_dimension, handle, size;
  bool any_ld_in_batches;  // CLBlast's batches with offsets accept each leading dimension of this matrix
};
constexpr Codes kA = {StatusCode::kInvalidLeadDimA, StatusCode::kInvalidMatrixA, StatusCode::kInsufficientMemoryA,
                      true};
constexpr Codes kB = {StatusCode::kInvalidLeadDimB, StatusCode::kInvalidMatrixB, StatusCode::kInsufficientMemoryB,
                      true};
constexpr Codes kC = {StatusCode::kInvalidLeadDimC, StatusCode::kInvalidMatrixC, StatusCode::kInsufficientMemoryC,
                      false};

// A matrix as it is stored: `count` lines of `length` elements, `ld` apart.
struct Stored {
  std::size_t length, count, ld, stride;
  std::size_t BatchOffsets::*offset;
};

Stored stored(bool along_columns, std::size_t rows, std::size_t columns, std::size_t ld, std::size_t stride,
              std::size_t BatchOffsets::*offset) {
  return along_columns ? Stored{rows, columns, ld, stride, offset} : Stored{columns, rows, ld, stride, offset};
}

// The sum, or the largest number where there is none.
std::size_t sum(std::size_t x, std::size_t y) {
  return x > std::numeric_limits<std::size_t>::max() - y ? std::numeric_limits<std::size_t>::max() : x + y;
}
std::size_t product(std::size_t x, std::size_t y) {
  return y > 0 && x > std::numeric_limits<std::size_t>::max() / y ? std::numeric_limits<std::size_t>::max() : x * y;
}

// Elements from the start of the buffer to the matrix that begins last.
std::size_t last_start(const Problem& p, const Stored& matrix, std::size_t start) {
  if (p.offsets.empty()) return sum(start, product(matrix.stride, p.batch > 0 ? p.batch - 1 : 0));
  std::size_t furthest = 0;
  for (const BatchOffsets& offsets : p.offsets) furthest = std::max(furthest, offsets.*matrix.offset);
  return sum(start, furthest);
}

std::optional<StatusCode> refusal_of(const Problem& p, const Stored& matrix, const Matrix& at, const Codes& codes) {
  const bool any_ld = codes.any_ld_in_batches && !p.offsets.empty();
  if (matrix.ld < matrix.length && !any_ld) return codes.leading_dimension;
  if (matrix.length == 0 || matrix.count == 0) return std::nullopt;  // not read, not written
  std::size_t bytes = 0;
  if (!at.buffer || clGetMemObjectInfo(at.buffer, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr) != CL_SUCCESS) {
    return codes.handle;
  }
  const std::size_t elements =
      sum(sum(product(matrix.count - 1, matrix.ld), matrix.length), last_start(p, matrix, at.offset));
  if (bytes < product(elements, element_bytes(p.precision))) return codes.size;
  return std::nullopt;
}

bool has_double(cl_device_id device) {
  cl_device_fp_config config = 0;
  return clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof config, &config, nullptr) != CL_SUCCESS ||
         config != 0;
}

}  // namespace

std::optional<StatusCode> refusal(cl_device_id device, const Problem& p, const Matrix& a, const Matrix& b,
                                  const Matrix& c) {
  const bool doubles = p.precision == Precision::double_precision || p.precision == Precision::complex_double;
  if (doubles && !has_double(device)) return StatusCode::kNoDoublePrecision;
  const bool columns = p.layout == Layout::column_major;
  std::optional<StatusCode> code =
      refusal_of(p, stored(p.trans_a != columns, p.m, p.k, p.lda, p.a_stride, &BatchOffsets::a), a, kA);
  if (!code) code = refusal_of(p, stored(p.trans_b != columns, p.k, p.n, p.ldb, p.b_stride, &BatchOffsets::b), b, kB);
  if (!code) code = refusal_of(p, stored(columns, p.m, p.n, p.ldc, p.c_stride, &BatchOffsets::c), c, kC);
  return code;
}

StatusCode status_code(const Status& failure) {
  if (failure.ok()) return StatusCode::kSuccess;
  if (failure.opencl_code() != 0) return static_cast<StatusCode>(failure.opencl_code());
  switch (failure.code()) {
    case Code::out_of_memory: return StatusCode::kOpenCLOutOfHostMemory;
    case Code::build_failed: return StatusCode::kOpenCLBuildProgramFailure;
    case Code::invalid_argument: return StatusCode::kInvalidValue;
    default: return StatusCode::kUnknownError;
  }
}

}  // namespace clbake::door
