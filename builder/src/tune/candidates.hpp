// Which points of the space a search tries: every one once, in an order that a seed decides, or near a good one.
#pragma once

#include <clbake/kernels/space.hpp>

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace clbake::builder {

// The values of vector_width, ns, nl, ms and ml with which a device admits a point at all, whatever the other axes are:
// a small part, as one divides another. Found with the other axes at the values that ask least of a device.
class Blockings {
 public:
  Blockings(const kernels::Space& space, Precision precision, const kernels::DeviceLimits& device);

  static bool shapes_blocks(const kernels::Axis& axis);
  std::size_t size() const { return places_.size(); }
  void set(std::size_t blocking, kernels::Params& params) const { set_place(places_[blocking], params); }

 private:
  void set_place(std::uint32_t place, kernels::Params& params) const;

  std::vector<kernels::Axis> axes_;
  std::vector<std::uint32_t> places_;  // in the product of the axes' values
};

// Every point of one family that a device admits, each once. Pure: equal arguments give equal streams.
class CandidateStream {
 public:
  CandidateStream(kernels::Family family, Precision precision, bool trans_a, bool trans_b,
                  const kernels::DeviceLimits& device, std::uint64_t seed);

  // Nothing after the last one, or when ten million points in turn were not admitted.
  std::optional<kernels::Params> next();

 private:
  std::uint64_t place(std::uint64_t index) const;
  kernels::Params point(std::uint64_t place) const;

  kernels::Space space_;  // the axes that shape no blocks
  Precision precision_;
  kernels::DeviceLimits device_;
  Blockings blockings_;
  std::uint64_t points_;
  // place() permutes the numbers of so many bits together.
  unsigned left_bits_ = 0;
  unsigned right_bits_ = 0;
  static constexpr std::size_t kRounds = 4;  // even: so both halves end where they began
  std::uint64_t keys_[kRounds] = {};
  std::uint64_t at_ = 0;
};

// A point that differs from `params` in a few of its family's parameters, mostly by one value, and that the device
// admits; nothing when none was found in 300 tries. Transposes stay.
std::optional<kernels::Params> neighbour(const kernels::Params& params, const kernels::DeviceLimits& device,
                                         std::mt19937& random);

// A generator whose state depends on both numbers.
std::mt19937 generator(std::uint64_t seed, std::uint64_t number);

// Which of `shards` parts of the space a variant belongs to: 1 to shards.
std::uint32_t shard_of(const kernels::Params& params, std::uint32_t shards);

}  // namespace clbake::builder
