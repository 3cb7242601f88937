// OpenBLAS, or another library with its names, through cblas.
#include "bench/peers/blas.hpp"
#include "bench/peers/open_library.hpp"
#include "bench/peers/peers.hpp"

#include <complex>
#include <cstdlib>

namespace clbake::tool {
namespace {

using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
using Dgemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                       int);
using ComplexGemm = void (*)(int, int, int, int, int, int, const void*, const void*, int, const void*, int, const void*,
                             void*, int);

struct Cblas {
  Sgemm sgemm = nullptr;
  Dgemm dgemm = nullptr;
  ComplexGemm cgemm = nullptr;
  ComplexGemm zgemm = nullptr;
};

template <typename T>
struct HostMatrices {
  std::vector<T> a, b, c;
};

class OpenBlas : public Peer {
 public:
  explicit OpenBlas(const Cblas& cblas) : cblas_(cblas) {}
  const char* name() const override { return "openblas"; }
  Status attach(const builder::Session* /*session*/) override { return {}; }
  Status set(const Problem& problem) override {
    run_ = {};  // releases the earlier matrices
    switch (problem.precision) {
      case Precision::single_precision: single_ = use<float>(problem, cblas_.sgemm, 1.0F, 0.0F); break;
      case Precision::complex_single: use_complex<float>(problem, cblas_.cgemm); break;
      case Precision::complex_double: use_complex<double>(problem, cblas_.zgemm); break;
      default: use<double>(problem, cblas_.dgemm, 1.0, 0.0);
    }
    return {};
  }
  Status run() override {
    run_();
    return {};
  }
  Result<std::vector<float>> single_result() const override { return single_->c; }

 private:
  template <typename T, typename Gemm, typename Scalar>
  std::shared_ptr<HostMatrices<T>> use(const Problem& p, Gemm gemm, Scalar one, Scalar zero) {
    const Extents e = extents(p);
    const auto host = std::make_shared<HostMatrices<T>>(
        HostMatrices<T>{random_elements<T>(e.a), random_elements<T>(e.b), std::vector<T>(e.c)});
    run_ = [=] {
      const auto as_int = [](std::size_t x) { return static_cast<int>(x); };
      for (std::size_t i = 0; i < p.batch; ++i) {  // not every version has cblas_sgemm_batch_strided
        gemm(kRowMajor, blas_operation(p.trans_a, p.conj_a), blas_operation(p.trans_b, p.conj_b), as_int(p.m),
             as_int(p.n), as_int(p.k), one, host->a.data() + i * p.a_stride, as_int(p.lda),
             host->b.data() + i * p.b_stride, as_int(p.ldb), zero, host->c.data() + i * p.c_stride, as_int(p.ldc));
      }
    };
    return host;
  }
  template <typename Real>
  void use_complex(const Problem& problem, ComplexGemm gemm) {
    static const std::complex<Real> one{1}, zero{0};
    use<std::complex<Real>>(problem, gemm, static_cast<const void*>(&one), static_cast<const void*>(&zero));
  }

  Cblas cblas_;
  std::function<void()> run_;
  std::shared_ptr<HostMatrices<float>> single_;
};

}  // namespace

Result<std::unique_ptr<Peer>> make_openblas(std::uint32_t threads) {
  // Read by the library when it is loaded. Some packaged versions take newer AVX-512 CPUs for older ones.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  }
  setenv("OPENBLAS_NUM_THREADS", std::to_string(threads).c_str(), 0);
  void* library = open_library({"libopenblas.so.0", "libopenblas.so"});
  Cblas cblas;
  if (!library) return {Code::not_found, "openblas is not installed"};
  const bool found =
      find_function(library, "cblas_sgemm", cblas.sgemm) && find_function(library, "cblas_dgemm", cblas.dgemm) &&
      find_function(library, "cblas_cgemm", cblas.cgemm) && find_function(library, "cblas_zgemm", cblas.zgemm);
  if (!found) return {Code::not_found, "openblas with cblas is not installed"};
  return std::unique_ptr<Peer>(std::make_unique<OpenBlas>(cblas));
}

}  // namespace clbake::tool
