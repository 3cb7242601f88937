// The result of `check`: for people, for programs, and for CI systems.
#pragma once

#include "cli/json.hpp"

#include <clbake/builder/release/check.hpp>
#include <clbake/builder/shape/shapes_file.hpp>

#include <string>
#include <vector>

namespace clbake::tool {

struct CheckOutcome {
  std::string file;
  std::vector<builder::Shape> shapes;
  std::vector<builder::release::CheckedDevice> devices;
  std::vector<std::string> unknown;   // of --target: what names no target of the bundle
  std::vector<std::string> left_out;  // targets that were not named, and that nothing serves before they are proven
  builder::Unnamed filled_in;         // what lines took from the bundle under test
  builder::release::Requirements requirements;

  std::size_t programs() const { return devices.empty() ? 0 : devices[0].own.size(); }  // the application's own
  // Pairs of a problem or a program, and a device.
  std::size_t pairs() const { return (shapes.size() + programs()) * devices.size(); }
  std::size_t missing() const;
  bool good() const { return unknown.empty() && !devices.empty() && missing() == 0; }
};

// With `all` also what serves each problem on each device.
Json check_json(const CheckOutcome& outcome, bool all);
void print_check(const CheckOutcome& outcome, bool all);

// A suite for each device, with a case for each problem; what is missing is a failure.
std::string check_junit(const CheckOutcome& outcome);

}  // namespace clbake::tool
