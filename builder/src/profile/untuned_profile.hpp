// Which variant serves which problem where nothing was tuned: the default variants, by rules of size; and those that
// every bundle holds for the problems and devices that it was not baked for.
#pragma once

#include <clbake/builder/tuning.hpp>
#include <clbake/kernels/defaults.hpp>

#include <map>
#include <optional>
#include <vector>

namespace clbake::builder::profile {

// Rules for all problems of the kinds that the variants compute; variants by the index that a rule has for them. Small
// problems of GPUs go to the family direct, others to the family made for the device type, with small or large tiles; a
// family that is missing is replaced by the next best.
std::vector<cache::Rule> untuned_rules(const std::map<std::uint32_t, kernels::Params>& variants,
                                       kernels::DeviceType type);

// A profile of contents.targets[target] with nothing but such rules, for the default variants that have an entry there,
// or of a kind that has none of them for all that have one.
cache::Profile untuned_profile(const cache::Contents& contents, std::uint32_t target, kernels::DeviceType type);

// Adds, unless they are there, a profile for every CPU and one for every other device (cache::any_device), and the
// default variants that their rules name for every precision and pair of transposes. The variants have sources and no
// entries: the runtime compiles them when no other profile has a rule for a problem, or is about such a device. A
// variant of that name which is there already is used as it is. Contents with an application's own programs and nothing
// else stay as they are.
void add_default_targets(cache::Contents& contents);

bool is_default_target(const cache::Target& target);

// The default variants of the tuned device, among those that were timed: what a tuning has to beat. The device is one
// of the class of which most default variants were timed; a search may have timed some of another class.
class DefaultChoice {
 public:
  explicit DefaultChoice(const Tuning& tuning);

  // Indices into Tuning::variants.
  const std::vector<std::uint32_t>& variants() const { return variants_; }
  // The variant that an untuned bundle takes for the shape; nothing when it was not timed.
  std::optional<std::uint32_t> of(const Shape& shape) const;

 private:
  std::vector<std::uint32_t> variants_;
  std::vector<cache::Rule> rules_;
};

}  // namespace clbake::builder::profile
