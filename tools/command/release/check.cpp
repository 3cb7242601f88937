#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/release/shapes_option.hpp"
#include "command/verbs.hpp"
#include "report/release/release_report.hpp"

#include <clbake/builder/programs.hpp>
#include <clbake/builder/release/check.hpp>

#include <cstdio>
#include <set>

namespace clbake::tool {
namespace {

using namespace builder::release;

constexpr std::size_t kMostTargets = 16, kMostPrograms = 32;

struct Outcome {
  std::string file;
  Requirements requirements;
  std::vector<Subject> subjects;
  std::vector<CheckedDevice> devices;
  std::vector<std::string> unknown;   // of --target: what names no target of the bundle
  std::vector<std::string> left_out;  // targets that were not named, and that nothing serves before they are proven
  builder::Unnamed filled_in;         // what lines took from the bundle under test

  Lack lack(const CheckedDevice& device, std::size_t subject) const {
    return lack_of(device.served[subject], requirements);
  }
  std::size_t missing(const CheckedDevice& device) const {
    std::size_t count = 0;
    for (std::size_t s = 0; s < subjects.size(); ++s) count += lack(device, s) == Lack::none ? 0 : 1;
    return count;
  }
  std::size_t missing() const {
    std::size_t count = 0;
    for (const CheckedDevice& device : devices) count += missing(device);
    return count;
  }
  std::size_t pairs() const { return subjects.size() * devices.size(); }
  bool good() const { return unknown.empty() && !devices.empty() && missing() == 0; }
};

// With `all` also what serves each subject on each device.
Json json_of(const Outcome& outcome, bool all) {
  Json targets = Json::array(), rows = Json::array(), filled_in = Json::array();
  if (outcome.filled_in.precision) filled_in.push_back("precision");
  if (outcome.filled_in.transposes) filled_in.push_back("transposes");
  for (const CheckedDevice& device : outcome.devices) {
    const std::size_t missing = outcome.missing(device);
    targets.push_back({{"name", device.device.name},
                       {"served", outcome.subjects.size() - missing},
                       {"missing", missing},
                       {"target", to_json(device.device.target)}});
    for (std::size_t s = 0; s < outcome.subjects.size(); ++s) {
      const Lack lack = outcome.lack(device, s);
      if (lack == Lack::none && !all) continue;
      Json row{{"target", device.device.name}};
      row.update(to_json(outcome.subjects[s]));
      row.update(to_json(device.served[s], lack));
      if (!outcome.subjects[s].shape) row.erase("chosen_by");  // by its name or its content
      rows.push_back(std::move(row));
    }
  }
  std::size_t programs = 0;
  for (const Subject& subject : outcome.subjects) programs += subject.shape ? 0 : 1;
  return {{"file", outcome.file},
          {"problems", outcome.subjects.size() - programs},
          {"programs", programs},
          {"served", outcome.pairs() - outcome.missing()},
          {"missing", outcome.missing()},
          {"unknown_targets", outcome.unknown},
          {"left_out_targets", outcome.left_out},
          {"targets", std::move(targets)},
          {"filled_in", std::move(filled_in)},
          {"groups", groups_json(outcome.devices, outcome.subjects, outcome.requirements)},
          {"rows", std::move(rows)}};
}

// Lines that stand for what the bundle has do not ask for what it has lost.
void print_filled_in(const Outcome& outcome) {
  const auto& [precision, transposes] = outcome.filled_in;
  if (!precision && !transposes) return;
  std::string missing = precision ? "precision" : "transposes", options = precision ? "--precision" : "--trans";
  if (precision && transposes) missing += " or transposes", options += " and --trans";
  std::set<std::string> kinds;
  for (const Subject& subject : outcome.subjects) kinds.insert(subject.kind);
  std::printf("note: lines without %s stand for what this bundle has (asked for: %s); give %s to ask for more\n",
              missing.c_str(), cell_text(Json(kinds)).c_str(), options.c_str());
}

// "A, B, C and 97 more"
std::string examples(const Json& names, std::size_t all) {
  Json shown = Json::array();
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 3); ++i) shown.push_back(names[i]);
  return cell_text(shown) + (all > shown.size() ? " and " + std::to_string(all - shown.size()) + " more" : "");
}

const char* in_bundle(const Served& served) {
  if (!served.program) return "no";
  switch (served.program->origin) {
    case Origin::native: return "as machine code";
    case Origin::portable: return "portable, compiled at every load";
    default: return "not for this target: compiled from source";
  }
}

// A row for each of the application's programs on each target.
void print_programs(const Outcome& outcome) {
  Json rows = Json::array();
  for (const CheckedDevice& device : outcome.devices) {
    for (std::size_t s = 0; s < outcome.subjects.size(); ++s) {
      const Subject& subject = outcome.subjects[s];
      if (subject.shape) continue;
      rows.push_back({{"program", subject.name}, {"in", in_bundle(device.served[s])}, {"target", device.device.name}});
    }
  }
  if (rows.empty()) return;
  std::printf("\n");
  print_table({{"program", "program", name_cell}, {"in the bundle", "in"}, "target"}, rows, kMostPrograms);
}

void print_text(const Outcome& outcome, const Json& json, bool all) {
  if (all) {
    print_table({"target",
                 "problem",
                 {"program", "program", name_cell},
                 {"variant", "variant", name_cell},
                 "origin",
                 {"chosen by", "chosen_by"},
                 {"expected us", "expected_us"},
                 "missing"},
                json["rows"]);
  }
  const auto problems = json["problems"].get<std::size_t>(), programs = json["programs"].get<std::size_t>();
  std::string subjects = problems > 0 ? counted(problems, "problem") : "";
  if (programs > 0) subjects += (problems > 0 ? " and " : "") + counted(programs, "program");
  std::printf("%s: %s on %s: %zu of %zu are served\n", printable(outcome.file).c_str(), subjects.c_str(),
              counted(outcome.devices.size(), "target").c_str(), outcome.pairs() - outcome.missing(), outcome.pairs());
  print_filled_in(outcome);
  print_programs(outcome);
  if (outcome.devices.size() > 1) {
    std::printf("\n");
    print_table({"served", "missing", {"target", "name"}}, json["targets"], kMostTargets);
  }
  bool other_drivers = false;
  for (const Json& group : json["groups"]) {
    const Json& code = group["code"];
    std::printf("\n%s missing: %s%s\n", group["count"].dump().c_str(), cell_text(group["missing"]).c_str(),
                code.is_null() ? "" : (" (" + cell_text(code) + ")").c_str());
    std::printf("  targets   %s\n", examples(group["targets"], group["targets"].size()).c_str());
    std::printf("  kinds     %s\n", cell_text(group["kinds"]).c_str());
    std::printf("  examples  %s\n", examples(group["examples"], group["subjects"].get<std::size_t>()).c_str());
    std::printf("  why       %s\n", cell_text(group["why"]).c_str());
    other_drivers = other_drivers || code == name(Code::no_target) || code == name(Code::other_driver);
  }
  if (!other_drivers || outcome.requirements.newer_driver) return;
  std::printf("\nApplications that set Options::newer_driver may find more: see --newer-driver.\n");
}

// Without markup, for an attribute of XML.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

// A suite of JUnit: of one case each, with the kind of failure and its message where the second is not empty.
struct Case {
  std::string name, type, message;
};
std::string suite(const std::string& name, const std::vector<Case>& cases) {
  std::string text;
  std::size_t failures = 0;
  for (const Case& c : cases) {
    text += "    <testcase classname=\"" + escaped(name) + "\" name=\"" + escaped(c.name) + "\"";
    failures += c.type.empty() ? 0 : 1;
    text += c.type.empty() ? std::string("/>\n")
                           : "><failure type=\"" + c.type + "\" message=\"" + escaped(c.message) + "\"/></testcase>\n";
  }
  return "  <testsuite name=\"" + escaped(name) + "\" tests=\"" + std::to_string(cases.size()) + "\" failures=\"" +
         std::to_string(failures) + "\" errors=\"0\">\n" + text + "  </testsuite>\n";
}

// A suite for each device, with a case for each subject; what is missing is a failure.
std::string junit(const Outcome& outcome) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"clbake check " +
                     escaped(outcome.file) + "\" tests=\"" + std::to_string(outcome.pairs() + outcome.unknown.size()) +
                     "\" failures=\"" + std::to_string(outcome.missing() + outcome.unknown.size()) + "\">\n";
  for (const CheckedDevice& device : outcome.devices) {
    std::vector<Case> cases;
    for (std::size_t s = 0; s < outcome.subjects.size(); ++s) {
      const Subject& subject = outcome.subjects[s];
      const Lack lack = outcome.lack(device, s);
      const std::string shown = subject.shape ? subject.name : "program " + builder::program::shown_name(subject.name);
      cases.push_back({shown, name(lack), why(device.served[s], lack)});
    }
    text += suite(device.device.name, cases);
  }
  for (const std::string& spec : outcome.unknown) {
    text += suite(spec, {{"target", "no target", "the bundle has no such target"}});
  }
  return text + "</testsuites>\n";
}

std::vector<ServedDevice> devices_for(const Cli& cli, const Bundle& bundle, Outcome& outcome) {
  std::vector<ServedDevice> devices;
  if (cli.has("device")) {
    for (const builder::Device& device : selected_devices(cli.text("device"))) {
      devices.push_back(served_device(device));
    }
    if (!cli.has("target")) return devices;
  }
  for (const std::uint32_t index : targets_asked_for(cli, bundle, outcome.unknown)) {
    const Target target = need(bundle.target(index), cli.file());
    if (cli.has("target") || !awaits_proof(target)) {
      devices.push_back(served_device(target));
      continue;
    }
    outcome.left_out.push_back(target_name(target));
    std::fprintf(stderr,
                 "clbake check: %s: %s: not checked, because its programs serve only after 'clbake prove' on the "
                 "device\n",
                 cli.file().c_str(), printable(outcome.left_out.back()).c_str());
  }
  if (devices.empty() && outcome.unknown.empty() && outcome.left_out.empty()) {
    throw Failure(cli.file() + ": no programs in it, and so no target to check");
  }
  return devices;
}

void declare_check_options(Cli& cli) {
  cli.add_value("shapes", "FILE",
                "the problems, one on each line: [PRECISION] [TRANSPOSES] MxNxK [lda N] [ldb N] [batch N] [weight W]; "
                "may be missing where the bundle has programs of the application's own, which are always checked");
  add_kinds(cli, "; for lines that name none; default: all that the bundle has");
  cli.add_value("require", "LIST",
                "what each problem needs, separated by commas: baked, a program of the bundle (the default); native, "
                "machine code; proven; jit-free; any, where compiling from the bundle's source is enough; of the "
                "application's own programs: "
                "tried, each kernel has a trial at each of its listed sizes; listed, the source has no other kernels");
  add_targets(cli, "; default: all targets with programs except those that await 'clbake prove'");
  cli.add_device(": a device of this machine instead of, or beside, --target");
  cli.add_flag("newer-driver", "as applications that set Options::newer_driver: machine code for older drivers serves");
  cli.add_flag("all", "also list what serves each problem on each target");
  cli.add_json();
  cli.add_value("junit", "FILE", "also write the result as JUnit's XML, which CI systems show");
}

}  // namespace

int check(const std::vector<std::string>& arguments) {
  Cli cli("check FILE [OPTIONS]",
          "Says whether a bundle serves all problems of --shapes, and its programs of the application's own, on all\n"
          "of its targets, or on those that are named, and lists what is missing and why. Exit status: 0, all are\n"
          "served; 3, some are not, or a target is unknown. Needs no OpenCL device, unless --device is given.");
  declare_check_options(cli);
  if (const auto status = cli.parse(arguments)) return *status;
  Outcome outcome;
  outcome.file = cli.file();
  outcome.requirements = requirements_of(cli.text("require"));
  outcome.requirements.newer_driver = cli.has("newer-driver");
  const std::string xml = behind_links(cli.text("junit"));
  check_not_input(xml, {outcome.file, cli.text("shapes")}, "--junit");
  const Bundle bundle = need(Bundle::open(outcome.file));
  std::vector<builder::Shape> shapes;
  if (cli.has("shapes")) shapes = shapes_asked_for(cli, {bundle}, &outcome.filled_in);
  outcome.subjects = need(subjects_of(shapes, {bundle}), outcome.file);
  const std::vector<ServedDevice> devices = devices_for(cli, bundle, outcome);
  if (outcome.subjects.empty()) throw UsageError("the option '--shapes' is required but missing");
  outcome.devices = need(
      builder::release::check({bundle}, devices, outcome.subjects, outcome.requirements.newer_driver), outcome.file);
  if (cli.has("junit")) write_text(xml, junit(outcome));
  const Json json = json_of(outcome, cli.has("all"));
  cli.has("json") ? print(json) : print_text(outcome, json, cli.has("all"));
  print_unknown("check", outcome.file, bundle, outcome.unknown);
  return outcome.good() ? kSuccess : kLeftOut;
}

}  // namespace clbake::tool
