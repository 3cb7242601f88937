// The result of `diff`, for people and for programs.
#pragma once

#include "cli/json.hpp"

#include <clbake/builder/release/check.hpp>
#include <clbake/builder/release/diff.hpp>

#include <string>
#include <vector>

namespace clbake::tool {

struct DiffOutcome {
  std::string files[2];  // before, after
  std::uint64_t bytes[2] = {0, 0};
  builder::release::BundleDiff diff;
  bool with_measured = true;  // differences in measured times alone count
  // With --shapes: what serves each problem on each device.
  std::vector<builder::Shape> shapes;
  std::vector<builder::release::CheckedDevice> before, after;  // of the same devices

  bool equal() const;
};

Json diff_json(const DiffOutcome& outcome);
void print_diff(const DiffOutcome& outcome);

}  // namespace clbake::tool
