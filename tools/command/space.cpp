// `clbake space`: the families, their parameters, and how many points of the space a device can run.
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

Json count_json(kernels::Family family, Precision precision, const kernels::DeviceLimits& limits) {
  const kernels::Census census = kernels::count(family, precision, limits);
  Json fallen = Json::array();
  for (const auto& [constraint, points] : census.fallen) {
    fallen.push_back({{"constraint", constraint}, {"points", points}});
  }
  return {{"precision", clbake::name(precision)},
          {"points", census.points},
          {"admitted", census.admitted},
          {"fallen", fallen}};
}

Json family_json(kernels::Family family, const std::vector<Precision>& precisions,
                 const std::optional<builder::Device>& device) {
  Json parameters = Json::array();
  for (const kernels::Axis& axis : kernels::space(family).axes) parameters.push_back(axis_json(axis));
  Json counts = Json::array();
  for (const Precision precision : precisions) {
    if (device) counts.push_back(count_json(family, precision, device->limits));
  }
  return {{"family", kernels::name(family)}, {"parameters", parameters}, {"counts", counts}};
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

void print_counts(const Json& counts) {
  for (const Json& count : counts) {
    std::printf("  %-8s  %llu of %llu points can run\n", count["precision"].get<std::string>().c_str(),
                count["admitted"].get<unsigned long long>(), count["points"].get<unsigned long long>());
    for (const Json& fallen : count["fallen"]) {
      std::printf("            %15llu ruled out by %s\n", fallen["points"].get<unsigned long long>(),
                  fallen["constraint"].get<std::string>().c_str());
    }
  }
}

void print_family(kernels::Family family, const Json& json) {
  std::printf("\n%s\n", std::string(kernels::name(family)).c_str());
  for (const kernels::Axis& axis : kernels::space(family).axes) {
    std::printf("  %-12s  %-39s  %s\n", std::string(axis.parameter.name).c_str(),
                std::string(axis.parameter.meaning).c_str(), values_text(axis).c_str());
  }
  print_counts(json["counts"]);
}

// The device to count for; none, with the reason, on a machine without devices.
Result<std::optional<builder::Device>> counted_device(const std::string& spec, std::string& why_not) {
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
      "Lists the kernel families, their parameters with meaning and values, how many of all combinations the device\n"
      "can run, and how many each constraint rules out. Constraints are checked in order.");
  cli.add_device("; default: the first device");
  cli.add_precision("single");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::vector<Precision> precisions =
      cli.has("precision") ? cli.real_precisions("precision") : std::vector<Precision>{Precision::single_precision};
  std::string why_not;
  const Result<std::optional<builder::Device>> device = counted_device(cli.text("device"), why_not);
  if (!device) return fail("space", device.status());

  Json families = Json::array();
  for (const kernels::Family family : kernels::all_families) {
    families.push_back(family_json(family, precisions, *device));
  }
  if (cli.has("json")) {
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
    std::printf("no counts: %s\n", why_not.c_str());
  }
  for (std::size_t i = 0; i < families.size(); ++i) print_family(kernels::all_families[i], families[i]);
  return kSuccess;
}

}  // namespace clbake::tool
