// OpenBLAS, BLIS and MKL, through cblas.
#include "bench/peers/host_peer.hpp"
#include "bench/peers/shared_library.hpp"

#include <clbake/os/environment.hpp>

#include <algorithm>
#include <complex>
#include <string>
#include <thread>

namespace clbake::tool {
namespace {

// Scalar is float, double, or, for complex numbers, a pointer to one.
template <typename Scalar, typename Matrix>
using CblasGemm = void (*)(int, int, int, int, int, int, Scalar, const Matrix*, int, const Matrix*, int, Scalar,
                           Matrix*, int);

struct Blas {
  const char* name;
  std::vector<const char*> files;
  const char* threads;  // a variable that the library reads when it is loaded
};
const Blas kLibraries[] = {{"openblas", {"libopenblas.so.0", "libopenblas.so"}, "OPENBLAS_NUM_THREADS"},
                           {"blis", {"libblis.so.4", "libblis.so"}, "BLIS_NUM_THREADS"},
                           {"mkl", {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"}, "MKL_NUM_THREADS"}};

// All cores, unless the variable of the library says how many. MKL would leave out those that share a core, by itself.
SharedLibrary open(const Blas& blas, const std::string& path) {
  const auto set = [](const char* variable, const std::string& value) {
    if (!os::variable(variable)) os::set_variable(variable, value);
  };
  set(blas.threads, std::to_string(std::max(1U, std::thread::hardware_concurrency())));
  set("MKL_DYNAMIC", "FALSE");
  set("KMP_BLOCKTIME", "30");  // ms that its threads spin: each turn waits for them
#if defined(__x86_64__) && defined(__GNUC__)
  // Some packaged versions of OpenBLAS take newer AVX-512 CPUs for older ones.
  if (path.empty() && __builtin_cpu_supports("avx512dq")) set("OPENBLAS_CORETYPE", "SkylakeX");
#endif
  return SharedLibrary(path.empty() ? blas.files : std::vector<const char*>{path.c_str()});
}

class Cblas : public HostPeer {
 public:
  Cblas(const Blas& blas, const std::string& path) : name_(blas.name), library_(open(blas, path)) {}

  const char* name() const override { return name_; }

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

  // SciPy's OpenBLAS has names of its own.
  SharedLibrary::Function function(const std::string& name) const {
    return library_[library_.has("scipy_" + name) ? "scipy_" + name : name];
  }

  const char* name_;
  const SharedLibrary library_;
  const CblasGemm<float, float> sgemm_ = function("cblas_sgemm");
  const CblasGemm<double, double> dgemm_ = function("cblas_dgemm");
  const CblasGemm<const void*, void> cgemm_ = function("cblas_cgemm");
  const CblasGemm<const void*, void> zgemm_ = function("cblas_zgemm");
};

}  // namespace

std::unique_ptr<Peer> make_cblas(const std::string& library) {
  const std::size_t end = library.find('=');
  const std::string path = end == std::string::npos ? "" : library.substr(end + 1);
  if (end != std::string::npos && path.empty()) throw UsageError("--peer: '" + library + "' names no file");
  for (const Blas& blas : kLibraries) {
    if (library.compare(0, end, blas.name) == 0) return std::make_unique<Cblas>(blas, path);
  }
  return nullptr;
}

}  // namespace clbake::tool
