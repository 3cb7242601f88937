#include "serve/checks.hpp"

#include <clbake/operand.hpp>

#include <algorithm>
#include <vector>

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

std::optional<StatusCode> refusal_of(const Problem& p, const Operand& matrix, cl_mem buffer, const Codes& codes) {
  const bool any_ld = codes.any_ld_in_batches && !p.offsets.empty();
  if (matrix.ld < matrix.cols && !any_ld) return codes.leading_dimension;
  if (matrix.rows == 0 || matrix.cols == 0) return std::nullopt;  // not read, not written
  std::size_t bytes = 0;
  if (!buffer || clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr) != CL_SUCCESS) {
    return codes.handle;
  }
  return bytes / element_bytes(p.precision) < matrix.extent() ? std::optional(codes.size) : std::nullopt;
}

// Two matrices that begin `distance` elements apart share an element of rows that are q apart, or q + 1.
bool share_elements(const Operand& matrix, std::size_t distance) {
  const std::size_t q = distance / matrix.ld;
  const std::size_t rest = distance % matrix.ld;
  return (q < matrix.rows && rest < matrix.cols) || (q + 1 < matrix.rows && matrix.ld - rest < matrix.cols);
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
  std::optional<StatusCode> code = refusal_of(p, operand_a(p, a.offset), a.buffer, kA);
  if (!code) code = refusal_of(p, operand_b(p, b.offset), b.buffer, kB);
  if (!code) code = refusal_of(p, operand_c(p, c.offset), c.buffer, kC);
  return code;
}

bool products_share_c(const Problem& p) {
  const Operand c = operand_c(p);
  if (c.empty() || c.batch == 1 || c.ld < c.cols) return false;
  if (!c.offsets && c.stride >= c.length()) return false;  // most batches, spared the list
  std::vector<std::size_t> starts(c.batch);
  for (std::size_t i = 0; i < c.batch; ++i) starts[i] = c.start(i);
  std::sort(starts.begin(), starts.end());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    for (std::size_t j = i + 1; j < starts.size() && starts[j] - starts[i] < c.length(); ++j) {
      if (share_elements(c, starts[j] - starts[i])) return true;
    }
  }
  return false;
}

}  // namespace clbake::door
