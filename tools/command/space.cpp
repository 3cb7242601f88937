// `clbake space`: the families, their parameters and values, and the limits of a device.
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/kernels/space.hpp>

#include <cstdio>
#include <optional>

namespace clbake::tool {
namespace {

// "row,pad" or "1,2,4".
std::string values_text(const kernels::Axis& axis) {
  std::string text;
  for (const std::uint32_t value : axis.values) {
    const auto& words = axis.parameter.words;
    text += text.empty() ? "" : " ";
    text += value < words.size() ? std::string(words[value]) : std::to_string(value);
  }
  return text;
}

Json axis_json(const kernels::Axis& axis) {
  Json values = Json::array();
  for (const std::uint32_t value : axis.values) {
    if (value < axis.parameter.words.size()) {
      values.push_back(axis.parameter.words[value]);
    } else {
      values.push_back(value);
    }
  }
  return {{"name", axis.parameter.name}, {"meaning", axis.parameter.meaning}, {"values", values}};
}

Json family_json(kernels::Family family) {
  Json parameters = Json::array();
  for (const kernels::Axis& axis : kernels::space(family).axes) parameters.push_back(axis_json(axis));
  return {{"family", kernels::name(family)}, {"parameters", parameters}};
}

Json limits_json(const builder::Device& device) {
  const kernels::DeviceLimits& l = device.limits;
  return {{"device", device.target.device_name},
          {"fp64", l.fp64},
          {"max_work_group_size", l.max_work_group_size},
          {"max_work_item_sizes", {l.max_work_item_sizes[0], l.max_work_item_sizes[1], l.max_work_item_sizes[2]}},
          {"local_memory_bytes", l.local_memory_bytes},
          {"images", l.images},
          {"ptx", l.ptx},
          {"shuffle", l.shuffle},
          {"warpgroups", l.warpgroups},
          {"private_memory_bytes", l.private_memory_bytes}};
}

void print_family(kernels::Family family) {
  std::printf("\n%s\n", std::string(kernels::name(family)).c_str());
  for (const kernels::Axis& axis : kernels::space(family).axes) {
    std::printf("  %-12s  %-39s  %s\n", std::string(axis.parameter.name).c_str(),
                std::string(axis.parameter.meaning).c_str(), values_text(axis).c_str());
  }
}

// The device whose limits are shown; none, with the reason, on a machine without devices.
Result<std::optional<builder::Device>> shown_device(const std::string& spec, std::string& why_not) {
  Result<builder::Device> device = selected_device(spec);
  if (device) return std::optional<builder::Device>(std::move(*device));
  if (!spec.empty() || device.status().code() != Code::no_device) return device.status();
  why_not = device.status().message();
  return std::optional<builder::Device>();
}

}  // namespace

int space(const std::vector<std::string>& arguments) {
  Cli cli(
      "space [OPTIONS]",
      "Lists the kernel families, their parameters with meaning and values, and the limits of the device that decide\n"
      "which combinations it can run.");
  cli.add_device("; default: the first device");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  std::string why_not;
  const Result<std::optional<builder::Device>> device = shown_device(cli.text("device"), why_not);
  if (!device) return fail("space", device.status());

  if (cli.has("json")) {
    Json families = Json::array();
    for (const kernels::Family family : kernels::all_families) families.push_back(family_json(family));
    print({{"limits", *device ? limits_json(**device) : Json()}, {"families", families}});
    return kSuccess;
  }
  if (*device) {
    const kernels::DeviceLimits& l = (*device)->limits;
    std::printf("%s: work-groups of up to %llu work-items, %llu bytes of local memory, %s, %s\n",
                (*device)->target.device_name.c_str(), static_cast<unsigned long long>(l.max_work_group_size),
                static_cast<unsigned long long>(l.local_memory_bytes), l.images ? "images" : "no images",
                l.fp64 ? "double precision" : "no double precision");
  } else {
    std::printf("no limits: %s\n", why_not.c_str());
  }
  for (const kernels::Family family : kernels::all_families) print_family(family);
  return kSuccess;
}

}  // namespace clbake::tool
