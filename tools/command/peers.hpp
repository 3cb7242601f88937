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
  // Makes the matrices of a problem; the earlier ones are released.
  virtual Status set(const Problem& problem) = 0;
  // Runs the product once and waits for it.
  virtual Status run() = 0;
};

// "openblas" (cblas, as many threads as the device has compute units, its AVX-512 core where the CPU has that) or
// "clblast" (on the device's queue). Fails with invalid_argument for another name, not_found when the library is not
// installed.
Result<std::unique_ptr<Peer>> make_peer(const std::string& name, const builder::Device& device,
                                        const builder::Session& session);

}  // namespace clbake::tool
