// Stands in for libcublasLt.so, libcublas.so and libcudart.so, with the host's memory for the device's: a plain product
// in single precision, column-major, with alpha = 1 and beta = 0. cuBLASLt proposes as many algorithms as
// FAKE_CUBLASLT_PROPOSES says. The second computes. The third is not supported when it is called. The others claim
// success and do nothing, but the first is marked as not valid, and the fourth needs more memory than there can be.
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

struct Product {
  int operation[2] = {0, 0};
};

struct Layout {
  std::uint64_t rows, columns;
  std::int64_t ld;
};

struct Proposal {
  std::uint64_t algorithm[8];
  std::size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};

// True if the matrix, after the operation, has that many rows and columns.
bool is_sized(const Layout& layout, int operation, std::uint64_t rows, std::uint64_t columns) {
  const bool transposed = operation != 0;
  return layout.rows == (transposed ? columns : rows) && layout.columns == (transposed ? rows : columns) &&
         layout.ld >= static_cast<std::int64_t>(layout.rows);
}

// Element (row, column) of a matrix or of its transposition.
float element(const float* matrix, const Layout& layout, int operation, std::int64_t row, std::int64_t column) {
  return operation == 0 ? matrix[column * layout.ld + row] : matrix[row * layout.ld + column];
}

int multiply(const int (&operation)[2], const float* a, const Layout& a_layout, const float* b, const Layout& b_layout,
             float* d, const Layout& d_layout) {
  const auto depth = static_cast<std::int64_t>(operation[0] == 0 ? a_layout.columns : a_layout.rows);
  const bool fits = is_sized(a_layout, operation[0], d_layout.rows, static_cast<std::uint64_t>(depth)) &&
                    is_sized(b_layout, operation[1], static_cast<std::uint64_t>(depth), d_layout.columns);
  if (!fits) return 7;
  for (std::int64_t column = 0; column < static_cast<std::int64_t>(d_layout.columns); ++column) {
    for (std::int64_t row = 0; row < static_cast<std::int64_t>(d_layout.rows); ++row) {
      double sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) {
        sum += static_cast<double>(element(a, a_layout, operation[0], row, k)) *
               static_cast<double>(element(b, b_layout, operation[1], k, column));
      }
      d[column * d_layout.ld + row] = static_cast<float>(sum);
    }
  }
  return 0;
}

}  // namespace

extern "C" {

int cudaMalloc(void** memory, std::size_t bytes) { return (*memory = std::malloc(bytes)) ? 0 : 2; }
int cudaFree(void* memory) {
  std::free(memory);
  return 0;
}
int cudaMemcpy(void* to, const void* from, std::size_t bytes, int /*kind*/) {
  std::memcpy(to, from, bytes);
  return 0;
}
int cudaDeviceSynchronize() { return 0; }

int cublasLtCreate(void** handle) { return (*handle = std::malloc(1)) ? 0 : 3; }
int cublasLtDestroy(void* handle) { return cudaFree(handle); }
int cublasLtMatmulPreferenceCreate(void** preference) { return cublasLtCreate(preference); }
int cublasLtMatmulPreferenceDestroy(void* preference) { return cudaFree(preference); }
int cublasLtMatmulPreferenceSetAttribute(void* /*preference*/, int attribute, const void* /*value*/,
                                         std::size_t bytes) {
  return attribute == 1 && bytes == sizeof(std::size_t) ? 0 : 7;
}

int cublasLtMatmulDescCreate(Product** product, int sums, int type) {
  *product = new Product;
  return sums == 68 && type == 0 ? 0 : 15;
}
int cublasLtMatmulDescDestroy(Product* product) {
  delete product;
  return 0;
}
int cublasLtMatmulDescSetAttribute(Product* product, int attribute, const void* value, std::size_t bytes) {
  if ((attribute != 3 && attribute != 4) || bytes != sizeof(int)) return 7;
  std::memcpy(&product->operation[attribute - 3], value, bytes);
  return 0;
}

int cublasLtMatrixLayoutCreate(Layout** layout, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld) {
  *layout = new Layout{rows, columns, ld};
  return type == 0 ? 0 : 15;
}
int cublasLtMatrixLayoutDestroy(Layout* layout) {
  delete layout;
  return 0;
}
int cublasLtMatrixLayoutSetAttribute(Layout* /*layout*/, int attribute, const void* value, std::size_t bytes) {
  if (attribute == 6 && bytes == sizeof(std::int64_t)) return 0;
  int count = 0;
  if (attribute == 5 && bytes == sizeof count) std::memcpy(&count, value, bytes);
  return count == 1 ? 0 : 7;
}

int cublasLtMatmulAlgoGetHeuristic(void* /*handle*/, Product* /*product*/, Layout* /*a*/, Layout* /*b*/, Layout* /*c*/,
                                   Layout* /*d*/, void* /*preference*/, int most, Proposal* proposals, int* count) {
  const int wanted = static_cast<int>(std::strtol(std::getenv("FAKE_CUBLASLT_PROPOSES"), nullptr, 10));
  *count = wanted < most ? wanted : most;
  for (int i = 0; i < *count; ++i) {
    proposals[i] = {{77, static_cast<std::uint64_t>(i)}, i == 3 ? SIZE_MAX : 0, i == 0 ? 15 : 0, 1, {}};
  }
  return 0;
}

int cublasLtMatmul(void* /*handle*/, Product* product, const float* alpha, const float* a, Layout* a_layout,
                   const float* b, Layout* b_layout, const float* beta, const float* /*c*/, Layout* /*c_layout*/,
                   float* d, Layout* d_layout, const std::uint64_t* algorithm, void* /*workspace*/,
                   std::size_t /*workspace_bytes*/, void* /*stream*/) {
  if (algorithm[0] != 77 || *alpha != 1 || *beta != 0) return 7;
  if (algorithm[1] == 2) return 15;
  if (algorithm[1] != 1) return 0;
  return multiply(product->operation, a, *a_layout, b, *b_layout, d, *d_layout);
}

int cublasCreate_v2(void** handle) { return cublasLtCreate(handle); }
int cublasDestroy_v2(void* handle) { return cudaFree(handle); }
int cublasGemmEx(void* /*handle*/, int first, int second, int m, int n, int k, const float* alpha, const float* a,
                 int a_type, int lda, const float* b, int b_type, int ldb, const float* beta, float* c, int c_type,
                 int ldc, int sums, int algorithm) {
  if (*alpha != 1 || *beta != 0 || a_type + b_type + c_type != 0 || sums != 68 || algorithm != -1) return 7;
  const auto layout = [](bool transposed, int rows, int columns, int ld) {
    return Layout{static_cast<std::uint64_t>(transposed ? columns : rows),
                  static_cast<std::uint64_t>(transposed ? rows : columns), ld};
  };
  const int operations[] = {first, second};
  return multiply(operations, a, layout(first != 0, m, k, lda), b, layout(second != 0, k, n, ldb), c,
                  layout(false, m, n, ldc));
}
void cublasGemmStridedBatchedEx() {}  // asked for, and never called

}  // extern "C"
