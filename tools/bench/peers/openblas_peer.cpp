// OpenBLAS, or another library with its names, through cblas.
#include "bench/peers/host_peer.hpp"
#include "bench/peers/shared_library.hpp"

#include <clbake/os/environment.hpp>

#include <complex>
#include <cstdlib>
#include <fstream>
#include <string>

namespace clbake::tool {
namespace {

// Scalar is float, double, or, for complex numbers, a pointer to one.
template <typename Scalar, typename Matrix>
using CblasGemm = void (*)(int, int, int, int, int, int, Scalar, const Matrix*, int, const Matrix*, int, Scalar,
                           Matrix*, int);

bool has_avx512() {
  std::ifstream cpus("/proc/cpuinfo");
  std::string word;
  while (cpus >> word) {
    if (word == "avx512dq") return true;
  }
  return false;
}

// Some packaged versions take newer AVX-512 CPUs for older ones.
SharedLibrary open_openblas() {
  if (has_avx512()) {
    // Read by the library when it is loaded.
    if (!os::variable("OPENBLAS_CORETYPE")) os::set_variable("OPENBLAS_CORETYPE", "SkylakeX");
  }
  return SharedLibrary({"libopenblas.so.0", "libopenblas.so"});
}

class OpenBlas : public HostPeer {
 public:
  const char* name() const override { return "openblas"; }

  void run() override {
    static const std::complex<float> one_c{1}, zero_c{0};
    static const std::complex<double> one_z{1}, zero_z{0};
    switch (problem_.precision) {
      case Precision::single_precision: return multiply(sgemm_, 1.0F, 0.0F);
      case Precision::complex_single: return multiply<const void*, void>(cgemm_, &one_c, &zero_c);
      case Precision::complex_double: return multiply<const void*, void>(zgemm_, &one_z, &zero_z);
      default: multiply(dgemm_, 1.0, 0.0);
    }
  }

 private:
  template <typename Scalar, typename Matrix>
  void multiply(CblasGemm<Scalar, Matrix> gemm, Scalar one, Scalar zero) {
    const Problem& p = problem_;
    const auto as_int = [](std::size_t x) { return static_cast<int>(x); };
    const auto at = [&](std::vector<unsigned char>& matrix, std::size_t element) {
      return reinterpret_cast<Matrix*>(matrix.data() + element * element_bytes(p.precision));
    };
    for (std::size_t i = 0; i < p.batch; ++i) {  // not every version has cblas_sgemm_batch_strided
      gemm(kRowMajor, blas_operation(p.trans_a, p.conj_a), blas_operation(p.trans_b, p.conj_b), as_int(p.m),
           as_int(p.n), as_int(p.k), one, at(a_, i * p.a_stride), as_int(p.lda), at(b_, i * p.b_stride), as_int(p.ldb),
           zero, at(c_, i * p.c_stride), as_int(p.ldc));
    }
  }

  const SharedLibrary library_ = open_openblas();
  const CblasGemm<float, float> sgemm_ = library_["cblas_sgemm"];
  const CblasGemm<double, double> dgemm_ = library_["cblas_dgemm"];
  const CblasGemm<const void*, void> cgemm_ = library_["cblas_cgemm"];
  const CblasGemm<const void*, void> zgemm_ = library_["cblas_zgemm"];
};

}  // namespace

std::unique_ptr<Peer> make_openblas() { return std::make_unique<OpenBlas>(); }

}  // namespace clbake::tool
