// What a library with one bundle serves on a device that need not be here: nothing is loaded, no driver is asked. For
// clbake's own tools; not installed.
#pragma once

#include <clbake/clbake.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace clbake {

struct DeviceBundle;

// What decided that a variant serves a problem: FORMAT.md, "The cost model".
enum class ChosenBy {
  exception,     // a measurement on the profile's device
  model,         // the least expected time
  default_rule,  // a default of the profile
  device_type,   // the default for every device of the type: no profile says anything about the problem
};

struct Choice {
  std::uint32_t variant = 0;  // index into the bundle's variants
  ChosenBy by = ChosenBy::model;
  std::optional<double> expected_us;  // of a call; nothing without a cost model of the variant
};

// The program of a variant that a library loads.
struct BakedProgram {
  std::optional<cache::EntryInfo> entry;  // nothing: the variant is compiled from its source
  Status miss;  // why `entry` is no machine code made for this device and driver; ok when it is
};

// A bundle's answers for one device. Any thread. Copies share everything.
class DeviceLookup {
 public:
  // Finds the device's target and profile, as Library::create does. `units`: the device's compute units; 0: as many as
  // the profile's device has. Fails with out_of_memory only: a bundle that has nothing for the device, or is damaged,
  // shows in the answers.
  static Result<DeviceLookup> create(const Bundle& bundle, const Target& device, bool is_cpu, std::uint32_t units = 0);

  // The variant that Library::prepare would choose. Requires check(problem).ok(). Fails with the
  // code that `prepare` fails with where no variant computes the problem.
  Result<Choice> choose(const Problem& problem) const;

  // The target whose profile chooses: the device's own or the most similar one; nothing when no profile serves, so that
  // the default for devices of the type is chosen.
  std::optional<std::uint32_t> profile_target() const;

  // The program that Library::prepare would load for the variant, unless the driver refuses it: the first intact one
  // of those made for this device and driver (Explanation::miss), for an older driver (only when `newer_driver`, as
  // Options::newer_driver), and portable. Decompresses it, to see that it is intact. Fails with out_of_memory.
  Result<BakedProgram> program(std::uint32_t variant, bool newer_driver) const;

 private:
  DeviceLookup(std::shared_ptr<const DeviceBundle> bundle, Target device)
      : bundle_(std::move(bundle)), device_(std::move(device)) {}
  std::shared_ptr<const DeviceBundle> bundle_;
  Target device_;
};

}  // namespace clbake
