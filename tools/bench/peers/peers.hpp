// Other GEMM libraries to compare with, loaded when asked for: clbake never links them.
#pragma once

#include "bench/peers/clblast_parameters.hpp"

#include <clbake/builder/devices.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace clbake::tool {

// C = A * B in row-major order, tight leading dimensions, one product or a strided batch, matrices of its own: A, B and
// a bias are filled with random_elements().
class Peer {
 public:
  virtual ~Peer() = default;
  virtual const char* name() const = 0;
  virtual bool uses_opencl() const { return false; }
  virtual bool computes() const { return true; }  // false: an empty kernel
  // 16 bits are in the libraries on CUDA alone.
  virtual bool has(Precision precision) const { return !has_16_bits(precision); }
  // Opens its device. Call it once, before anything below. `session`: the queue it is to use, retained; null for a
  // peer that does not use OpenCL.
  virtual Status attach(const builder::Session* session) = 0;
  // Makes the matrices of a problem whose precision it has; the earlier ones are released. Fails with not_found where
  // the library does not compute such a product.
  virtual Status set(const Problem& problem) = 0;
  // Runs the product once and waits for it.
  virtual Status run() = 0;
  // C after run(), of one product in single precision.
  virtual Result<std::vector<float>> single_result() const = 0;
};

// Opens the library of "openblas" (cblas with that many threads, its AVX-512 core where the CPU has that), "clblast"
// (on a queue), "cublas" or "cublaslt" (on CUDA's first device) or "launch" (an empty kernel on a queue, for
// comparison: its GFLOP/s mean nothing). `tuned`: what CLBlast is to use instead of its own parameters, once attached.
// Fails with invalid_argument for another name, not_found when the library is not installed.
Result<std::unique_ptr<Peer>> make_peer(const std::string& name, std::uint32_t threads,
                                        const std::vector<ClblastParameters>& tuned = {});

Result<std::unique_ptr<Peer>> make_openblas(std::uint32_t threads);
Result<std::unique_ptr<Peer>> make_clblast(const std::vector<ClblastParameters>& tuned);
Result<std::unique_ptr<Peer>> make_cublas();
Result<std::unique_ptr<Peer>> make_cublaslt();
std::unique_ptr<Peer> make_launch();

// A product by the library, then a kernel that applies the problem's bias and activation; single precision. `library`
// must outlive it.
std::unique_ptr<Peer> make_separate(const Library& library);

// The elements of a peer's matrix: the same ones for the same count, in [-1, 1), complex ones in both parts. T is
// float, double or a complex number of them.
template <typename T>
std::vector<T> random_elements(std::size_t count);

// Compares C after run() with the reference, for one product in single precision, with its bias for each column and
// activation, if any; of a large one only the last row and some others, as far apart as kPatientCheck asks. Fails with
// wrong_result.
Status check_single(const Peer& peer, const Problem& problem);

}  // namespace clbake::tool
