// What a tuning has to beat: the variants that every device gets without one, among those that were timed.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <optional>
#include <vector>

namespace clbake::builder {

class DefaultChoice {
 public:
  explicit DefaultChoice(const Tuning& tuning);

  // Indices into Tuning::variants.
  const std::vector<std::uint32_t>& variants() const { return variants_; }
  // The one that an untuned bundle takes for the shape; nothing when it was not timed.
  std::optional<std::uint32_t> of(const Shape& shape) const;

 private:
  std::vector<std::uint32_t> variants_;
  std::vector<cache::Rule> rules_;
};

}  // namespace clbake::builder
