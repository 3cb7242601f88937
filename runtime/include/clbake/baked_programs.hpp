// Machine code of programs, found by their content in bundles and an overlay, without any object of OpenCL: for the
// layer, whose program must not see that anything is looked for. `Library::program` is the way for applications. Calls
// no OpenCL. Not installed.
//
//   auto baked = BakedPrograms::open(bundles, overlay);
//   auto digest = content_digest(text);                 // of what the application gives
//   auto binary = baked->find(*identify(device), *digest);
//   clCreateProgramWithBinary(... binary->program ...)  // refused: baked->reject(target, *digest, *binary)
#pragma once

#include <clbake/clbake.hpp>
#include <clbake/program_text.hpp>

#include <memory>
#include <vector>

namespace clbake {

// A program for clCreateProgramWithBinary. Nobody has shown it to a driver yet.
struct BakedBinary {
  cache::Bytes program;    // verified
  cache::Variant variant;  // its launches: the kernels, and the local sizes for which machine code was made
  cache::Proof proof;      // with `log`, the build log of the source
  cache::Form form = cache::Form::native;  // portable: the driver compiles it when it is built
  bool from_overlay = false;
  std::size_t bundle = 0;      // index of the bundle that has it, unless it is from the overlay
  std::uint64_t checksum = 0;  // of the program
};

// Any number of threads at once, but for moving.
class BakedPrograms {
 public:
  // Serves from these bundles as they are, whoever made them, and from the overlay, unless its mode is off. Fails with
  // out_of_memory, or as opening the overlay does.
  static Result<BakedPrograms> open(const std::vector<Bundle>& bundles, const OverlayOptions& overlay);
  BakedPrograms(BakedPrograms&&) noexcept;
  BakedPrograms& operator=(BakedPrograms&&) noexcept;
  ~BakedPrograms();

  // The best intact program that was not rejected: made for this device and driver; NVIDIA: by this driver for the
  // architecture; from the overlay; last, a portable one. Reads the file system if there is an overlay. Fails with the
  // reason of the miss.
  Result<BakedBinary> find(const Target& device, const ContentDigest& content) const;

  // True when a linked program that a bundle or the overlay has is made of this one, among others: compiling it can
  // wait until it is linked. The first call looks at every variant of the bundles.
  bool is_part(const Target& device, const ContentDigest& content) const;

  // Remembers that the driver refused the program, in the overlay for later processes, too: `find` passes it over.
  // Best effort; ok when there is no overlay that can be written. Fails as writing files does.
  Status reject(const Target& device, const ContentDigest& content, const BakedBinary& binary) const;

 private:
  struct State;
  explicit BakedPrograms(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace clbake
