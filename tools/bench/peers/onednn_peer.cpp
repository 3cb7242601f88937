// oneDNN, through its row-major GEMM functions: single precision, and bytes whose C is int32.
#include "bench/peers/host_peer.hpp"
#include "bench/peers/shared_library.hpp"

#include <algorithm>
#include <cstdint>

namespace clbake::tool {
namespace {

using Dim = std::int64_t;
using SingleGemm = int (*)(char, char, Dim, Dim, Dim, float, const float*, Dim, const float*, Dim, float, float*, Dim);
// A's zero point follows its leading dimension. B's elements are int8, A's int8 or uint8.
template <typename Byte>
using ByteGemm = int (*)(char, char, char, Dim, Dim, Dim, float, const Byte*, Dim, Byte, const std::int8_t*, Dim,
                         std::int8_t, float, std::int32_t*, Dim, const std::int32_t*);

class OneDnn : public HostPeer {
 public:
  const char* name() const override { return "onednn"; }
  bool has(Precision p) const override {
    return p == Precision::single_precision || p == mixed(Element::int8, Element::int8, Element::int32) ||
           p == mixed(Element::uint8, Element::int8, Element::int32);
  }

  bool set(const Problem& problem) override {
    HostPeer::set(problem);
    if (element_a(problem.precision) == Element::int8) check_bytes<std::int8_t>();
    if (element_a(problem.precision) == Element::uint8) check_bytes<std::uint8_t>();
    return true;
  }

  void run() override {
    const Problem& p = problem_;
    for (std::size_t i = 0; i < p.batch; ++i) {
      switch (element_a(p.precision)) {
        case Element::int8: multiply_bytes<std::int8_t>(s8_, i); break;
        case Element::uint8: multiply_bytes<std::uint8_t>(u8_, i); break;
        default:
          succeed(single_(op(p.trans_a), op(p.trans_b), as_dim(p.m), as_dim(p.n), as_dim(p.k), 1,
                          at<float>(a_, i * p.a_stride), as_dim(p.lda), at<float>(b_, i * p.b_stride), as_dim(p.ldb), 0,
                          at<float>(c_, i * p.c_stride), as_dim(p.ldc)));
      }
    }
  }

 private:
  static char op(bool transposed) { return transposed ? 'T' : 'N'; }
  static Dim as_dim(std::size_t x) { return static_cast<Dim>(x); }
  template <typename Matrix>
  static Matrix* at(std::vector<unsigned char>& matrix, std::size_t element) {
    return reinterpret_cast<Matrix*>(matrix.data()) + element;
  }
  static void succeed(int status) {
    if (status != 0) throw Failure("onednn: status " + std::to_string(status));
  }

  template <typename Byte>
  void multiply_bytes(ByteGemm<Byte> gemm, std::size_t i) {
    const Problem& p = problem_;
    const std::int32_t no_offset = 0;
    succeed(gemm(op(p.trans_a), op(p.trans_b), 'F', as_dim(p.m), as_dim(p.n), as_dim(p.k), 1,
                 at<Byte>(a_, i * p.a_stride), as_dim(p.lda), 0, at<std::int8_t>(b_, i * p.b_stride), as_dim(p.ldb), 0,
                 0, at<std::int32_t>(c_, i * p.c_stride), as_dim(p.ldc), &no_offset));
  }

  // Compares the first product's diagonal: without VNNI, old versions saturate in 16 bits.
  template <typename Byte>
  void check_bytes() {
    run();
    const Problem& p = problem_;
    for (std::size_t i = 0; i < std::min(p.m, p.n); ++i) {
      std::int32_t sum = 0;
      for (std::size_t q = 0; q < p.k; ++q) {
        sum += *at<Byte>(a_, p.trans_a ? q * p.lda + i : i * p.lda + q) *
               *at<std::int8_t>(b_, p.trans_b ? i * p.ldb + q : q * p.ldb + i);
      }
      if (*at<std::int32_t>(c_, i * p.ldc + i) != sum) throw Failure("onednn: wrong result");
    }
  }

  const SharedLibrary library_{{"libdnnl.so.2", "libdnnl.so.3", "libdnnl.so"}};
  const SingleGemm single_ = library_["dnnl_sgemm"];
  const ByteGemm<std::int8_t> s8_ = library_["dnnl_gemm_s8s8s32"];
  const ByteGemm<std::uint8_t> u8_ = library_["dnnl_gemm_u8s8s32"];
};

}  // namespace

std::unique_ptr<Peer> make_onednn() { return std::make_unique<OneDnn>(); }

}  // namespace clbake::tool
