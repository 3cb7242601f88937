// CLBlast through its C interface (clblast_c.h).
#include "bench/peers/opencl_peer.hpp"
#include "bench/peers/shared_library.hpp"

namespace clbake::tool {
namespace {

// T is float, double, cl_float2 or cl_double2.
template <typename T>
struct Routines {
  using Gemm = int (*)(int, int, int, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t,
                       cl_mem, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t, cl_command_queue*,
                       cl_event*);
  using Batch = int (*)(int, int, int, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t,
                        std::size_t, cl_mem, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t,
                        std::size_t, std::size_t, cl_command_queue*, cl_event*);

  Routines(const SharedLibrary& library, const std::string& letter)
      : gemm(library["CLBlast" + letter + "gemm"]), batch(library["CLBlast" + letter + "gemmStridedBatched"]) {}

  Gemm gemm;
  Batch batch;
};

class Clblast : public OpenClPeer {
 public:
  const char* name() const override { return "clblast"; }

 private:
  void enqueue(cl_event* event) override {
    switch (problem_.precision) {
      case Precision::single_precision: return call<float>(single_, 1, event);
      case Precision::complex_single: return call<cl_float2>(complex_single_, {{1, 0}}, event);
      case Precision::complex_double: return call<cl_double2>(complex_double_, {{1, 0}}, event);
      default: return call<double>(double_, 1, event);
    }
  }

  template <typename T>
  void call(const Routines<T>& routines, const T& one, cl_event* event) const {
    const Problem& p = problem_;
    cl_command_queue to = queue();
    const int trans_a = blas_operation(p.trans_a, p.conj_a), trans_b = blas_operation(p.trans_b, p.conj_b);
    const T zero = {};
    const int status =
        p.batch == 1 ? routines.gemm(kRowMajor, trans_a, trans_b, p.m, p.n, p.k, one, a_(), 0, p.lda, b_(), 0, p.ldb,
                                     zero, c_(), 0, p.ldc, &to, event)
                     : routines.batch(kRowMajor, trans_a, trans_b, p.m, p.n, p.k, one, a_(), 0, p.lda, p.a_stride, b_(),
                                      0, p.ldb, p.b_stride, zero, c_(), 0, p.ldc, p.c_stride, p.batch, &to, event);
    if (status != 0) throw Failure("clblast: status " + std::to_string(status));
  }

  const SharedLibrary library_{{"libclblast.so.1", "libclblast.so"}};
  const Routines<float> single_{library_, "S"};
  const Routines<double> double_{library_, "D"};
  const Routines<cl_float2> complex_single_{library_, "C"};
  const Routines<cl_double2> complex_double_{library_, "Z"};
};

}  // namespace

std::unique_ptr<Peer> make_clblast() { return std::make_unique<Clblast>(); }

}  // namespace clbake::tool
