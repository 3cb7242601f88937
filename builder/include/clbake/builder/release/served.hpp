// What serves a problem on a device, by a bundle's bytes alone: what `Library::explain` answers where the device is
// here. `check`, `diff`, `prune` and reports go by it.
#pragma once

#include <clbake/builder/tuning.hpp>
#include <clbake/device_lookup.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace clbake::builder {

// A device to serve, of this machine or of a bundle's target.
struct ServedDevice {
  std::string name;  // for messages
  Target target;
  bool is_cpu = false;
  std::uint32_t units = 0;  // compute units; 0: as many as the device of the bundle's profile has
};

// Whether programs for this target serve no device until `clbake prove` has made entries for one of them: those of an
// offline compiler of Intel's, for what Intel's driver reports of a device is known only on the device.
bool awaits_proof(const Target& target);

// A device of this machine, as it identifies itself.
ServedDevice served_device(const Device& device);

// The device that a target of a bundle stands for. A target of an offline compiler, which names no device, stands for
// any device of its architecture with its driver: only what other devices may load serves that one.
ServedDevice served_device(const Target& target);

// "NVIDIA H200, driver 580.159.04"; "nvidia:sm_90" for a target of an offline compiler; "any CPU".
std::string target_name(const Target& target);

// "exception", "model", "default", "device type".
const char* name(ChosenBy by);

// A variant on one device.
struct ServedProgram {
  std::uint32_t variant = 0;       // index into the bundle's variants
  std::string name;                // of the variant
  Origin origin = Origin::source;  // native, portable or source
  Status miss;                     // why it is no machine code made for this device and driver; ok when it is
  bool proven = false;
  bool jit_free = false;
  std::optional<cache::EntryInfo> entry;  // nothing for Origin::source
  // What the machine code was made for that serves only with Options::newer_driver; nothing when there is none such.
  std::optional<Target> newer_driver_serves;
};

struct Served {
  Status failure;                          // why nothing serves, no_variant as a rule; ok when something does
  const ServedProgram* program = nullptr;  // of the Serving; null when nothing serves
  ChosenBy by = ChosenBy::model;
  std::optional<double> expected_us;  // of a call; nothing without a cost model of the variant
};

// A bundle's answers for one device. It remembers each program that it looked up, which it also verified: a damaged
// program serves nothing. One thread at a time. What it returns is valid as long as it is.
class Serving {
 public:
  // `newer_driver`: as Options::newer_driver. Fails with out_of_memory.
  static Result<Serving> create(const Bundle& bundle, const ServedDevice& device, bool newer_driver = false);

  // Fails with out_of_memory; that nothing serves is no failure.
  Result<Served> find(const Problem& problem);
  Result<Served> find(const Shape& shape) { return find(problem_of(shape)); }

  // The program of a variant, whatever chooses it. Fails with what is wrong with the variant's record.
  Result<const ServedProgram*> program(std::uint32_t variant);

  const DeviceLookup& lookup() const { return lookup_; }

 private:
  Serving(Bundle bundle, DeviceLookup lookup, bool newer_driver)
      : bundle_(std::move(bundle)), lookup_(std::move(lookup)), newer_driver_(newer_driver) {}

  Bundle bundle_;
  DeviceLookup lookup_;
  bool newer_driver_;
  std::map<std::uint32_t, ServedProgram> programs_;               // by variant
  std::array<bool, kKinds> has_variant_of_kind_{};                // as far as it was asked for
  std::array<std::optional<Status>, kKinds> no_variant_of_kind_;  // the same for all problems of the kind
};

}  // namespace clbake::builder
