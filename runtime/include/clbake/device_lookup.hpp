// Programs that a library would serve on a device that need not be here: nothing is loaded, no driver is asked. For
// clbake's own tools; not installed.
#pragma once

#include <clbake/choice.hpp>
#include <clbake/clbake.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clbake {

struct DeviceBundle;

// A variant that may serve a problem, of one of the bundles.
struct Choice {
  std::size_t bundle = 0;     // index
  std::uint32_t variant = 0;  // index into the bundle's variants
  ChosenBy by = ChosenBy::model;
  std::optional<double> expected_us;  // of a call; nothing without a cost model of the variant
};

// The program that a library loads.
struct BakedProgram {
  std::size_t choice = 0;                 // the one that it is of: an index into the choices
  std::optional<cache::EntryInfo> entry;  // nothing: the variant is compiled from its source
  Status miss;  // why `entry` is no machine code made for this device and driver; ok when it is
};

// The answers of some bundles for one device. Any thread. Copies share everything.
class DeviceLookup {
 public:
  // Finds the device's target and profile in each bundle, as Library::create does. `units`: the device's compute units;
  // 0: as many as the profile's device has. Fails with out_of_memory only: a bundle that has nothing for the device, or
  // is damaged, shows in the answers.
  static Result<DeviceLookup> create(const std::vector<Bundle>& bundles, const Target& device, bool is_cpu,
                                     std::uint32_t units = 0);

  // The variants among which Library::prepare looks for the best program, in the order of the bundles; at least one. Of
  // a complex problem: those of its real product. Fails with the code that `prepare` fails with where no variant
  // computes the problem, or with invalid_argument (an impossible problem).
  Result<std::vector<Choice>> choose(const Problem& problem) const;

  // The same for Library::program, and for the kernels that a complex problem needs beside its variant.
  Result<std::vector<Choice>> choose_program(const std::string& name) const;
  Result<std::vector<Choice>> choose_complex_kernels(Precision precision) const;

  // The target whose profile chooses in the first bundle: the device's own or the most similar one; nothing when no
  // profile serves, so that the default for devices of the type is chosen.
  std::optional<std::uint32_t> profile_target() const;

  // The program that Library::prepare would load with Options::newer_driver, without overlay, unless the driver refuses
  // it: the first intact one in the order of the tiers. Decompresses it, to see that it is intact. Fails with
  // out_of_memory.
  Result<BakedProgram> program(const std::vector<Choice>& choices, bool newer_driver) const;

 private:
  DeviceLookup(std::shared_ptr<const std::vector<DeviceBundle>> bundles, Target device, bool is_cpu)
      : bundles_(std::move(bundles)), device_(std::move(device)), is_cpu_(is_cpu) {}
  std::shared_ptr<const std::vector<DeviceBundle>> bundles_;
  Target device_;
  bool is_cpu_;
};

}  // namespace clbake
