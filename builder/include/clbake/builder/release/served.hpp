// The program that serves a problem on a device, by the bytes of bundles alone: the answer of `Library::explain` where
// the device is here. `check`, `diff`, `prune` and reports go by it.
#pragma once

#include <clbake/builder/devices.hpp>
#include <clbake/builder/shape/shape.hpp>
#include <clbake/device_lookup.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clbake::builder::release {

// A device to serve, of this machine or of a bundle's target.
struct ServedDevice {
  std::string name;  // for messages
  Target target;
  bool is_cpu = false;
  std::uint32_t units = 0;  // compute units; 0: as many as the device of the bundle's profile has
};

// True where programs for this target serve no device until `clbake prove` has made entries for one of them: those of
// an offline compiler of Intel's, for what Intel's driver reports of a device is known only on the device.
bool awaits_proof(const Target& target);

// A device of this machine, as it identifies itself.
ServedDevice served_device(const Device& device);

// The device that a target of a bundle stands for. A target of an offline compiler, which names no device, stands for
// any device of its architecture with its driver: only what other devices may load serves that one.
ServedDevice served_device(const Target& target);

// "NVIDIA H200, driver 580.159.04"; "nvidia:sm_90" for a target of an offline compiler; "any CPU".
std::string target_name(const Target& target);

// The indices of a bundle's targets that SPEC names, as users do, ascending: an index; else those with a field, or a
// target_name(), that equals SPEC; else those with one that contains it. Case is ignored. The targets for every device
// of a type go by their whole names only. Empty when the bundle has none. Fails with what is wrong with a record.
Result<std::vector<std::uint32_t>> targets_named(const Bundle& bundle, const std::string& spec);

// Those that have at least one entry, ascending. Fails with what is wrong with a record.
Result<std::vector<std::uint32_t>> targets_with_entries(const Bundle& bundle);

// The kernels of a program that no trial launches; none of a variant of GEMM. Fails with what is wrong with a record.
Result<std::vector<std::string>> untried_kernels(const Bundle& bundle, const cache::Variant& variant);

// "exception", "model", "default", "device type".
const char* name(ChosenBy by);

// A variant on one device; of a complex problem with the kernels that it needs beside the variant: the worse origin,
// the first miss, and proven or JIT-free only where both are.
struct ServedProgram {
  std::size_t bundle = 0;          // index into the bundles
  std::uint32_t variant = 0;       // index into the bundle's variants
  std::string name;                // of the variant
  Origin origin = Origin::source;  // native, portable or source
  Status miss;                     // why it is no machine code made for this device and driver; ok when it is
  bool proven = false;
  bool jit_free = false;
  std::vector<std::string> untried;       // of an application's program: kernels that no trial launches
  std::optional<cache::EntryInfo> entry;  // the variant's; nothing where it is compiled
  // The target of machine code that serves only with Options::newer_driver; nothing when there is none.
  std::optional<Target> newer_driver_serves;
};

struct Served {
  Status failure;                          // why nothing serves, no_variant as a rule; ok when something does
  const ServedProgram* program = nullptr;  // of the Serving; null when nothing serves
  ChosenBy by = ChosenBy::model;
  std::optional<double> expected_us;  // of a call; nothing without a cost model of the variant
};

// The answers of a library with some bundles for one device. It remembers each program that it looked up, which it also
// verified: a damaged program serves nothing. One thread at a time. What it returns is valid as long as it is.
class Serving {
 public:
  // `newer_driver`: as Options::newer_driver. Fails with out_of_memory.
  static Result<Serving> create(const std::vector<Bundle>& bundles, const ServedDevice& device,
                                bool newer_driver = false);

  // The answers of `prepare` to a problem and of `Library::program` to a program's name. Fail with out_of_memory;
  // that nothing serves is no failure.
  Result<Served> find(const Problem& problem);
  Result<Served> find(const Shape& shape) { return find(problem_of(shape)); }
  Result<Served> find_program(const std::string& name);

  // The program of a variant of the first bundle, whatever chooses it. Fails with what is wrong with the variant's
  // record.
  Result<const ServedProgram*> program(std::uint32_t variant);

  const DeviceLookup& lookup() const { return lookup_; }

 private:
  // The candidates, as (bundle, variant), and the precision of a complex problem, else no_precision.
  using Key = std::pair<std::vector<std::pair<std::size_t, std::uint32_t>>, Precision>;

  Serving(std::vector<Bundle> bundles, DeviceLookup lookup, bool newer_driver)
      : bundles_(std::move(bundles)), lookup_(std::move(lookup)), newer_driver_(newer_driver) {}

  Result<ServedProgram> load(const std::vector<Choice>& choices) const;
  Result<ServedProgram> load_complex(const std::vector<Choice>& choices, Precision precision) const;
  Result<const ServedProgram*> program(const std::vector<Choice>& choices, Precision complex = no_precision);
  Result<Served> served(const Result<std::vector<Choice>>& choices, Precision complex);

  std::vector<Bundle> bundles_;
  DeviceLookup lookup_;
  bool newer_driver_;
  std::map<Key, Result<ServedProgram>> programs_;
};

}  // namespace clbake::builder::release
