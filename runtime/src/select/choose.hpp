// Which variant of each bundle serves a problem, or a program's name. Looks into bundles only; calls no driver.
//
// A device without a profile of its own takes that of the most similar target: the same device, the same architecture,
// the same platform, any, in this order. FORMAT.md, "The cost model", says how a profile decides.
#pragma once

#include <clbake/choice.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clbake {

// A bundle and what it has for one device.
struct DeviceBundle {
  Bundle bundle;
  Result<std::uint32_t> target;  // the device's target in the bundle, or why there is none
  Result<Choices> choices;       // of the target's own profile or, without one, of the most similar target's
  std::string profile_of;        // the device of that target, and whether it is only similar, for a person
  Result<Choices> defaults;      // for every device of its type: used where `choices` has nothing
  Status refused;                // why Options::trust refuses the bundle, which holds nothing then; else ok
  bool is_given = false;         // no bundle of the library's: what the application gave for a program
  std::string assembler = {};    // assembler_features of platform.hpp
};

// Looks the device up in a bundle. `units`: its compute units; 0: as many as the profile's device has. A damaged record
// appears as a failed target, or failed choices or defaults.
DeviceBundle bundle_for(const Bundle& bundle, const Target& device, bool is_cpu, std::uint32_t units);

// A variant of one of the library's bundles.
struct Candidate {
  std::size_t bundle = 0;
  std::uint32_t variant = 0;
};
bool operator==(const Candidate& a, const Candidate& b);
bool operator<(const Candidate& a, const Candidate& b);

// A request for a program: the variants that would serve it, at most one of each bundle.
struct Request {
  Problem problem;                    // row-major, as the choice reads it; of no precision for a program
  std::optional<Problem> complex;     // row-major, of which the one above is the real_product
  Layout layout = Layout::row_major;  // the caller's
  std::vector<Candidate> candidates;  // in the order of the bundles; not empty
  bool named = false;                 // asked for by name: no other variant will do
  bool by_content = false;            // ... or by content: a name that the user did not choose
  bool by_device_type = false;        // no profile says anything: defaults for all devices of the type
  Status refused;                     // of the first bundle that is not trusted; ok if all are
  std::vector<Request> kernels;       // one, of a complex problem: for the kernels that it needs beside its variant
};

// The candidates for the caller's problem: the variants of that name or, when `name` is empty, the profiles' choices.
// Fails with invalid_argument (an impossible problem) or, when no bundle has a variant, with not_trusted if one is not
// trusted, else with the first bundle's reason.
Result<Request> make_request(const std::vector<DeviceBundle>& bundles, const Problem& problem, const std::string& name);

// The candidates for an application's own program: that of the first bundle with one of this name and, of the others,
// those of the same source and options. What an older source made is no candidate. Fails with no_program, or with what
// is wrong with a record that may be the program's.
Result<Request> program_request(const std::vector<DeviceBundle>& bundles, const std::string& name);

// The same for the kernels that a complex problem needs beside its variant. Fails with no_variant where no bundle has
// them.
Result<Request> complex_kernels_request(const std::vector<DeviceBundle>& bundles, Precision precision, bool is_cpu);

// The other variants of its candidates' bundles that compute the request's problem.
std::vector<Candidate> other_variants(const std::vector<DeviceBundle>& bundles, const Request& request);

// Why the request's variant of this bundle was chosen, for a person.
std::string reason_for(const Request& request, const DeviceBundle& bundle);

}  // namespace clbake
