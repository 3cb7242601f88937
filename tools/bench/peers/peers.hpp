// Other GEMM libraries to compare with, loaded when asked for: clbake never links them.
#pragma once

#include <clbake/builder/devices.hpp>

#include <memory>
#include <string>
#include <vector>

namespace clbake::tool {

// C = A * B in row-major order, tight leading dimensions, one product or a strided batch, matrices of its own: A, B and
// a bias are filled with random_matrix(). Its functions throw Failure.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual const char* name() const = 0;
  virtual bool uses_opencl() const { return false; }
  // 16 bits are in the libraries on CUDA and in oneDNN, mixed products in cuBLASLt and oneDNN.
  virtual bool has(Precision precision) const { return !has_16_bits(precision) && !is_mixed(precision); }
  // Opens its device. Call it once, before anything below. `session`: the queue it is to use, retained; null for a
  // peer that does not use OpenCL.
  virtual void attach(const builder::Session* session) = 0;
  // Makes the matrices of a problem whose precision it has; the earlier ones are released. False where the library does
  // not compute such a product.
  virtual bool set(const Problem& problem) = 0;
  // Runs the product once and waits for it.
  virtual void run() = 0;
  // The bytes of C after run().
  virtual std::vector<unsigned char> result() const = 0;
};

// Opens the library of "openblas" (its AVX-512 core where the CPU has that), "blis", "mkl" or "onednn" (on all cores),
// "clblast" (on a queue), "cublas", "cublaslt" or "cublaslt-fast" (on CUDA's first device). "openblas=PATH" opens that
// file; blis and mkl likewise. Throws UsageError for another name, and like the functions below.
std::unique_ptr<Peer> make_peer(const std::string& name);

// Throw Failure when the library is not installed.
// openblas, blis or mkl, as make_peer has them; null for another name.
std::unique_ptr<Peer> make_cblas(const std::string& library);
std::unique_ptr<Peer> make_onednn();
// With the best parameters of these files of CLBlast's tuners; later ones win. Throws Failure, too, for another file.
std::unique_ptr<Peer> make_clblast(const std::vector<std::string>& tuned_files);
std::unique_ptr<Peer> make_cublas();
std::unique_ptr<Peer> make_cublaslt();
// Sums of e4m3 and e5m2 stay in the matrix units, which keep about 14 bits of them.
std::unique_ptr<Peer> make_cublaslt_fast();

// A product by the library, then a kernel that applies the problem's bias and activation; single precision. `library`
// must outlive it.
std::unique_ptr<Peer> make_separate(const Library& library);

// The bytes of a peer's matrix: the same ones for the same count, numbers in [-1, 1), complex ones in both parts, and
// integers from -100 to 100.
std::vector<unsigned char> random_matrix(Element element, std::size_t count);

// Runs the product and compares an element of each row and each column of its first C, beside the diagonal, with the
// bias for each column and the activation, if any; of a large one as many as kPatientCheck asks. Throws Failure when
// one is wrong. Complex numbers, and a C of 8 bits, are not compared.
void check_product(Peer& peer, const Problem& problem);

}  // namespace clbake::tool
