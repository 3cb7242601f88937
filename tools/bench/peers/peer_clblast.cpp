// CLBlast through its C interface (clblast_c.h).
#include "bench/peers/open_library.hpp"
#include "bench/peers/opencl_peer.hpp"

namespace clbake::tool {
namespace {

// T is float, double, cl_float2 or cl_double2.
template <typename T>
struct Routines {
  int (*gemm)(int, int, int, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t, cl_mem,
              std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t, cl_command_queue*, cl_event*) = nullptr;
  int (*batch)(int, int, int, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t, std::size_t,
               cl_mem, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t, std::size_t,
               std::size_t, cl_command_queue*, cl_event*) = nullptr;

  bool find(void* library, const std::string& letter) {
    return find_function(library, ("CLBlast" + letter + "gemm").c_str(), gemm) &&
           find_function(library, ("CLBlast" + letter + "gemmStridedBatched").c_str(), batch);
  }
};

struct ClblastLibrary {
  Routines<float> single;
  Routines<double> in_double;
  Routines<cl_float2> complex_single;
  Routines<cl_double2> complex_double;
};

class Clblast : public OpenClPeer {
 public:
  explicit Clblast(const ClblastLibrary& library) : library_(library) {}
  const char* name() const override { return "clblast"; }

 private:
  void enqueue(cl_event* event) override {
    switch (problem_.precision) {
      case Precision::single_precision: return call<float>(library_.single, 1, event);
      case Precision::complex_single: return call<cl_float2>(library_.complex_single, {{1, 0}}, event);
      case Precision::complex_double: return call<cl_double2>(library_.complex_double, {{1, 0}}, event);
      default: return call<double>(library_.in_double, 1, event);
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

  ClblastLibrary library_;
};

}  // namespace

std::unique_ptr<Peer> make_clblast() {
  void* handle = open_library({"libclblast.so.1", "libclblast.so"});
  ClblastLibrary library;
  const bool found = library.single.find(handle, "S") && library.in_double.find(handle, "D") &&
                     library.complex_single.find(handle, "C") && library.complex_double.find(handle, "Z");
  return found ? std::make_unique<Clblast>(library) : nullptr;
}

}  // namespace clbake::tool
