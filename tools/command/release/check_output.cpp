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

using builder::release::CheckedDevice;
using builder::release::Lack;
using builder::release::Served;

// A problem, or a program of the application's own, on a device.
struct Pair {
  const std::string& device;
  const builder::Shape* shape;  // null for a program
  const Served& served;
  Lack lack;

  bool is_missing() const { return lack != Lack::none; }
  std::string subject() const { return shape ? name(*shape) : "program " + served.program->name; }
};

template <typename Visit>
void for_each_pair(const CheckOutcome& outcome, const CheckedDevice& device, const Visit& visit) {
  const auto add = [&](const builder::Shape* shape, const Served& served) {
    visit(Pair{device.device.name, shape, served, lack_of(served, outcome.requirements)});
  };
  for (std::size_t s = 0; s < outcome.shapes.size(); ++s) add(&outcome.shapes[s], device.served[s]);
  for (const Served& served : device.own) add(nullptr, served);
}

template <typename Visit>
void for_each_pair(const CheckOutcome& outcome, const Visit& visit) {
  for (const CheckedDevice& device : outcome.devices) for_each_pair(outcome, device, visit);
}

std::size_t count_of(const CheckedDevice& device) { return device.served.size() + device.own.size(); }

std::size_t missing_of(const CheckOutcome& outcome, const CheckedDevice& device) {
  std::size_t missing = 0;
  for_each_pair(outcome, device, [&](const Pair& pair) { missing += pair.is_missing() ? 1 : 0; });
  return missing;
}

Json json_of(const Pair& pair) {
  const Served& served = pair.served;
  const builder::release::ServedProgram* program = served.program;
  Json json{{"target", pair.device}};
  if (pair.shape) {
    json.update({{"problem", name(*pair.shape)}, {"weight", pair.shape->weight}});
  } else {
    json["program"] = program->name;
  }
  json.update({{"missing", pair.is_missing() ? Json(builder::release::name(pair.lack)) : Json()},
               {"code", clbake::name(code_of(served))},
               {"why", pair.is_missing() ? Json(why(served, pair.lack)) : Json()},
               {"variant", program ? Json(program->name) : Json()},
               {"origin", program ? Json(clbake::name(program->origin)) : Json()},
               {"chosen_by", program && pair.shape ? Json(builder::release::name(served.by)) : Json()},
               {"expected_us", served.expected_us ? Json(*served.expected_us) : Json()},
               {"proven", program ? Json(program->proven) : Json()},
               {"jit_free", program ? Json(program->jit_free) : Json()}});
  return json;
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
    rows.emplace_back(missing_of(outcome, device), &device);
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

void print_group(const CheckOutcome& outcome, const builder::release::MissingGroup& group) {
  const std::string code = group.code == Code::ok ? "" : " (" + std::string(clbake::name(group.code)) + ")";
  std::printf("\n%zu missing: %s%s\n", group.count, builder::release::name(group.lack), code.c_str());
  const auto device_name = [&](std::size_t d) { return printable(outcome.devices[d].device.name); };
  const auto shape_name = [&](std::size_t s) { return name(outcome.shapes[s]); };
  std::printf("  targets   %s\n", examples(group.devices, device_name).c_str());
  std::printf("  kinds     %s\n", kinds_text(group.kinds).c_str());
  std::printf("  problems  %s\n", examples(group.shapes, shape_name).c_str());
  std::printf("  example   %s\n", printable(group.why).c_str());
}

void print_groups(const CheckOutcome& outcome) {
  bool other_drivers = false;
  for (const builder::release::MissingGroup& group :
       group_missing(outcome.devices, outcome.shapes, outcome.requirements)) {
    print_group(outcome, group);
    other_drivers = other_drivers || group.code == Code::no_target || group.code == Code::other_driver;
  }
  if (!other_drivers || outcome.requirements.newer_driver) return;
  std::printf("\nApplications that set Options::newer_driver may find more: see --newer-driver.\n");
}

void print_pair(const Pair& pair) {
  const Served& served = pair.served;
  std::string found = builder::release::name(pair.lack);
  if (!pair.shape) {
    found = pair.is_missing() ? found + ": " + why(served, pair.lack) : clbake::name(served.program->origin);
  } else if (served.program) {
    char us[32] = "-";
    if (served.expected_us) std::snprintf(us, sizeof us, "%.4g us", *served.expected_us);
    found = served.program->name + ", " + clbake::name(served.program->origin) + ", " +
            builder::release::name(served.by) + ", " + us + (pair.is_missing() ? ", " + found : "");
  }
  std::printf("%s: %s: %s\n", printable(pair.device).c_str(), printable(pair.subject()).c_str(),
              printable(found).c_str());
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
                     "\" failures=\"" + std::to_string(missing_of(outcome, device)) + "\" errors=\"0\">\n";
  for_each_pair(outcome, device, [&](const Pair& pair) {
    text += "    <testcase classname=\"" + suite + "\" name=\"" + escaped(pair.subject()) + "\"";
    if (!pair.is_missing()) {
      text += "/>\n";
      return;
    }
    text += "><failure type=\"" + std::string(builder::release::name(pair.lack)) + "\" message=\"" +
            escaped(why(pair.served, pair.lack)) + "\"/></testcase>\n";
  });
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
  for (const CheckedDevice& device : devices) sum += missing_of(*this, device);
  return sum;
}

Json check_json(const CheckOutcome& outcome, bool all) {
  Json devices = Json::array(), missing = Json::array(), served = Json::array(), filled_in = Json::array();
  Json own = Json::array();
  if (outcome.filled_in.precision) filled_in.push_back("precision");
  if (outcome.filled_in.transposes) filled_in.push_back("transposes");
  for (const CheckedDevice& device : outcome.devices) {
    const std::size_t count = missing_of(outcome, device);
    devices.push_back({{"name", device.device.name},
                       {"served", count_of(device) - count},
                       {"missing", count},
                       {"target", to_json(device.device.target)}});
  }
  for_each_pair(outcome, [&](const Pair& pair) {
    if (!pair.is_missing() && !all) return;
    (!pair.shape ? own : pair.is_missing() ? missing : served).push_back(json_of(pair));
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
  std::printf("%s: %s on %s: %zu of %zu are served\n", printable(outcome.file).c_str(), subjects_of(outcome).c_str(),
              counted(outcome.devices.size(), "target").c_str(), outcome.pairs() - outcome.missing(), outcome.pairs());
  print_filled_in(outcome);
  print_devices(outcome);
  print_groups(outcome);
  if (all) return;
  for_each_pair(outcome, [](const Pair& pair) {
    if (!pair.shape && pair.is_missing()) print_pair(pair);
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
