#include "command/release/check_output.hpp"

#include "cli/cli.hpp"
#include "cli/printable.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

namespace clbake::tool {
namespace {

constexpr std::size_t kMostDevices = 16;
constexpr std::size_t kMostNamed = 3;  // examples of a group

using builder::CheckedDevice;
using builder::Lack;
using builder::Served;

std::size_t missing_of(const CheckedDevice& device, const builder::Requirements& requirements) {
  const auto lacks = [&](const Served& served) { return lack_of(served, requirements) != Lack::none; };
  return static_cast<std::size_t>(std::count_if(device.served.begin(), device.served.end(), lacks) +
                                  std::count_if(device.own.begin(), device.own.end(), lacks));
}

std::size_t count_of(const CheckedDevice& device) { return device.served.size() + device.own.size(); }

// Visits the application's own programs on each device.
template <typename Visit>
void for_each_program(const CheckOutcome& outcome, const Visit& visit) {
  for (const CheckedDevice& device : outcome.devices) {
    for (const Served& served : device.own) visit(device.device.name, served, lack_of(served, outcome.requirements));
  }
}

Json program_json(const std::string& device, const Served& served, Lack lack) {
  const builder::ServedProgram& program = *served.program;
  return {{"target", device},
          {"program", program.name},
          {"missing", lack == Lack::none ? Json() : Json(builder::name(lack))},
          {"code", clbake::name(code_of(served))},
          {"why", lack == Lack::none ? Json() : Json(why(served, lack))},
          {"origin", clbake::name(program.origin)},
          {"proven", program.proven},
          {"jit_free", program.jit_free}};
}

Json json_of(const std::string& device, const builder::Shape& shape, const Served& served, Lack lack) {
  const builder::ServedProgram* program = served.program;
  const auto of_program = [&](auto value) { return program ? Json(value(*program)) : Json(); };
  return {{"target", device},
          {"problem", name(shape)},
          {"weight", shape.weight},
          {"missing", lack == Lack::none ? Json() : Json(builder::name(lack))},
          {"code", clbake::name(code_of(served))},
          {"why", lack == Lack::none ? Json() : Json(why(served, lack))},
          {"variant", of_program([](const auto& p) { return p.name; })},
          {"origin", of_program([](const auto& p) { return clbake::name(p.origin); })},
          {"chosen_by", program ? Json(builder::name(served.by)) : Json()},
          {"expected_us", served.expected_us ? Json(*served.expected_us) : Json()},
          {"proven", of_program([](const auto& p) { return p.proven; })},
          {"jit_free", of_program([](const auto& p) { return p.jit_free; })}};
}

template <typename Visit>
void for_each_pair(const CheckOutcome& outcome, const Visit& visit) {
  for (const CheckedDevice& device : outcome.devices) {
    for (std::size_t s = 0; s < outcome.shapes.size(); ++s) {
      visit(device.device.name, outcome.shapes[s], device.served[s], lack_of(device.served[s], outcome.requirements));
    }
  }
}

// "A; B; C and 97 more"
template <typename Name>
std::string examples(const std::vector<std::size_t>& indices, const Name& name_of) {
  std::string text;
  const std::size_t shown = std::min(indices.size(), kMostNamed);
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? "; " : "") + name_of(indices[i]);
  return indices.size() > shown ? text + " and " + std::to_string(indices.size() - shown) + " more" : text;
}

void print_devices(const CheckOutcome& outcome) {
  if (outcome.devices.size() < 2) return;
  std::vector<std::pair<std::size_t, const CheckedDevice*>> rows;
  for (const CheckedDevice& device : outcome.devices) {
    rows.emplace_back(missing_of(device, outcome.requirements), &device);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::printf("\n%8s %8s  target\n", "served", "missing");
  for (std::size_t i = 0; i < std::min(rows.size(), kMostDevices); ++i) {
    const auto& [missing, device] = rows[i];
    std::printf("%8zu %8zu  %s\n", count_of(*device) - missing, missing, printable(device->device.name).c_str());
  }
  if (rows.size() > kMostDevices) {
    std::printf("%17s  and %s with at most as many missing\n", "",
                counted(rows.size() - kMostDevices, "other target").c_str());
  }
}

// "half nn nt, single nn"
std::string kinds_text(const std::set<GemmKind>& kinds) {
  std::string text, precision;
  for (const GemmKind& kind : kinds) {
    const bool is_new = precision != clbake::name(kind.precision);
    if (is_new) text += (text.empty() ? "" : ", ") + (precision = clbake::name(kind.precision));
    text += std::string(" ") + (kind.trans_a ? "t" : "n") + (kind.trans_b ? "t" : "n");
  }
  return text;
}

void print_group(const CheckOutcome& outcome, const builder::MissingGroup& group) {
  const std::string code = group.code == Code::ok ? "" : " (" + std::string(clbake::name(group.code)) + ")";
  std::printf("\n%zu missing: %s%s\n", group.count, builder::name(group.lack), code.c_str());
  const auto device_name = [&](std::size_t d) { return printable(outcome.devices[d].device.name); };
  const auto shape_name = [&](std::size_t s) { return name(outcome.shapes[s]); };
  std::printf("  targets   %s\n", examples(group.devices, device_name).c_str());
  std::printf("  kinds     %s\n", kinds_text(group.kinds).c_str());
  std::printf("  problems  %s\n", examples(group.shapes, shape_name).c_str());
  std::printf("  example   %s\n", printable(group.why).c_str());
}

void print_groups(const CheckOutcome& outcome) {
  bool other_drivers = false;
  for (const builder::MissingGroup& group : group_missing(outcome.devices, outcome.shapes, outcome.requirements)) {
    print_group(outcome, group);
    other_drivers = other_drivers || group.code == Code::no_target || group.code == Code::other_driver;
  }
  if (!other_drivers || outcome.requirements.newer_driver) return;
  std::printf("\nApplications that set Options::newer_driver may find more: see --newer-driver.\n");
}

void print_pair(const std::string& device, const builder::Shape& shape, const Served& served, Lack lack) {
  char us[32] = "-";
  if (served.expected_us) std::snprintf(us, sizeof us, "%.4g us", *served.expected_us);
  std::printf("%s: %s: %s\n", printable(device).c_str(), name(shape).c_str(),
              served.program
                  ? (printable(served.program->name) + ", " + clbake::name(served.program->origin) + ", " +
                     builder::name(served.by) + ", " + us + (lack == Lack::none ? "" : ", ") + builder::name(lack))
                        .c_str()
                  : builder::name(lack));
}

// "TARGET: program softmax: native", or what it lacks and why.
void print_program(const std::string& device, const Served& served, Lack lack) {
  const std::string found = clbake::name(served.program->origin);
  const std::string lacking = std::string(builder::name(lack)) + ": " + why(served, lack);
  std::printf("%s: program %s: %s\n", printable(device).c_str(), printable(served.program->name).c_str(),
              printable(lack == Lack::none ? found : lacking).c_str());
}

// "3 problems and 1 program"
std::string subjects_of(const CheckOutcome& outcome) {
  const std::string programs = counted(outcome.programs(), "program");
  if (outcome.shapes.empty() && outcome.programs() > 0) return programs;
  return counted(outcome.shapes.size(), "problem") + (outcome.programs() > 0 ? " and " + programs : "");
}

std::string suite_of(const CheckOutcome& outcome, const CheckedDevice& device) {
  const std::string suite = escaped(device.device.name);
  std::string text = "  <testsuite name=\"" + suite + "\" tests=\"" + std::to_string(count_of(device)) +
                     "\" failures=\"" + std::to_string(missing_of(device, outcome.requirements)) + "\" errors=\"0\">\n";
  const auto add = [&](const std::string& what, const Served& served) {
    text += "    <testcase classname=\"" + suite + "\" name=\"" + escaped(what) + "\"";
    const Lack lack = lack_of(served, outcome.requirements);
    if (lack == Lack::none) {
      text += "/>\n";
      return;
    }
    const std::string reason = escaped(why(served, lack));
    text += "><failure type=\"" + std::string(builder::name(lack)) + "\" message=\"" + reason + "\"/></testcase>\n";
  };
  for (std::size_t s = 0; s < outcome.shapes.size(); ++s) add(name(outcome.shapes[s]), device.served[s]);
  for (const Served& served : device.own) add("program " + served.program->name, served);
  return text + "  </testsuite>\n";
}

std::string unknown_suite(const std::string& spec) {
  const std::string suite = escaped(spec);
  return "  <testsuite name=\"" + suite + "\" tests=\"1\" failures=\"1\" errors=\"0\">\n    <testcase classname=\"" +
         suite + "\" name=\"target\"><failure type=\"no target\" message=\"the bundle has no such target\"/>" +
         "</testcase>\n  </testsuite>\n";
}

// Lines that stand for what the bundle has do not ask for what it has lost.
void print_filled_in(const CheckOutcome& outcome) {
  const auto& [precision, transposes] = outcome.filled_in;
  if (!precision && !transposes) return;
  std::string missing = precision ? "precision" : "transposes", options = precision ? "--precision" : "--trans";
  if (precision && transposes) missing += " or transposes", options += " and --trans";
  std::set<GemmKind> kinds;
  for (const builder::Shape& shape : outcome.shapes) kinds.insert(shape.kind());
  std::printf("note: lines without %s stand for what this bundle has (asked for: %s); give %s to ask for more\n",
              missing.c_str(), kinds_text(kinds).c_str(), options.c_str());
}

}  // namespace

std::size_t CheckOutcome::missing() const {
  std::size_t sum = 0;
  for (const CheckedDevice& device : devices) sum += missing_of(device, requirements);
  return sum;
}

Json check_json(const CheckOutcome& outcome, bool all) {
  Json devices = Json::array(), missing = Json::array(), served = Json::array(), filled_in = Json::array();
  Json own = Json::array();
  for_each_program(outcome, [&](const auto& device, const Served& what, Lack lack) {
    if (lack != Lack::none || all) own.push_back(program_json(device, what, lack));
  });
  if (outcome.filled_in.precision) filled_in.push_back("precision");
  if (outcome.filled_in.transposes) filled_in.push_back("transposes");
  for (const CheckedDevice& device : outcome.devices) {
    const std::size_t count = missing_of(device, outcome.requirements);
    devices.push_back({{"name", device.device.name},
                       {"served", count_of(device) - count},
                       {"missing", count},
                       {"target", to_json(device.device.target)}});
  }
  for_each_pair(outcome, [&](const auto& device, const auto& shape, const Served& what, Lack lack) {
    if (lack != Lack::none) missing.push_back(json_of(device, shape, what, lack));
    if (lack == Lack::none && all) served.push_back(json_of(device, shape, what, lack));
  });
  Json json = {{"file", outcome.file},
               {"problems", outcome.shapes.size()},
               {"programs", outcome.programs()},
               {"served", outcome.pairs() - outcome.missing()},
               {"missing", outcome.missing()},
               {"unknown_targets", outcome.unknown},
               {"left_out_targets", outcome.left_out},
               {"targets", devices},
               {"filled_in", filled_in},
               {"missing_problems", missing}};
  if (outcome.programs() > 0) json["own_programs"] = own;
  if (all) json["served_problems"] = served;
  return json;
}

void print_check(const CheckOutcome& outcome, bool all) {
  if (all) for_each_pair(outcome, print_pair);
  if (all) for_each_program(outcome, print_program);
  std::printf("%s: %s on %s: %zu of %zu are served\n", printable(outcome.file).c_str(), subjects_of(outcome).c_str(),
              counted(outcome.devices.size(), "target").c_str(), outcome.pairs() - outcome.missing(), outcome.pairs());
  print_filled_in(outcome);
  print_devices(outcome);
  print_groups(outcome);
  if (all) return;
  for_each_program(outcome, [](const std::string& device, const Served& served, Lack lack) {
    if (lack != Lack::none) print_program(device, served, lack);
  });
}

std::string check_junit(const CheckOutcome& outcome) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"clbake check " +
                     escaped(outcome.file) + "\" tests=\"" + std::to_string(outcome.pairs() + outcome.unknown.size()) +
                     "\" failures=\"" + std::to_string(outcome.missing() + outcome.unknown.size()) + "\">\n";
  for (const CheckedDevice& device : outcome.devices) text += suite_of(outcome, device);
  for (const std::string& spec : outcome.unknown) text += unknown_suite(spec);
  return text + "</testsuites>\n";
}

}  // namespace clbake::tool
