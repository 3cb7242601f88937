// Other GEMM libraries to compare with, loaded when asked for: clbake never links them.
#pragma once

#include <clbake/builder/devices.hpp>

#include <functional>
#include <memory>
#include <string>

namespace clbake::tool {

// C = A * B in row-major order, tight leading dimensions, matrices of its own filled with random numbers.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual const char* name() const = 0;
  // Half is in none of the interfaces that are used here.
  virtual bool has(Precision precision) const { return precision != Precision::half_precision; }
  // Makes the matrices of a problem whose precision it has; the earlier ones are released.
  virtual Status set(const Problem& problem) = 0;
  // Runs the product once and waits for it.
  virtual Status run() = 0;
};

// "openblas" (cblas, as many threads as the device has compute units, its AVX-512 core where the CPU has that),
// "clblast" (on the device's queue), "cublas" (on CUDA's first device) or "launch" (an empty kernel on the device's
// queue, for comparison: its GFLOP/s mean nothing). Fails with invalid_argument for another name, not_found when the
// library is not installed.
Result<std::unique_ptr<Peer>> make_peer(const std::string& name, const builder::Device& device,
                                        const builder::Session& session);

Result<std::unique_ptr<Peer>> make_cublas();
Result<std::unique_ptr<Peer>> make_launch(const builder::Session& session);

}  // namespace clbake::tool
