// Stands in for libdnnl.so.3: products of two matrices of single, of bfloat16, or of int8 or uint8 by int8. With
// FAKE_DNNL_WRONG set, one element is wrong.
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

using Dim = std::int64_t;

enum Type { bfloat16 = 2, single = 3, int32 = 4, int8 = 5, uint8 = 6 };
struct Matrix {
  int type;
  Dim dims[2], strides[2];
  unsigned char* bytes;
  unsigned char* at(Dim row, Dim col) const {
    return bytes + (row * strides[0] + col * strides[1]) * (type == bfloat16 ? 2 : type < int8 ? 4 : 1);
  }
};
struct Argument {
  int which;
  const Matrix* matrix;
};

double read(const unsigned char* from, int type) {
  if (type == int8) return static_cast<signed char>(*from);
  if (type == uint8) return *from;
  float number = 0;  // a bfloat16 is its upper half
  std::memcpy(reinterpret_cast<char*>(&number) + (type == bfloat16 ? 2 : 0), from, type == bfloat16 ? 2 : 4);
  return static_cast<double>(number);
}

int make(void** object, const Matrix& matrix = {}) {
  *object = new Matrix(matrix);
  return 0;
}

}  // namespace

extern "C" {

int dnnl_engine_create(void** engine, int, std::size_t) { return make(engine); }
int dnnl_stream_create(void** stream, void*, unsigned) { return make(stream); }
int dnnl_stream_wait(void*) { return 0; }
int dnnl_memory_desc_create_with_strides(void** matrix, int, const Dim* dims, int type, const Dim* strides) {
  return make(matrix, {type, {dims[0], dims[1]}, {strides[0], strides[1]}, nullptr});
}
int dnnl_matmul_primitive_desc_create(void** plan, void*, void*, const Matrix* b, void*, void*, void*) {
  return b->type == uint8 ? 3 : make(plan);  // 3: oneDNN does not compute this
}
int dnnl_primitive_create(void** primitive, void*) { return make(primitive); }
int dnnl_memory_create(void** memory, const Matrix* matrix, void*, unsigned char* bytes) {
  make(memory, *matrix);
  static_cast<Matrix*>(*memory)->bytes = bytes;
  return 0;
}

int dnnl_primitive_execute(void*, void*, int, const Argument* arguments) {
  const Matrix &a = *arguments[0].matrix, &b = *arguments[1].matrix, &c = *arguments[2].matrix;
  for (Dim i = 0; i < c.dims[0]; ++i) {
    for (Dim j = 0; j < c.dims[1]; ++j) {
      double sum = i == 39 && std::getenv("FAKE_DNNL_WRONG") ? 1 : 0;
      for (Dim p = 0; p < a.dims[1]; ++p) sum += read(a.at(i, p), a.type) * read(b.at(p, j), b.type);
      const auto number = static_cast<float>(sum);
      const auto whole = static_cast<std::int32_t>(sum);
      const void* const from = c.type == int32 ? static_cast<const void*>(&whole) : &number;
      std::memcpy(c.at(i, j), static_cast<const char*>(from) + (c.type == bfloat16 ? 2 : 0),
                  c.type == bfloat16 ? 2 : 4);
    }
  }
  return 0;
}

#define DESTROY(what) \
  int dnnl_##what##_destroy(Matrix* matrix) { return delete matrix, 0; }
DESTROY(engine) DESTROY(stream) DESTROY(memory) DESTROY(memory_desc) DESTROY(primitive) DESTROY(primitive_desc)

}  // extern "C"
