// Which points of the space a search may try: a walk through all that a device admits, and the neighbours of a good
// one.
#pragma once

#include <clbake/kernels/constraints.hpp>
#include <clbake/kernels/space.hpp>

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace clbake::builder::tune {

// Goes through the points of a space (of one family) that a device admits, each once.
//
// Depth-first over the axes, the block sizes first. A prefix is left as soon as no point that begins with it is
// admitted, so dead ends are short. The values of each axis are taken in cyclic order from a random one on: the first
// point of a new walk is a random point, and one walk to its end is an exhaustive search. Points are not equally likely
// (one behind many inadmissible ones is drawn more often); nothing here needs that.
class PointWalk {
 public:
  // Takes its random numbers from `random` at once.
  PointWalk(const kernels::Space& space, const GemmKind& kind, const kernels::DeviceLimits& device,
            std::mt19937& random);

  // Nothing after the last point.
  std::optional<kernels::Params> next();

 private:
  bool advance();
  bool admits_prefix() const;

  std::vector<kernels::Axis> axes_;  // with rotated values
  std::size_t block_axes_ = 0;       // the first ones: vector_width, ns, nl, ms, ml
  kernels::DeviceLimits device_;
  kernels::Params params_;
  std::vector<std::size_t> prefix_;  // index of the value of each axis that has one
  bool descend_ = true;              // else: on to the next prefix of the same length or shorter
};

// A point that differs from `params` in one to three of its family's parameters, mostly by one value, and that the
// device admits; nothing when 300 tries found none. The transposes stay.
std::optional<kernels::Params> neighbour(const kernels::Params& params, const kernels::DeviceLimits& device,
                                         std::mt19937& random);

// A generator whose state depends on both numbers.
std::mt19937 generator(std::uint64_t seed, std::uint64_t number);

// The shard of `shards` that a variant belongs to, 1 to shards. Depends on nothing but the variant's name.
std::uint32_t shard_of(const kernels::Params& params, std::uint32_t shards);

}  // namespace clbake::builder::tune
