// A request for a program: a problem and, of each bundle, the variant that would serve it. Looks into bundles only;
// calls no driver.
#pragma once

#include "select/choose.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace clbake {

// A variant of one of the library's bundles.
struct Candidate {
  std::size_t bundle = 0;
  std::uint32_t variant = 0;
};
bool operator<(const Candidate& a, const Candidate& b);

struct Request {
  Problem problem;                    // row-major, what the variant computes; of no precision for a program
  std::optional<Problem> complex;     // row-major, of which the one above is the real_product
  Layout layout = Layout::row_major;  // the caller's
  std::vector<Candidate> candidates;  // in the order of the bundles; not empty
  bool named = false;                 // asked for by name: no other variant will do
  bool by_device_type = false;        // no profile says anything: defaults for all devices of the type
  Status refused;                     // of the first bundle that is not trusted; ok if all are
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

// Why the request's variant of this bundle was chosen, for a person.
std::string reason_for(const Request& request, const DeviceBundle& bundle);

}  // namespace clbake
