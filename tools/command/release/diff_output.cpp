#include "command/release/diff_output.hpp"

#include "cli/cli.hpp"
#include "cli/printable.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace clbake::tool {
namespace {

constexpr std::size_t kMostLines = 20;  // of each list, for people

using builder::release::EntryDiff;
using builder::release::Served;

// The changes of one device.
struct DeviceChanges {
  std::size_t lost = 0;       // a program of the bundle served, now none does
  std::size_t gained = 0;     // the other way round
  std::size_t different = 0;  // another variant, form, reason or proof
  std::size_t timed = 0;      // both expected times are known
  // Sums of the expected times of these, each times its problem's weight.
  double expected_us[2] = {0, 0};
};

bool baked(const Served& served) { return served.program && served.program->origin != Origin::source; }

DeviceChanges changes_of(const DiffOutcome& outcome, std::size_t device) {
  DeviceChanges changes;
  for (std::size_t s = 0; s < outcome.shapes.size(); ++s) {
    const Served& before = outcome.before[device].served[s];
    const Served& after = outcome.after[device].served[s];
    changes.lost += baked(before) && !baked(after) ? 1 : 0;
    changes.gained += !baked(before) && baked(after) ? 1 : 0;
    changes.different += served_differently(before, after) ? 1 : 0;
    if (!before.expected_us || !after.expected_us) continue;
    ++changes.timed;
    changes.expected_us[0] += outcome.shapes[s].weight * *before.expected_us;
    changes.expected_us[1] += outcome.shapes[s].weight * *after.expected_us;
  }
  return changes;
}

std::string digest(const std::optional<cache::EntryInfo>& entry) {
  char text[32] = "";
  if (entry) std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(entry->program.raw_checksum));
  return text;
}

Json side_json(const std::optional<cache::EntryInfo>& entry) {
  if (!entry) return {};
  return {{"checksum", digest(entry)},
          {"bytes", entry->program.raw_bytes},
          {"stored_bytes", entry->program.stored_bytes},
          {"newer_driver", entry->newer_driver},
          {"proof", to_json(entry->proof)}};
}

Json to_json(const std::vector<EntryDiff>& entries) {
  Json list = Json::array();
  for (const EntryDiff& entry : entries) {
    list.push_back({{"target", entry.target},
                    {"variant", entry.variant},
                    {"form", entry.form == cache::Form::native ? "native" : "portable"},
                    {"before", side_json(entry.before)},
                    {"after", side_json(entry.after)}});
  }
  return list;
}

Json to_json(const builder::release::NameDiff& names) {
  return {{"removed", names.removed}, {"added", names.added}, {"changed", names.changed}};
}

Json to_json(const builder::release::ProfileDiff& profile) {
  return {{"target", profile.target},
          {"exceptions", profile.exceptions},
          {"models", profile.models},
          {"defaults", profile.defaults}};
}

Json side_json(const Served& served) {
  if (!served.program) return {{"code", clbake::name(served.failure.code())}, {"why", served.failure.message()}};
  const builder::release::ServedProgram& program = *served.program;
  return {{"variant", program.name},
          {"origin", clbake::name(program.origin)},
          {"code", clbake::name(program.miss.code())},
          {"chosen_by", builder::release::name(served.by)},
          {"expected_us", served.expected_us ? Json(*served.expected_us) : Json()},
          {"proven", program.proven},
          {"jit_free", program.jit_free}};
}

Json shapes_json(const DiffOutcome& outcome) {
  Json devices = Json::array();
  for (std::size_t d = 0; d < outcome.before.size(); ++d) {
    const DeviceChanges changes = changes_of(outcome, d);
    Json problems = Json::array();
    for (std::size_t s = 0; s < outcome.shapes.size(); ++s) {
      const Served& before = outcome.before[d].served[s];
      const Served& after = outcome.after[d].served[s];
      if (!served_differently(before, after) && before.expected_us == after.expected_us) continue;
      problems.push_back({{"problem", name(outcome.shapes[s])},
                          {"weight", outcome.shapes[s].weight},
                          {"before", side_json(before)},
                          {"after", side_json(after)}});
    }
    devices.push_back({{"target", outcome.before[d].device.name},
                       {"problems", outcome.shapes.size()},
                       {"lost", changes.lost},
                       {"gained", changes.gained},
                       {"different", changes.different},
                       {"timed", changes.timed},
                       {"expected_us", changes.timed > 0 ? Json(changes.expected_us) : Json()},
                       {"changed_problems", problems}});
  }
  return devices;
}

// The first ones of a list, one a line, and how many more there are. `text`: of an item.
template <typename T, typename Text>
void print_lines(const std::vector<T>& items, const char* rest, const Text& text) {
  for (std::size_t i = 0; i < std::min(items.size(), kMostLines); ++i) {
    std::printf("  %s\n", printable(text(items[i])).c_str());
  }
  if (items.size() > kMostLines) std::printf("  and %zu more%s\n", items.size() - kMostLines, rest);
}

// The same below a title.
template <typename T, typename Text>
void print_list(const std::string& title, const std::vector<T>& items, const Text& text) {
  if (items.empty()) return;
  std::printf("%s: %zu\n", title.c_str(), items.size());
  print_lines(items, "", text);
}

void print_names(const std::string& what, const builder::release::NameDiff& names) {
  const auto itself = [](const std::string& name) { return name; };
  print_list(what + " removed", names.removed, itself);
  print_list(what + " added", names.added, itself);
  print_list(what + " changed", names.changed, itself);
}

std::string proof_text(const std::optional<cache::EntryInfo>& entry) {
  if (!entry) return "absent";
  return std::string(entry->proof.proven ? "proven" : "not proven") +
         (entry->proof.jit_free ? ", JIT-free" : ", not JIT-free");
}

std::string program_text(const std::optional<cache::EntryInfo>& entry) {
  return entry ? digest(entry) + " (" + size_text(entry->program.raw_bytes) + ")" : "absent";
}

template <typename Text>
void print_entries(const char* title, const std::vector<EntryDiff>& entries, const Text& text) {
  print_list(title, entries, [&](const EntryDiff& entry) {
    return entry.target + ": " + entry.variant + (entry.form == cache::Form::native ? "" : " (portable)") + ": " +
           text(entry.before) + " -> " + text(entry.after);
  });
}

void print_profiles(const std::vector<builder::release::ProfileDiff>& profiles) {
  print_list("profiles that differ", profiles, [](const builder::release::ProfileDiff& p) {
    const auto change = [](const char* what, const std::size_t* counts) {
      return std::string(what) + " " + std::to_string(counts[0]) + " -> " + std::to_string(counts[1]);
    };
    return p.target + ": " + change("exceptions", p.exceptions) + ", " + change("cost models", p.models) + ", " +
           change("defaults", p.defaults);
  });
}

std::string served_text(const Served& served) {
  if (!served.program) return "nothing";
  char us[32] = "";
  if (served.expected_us) std::snprintf(us, sizeof us, ", %.4g us", *served.expected_us);
  return served.program->name + " (" + clbake::name(served.program->origin) + us + ")";
}

// Those on which most is expected to be lost or gained come first; before them, those without a time.
std::vector<std::pair<std::size_t, std::size_t>> changed_pairs(const DiffOutcome& outcome) {
  std::vector<std::pair<double, std::pair<std::size_t, std::size_t>>> pairs;
  for (std::size_t d = 0; d < outcome.before.size(); ++d) {
    for (std::size_t s = 0; s < outcome.shapes.size(); ++s) {
      const Served& before = outcome.before[d].served[s];
      const Served& after = outcome.after[d].served[s];
      if (!served_differently(before, after)) continue;
      const bool timed = before.expected_us && after.expected_us && baked(before) == baked(after);
      const double change = timed ? std::fabs(*after.expected_us - *before.expected_us) : HUGE_VAL;
      pairs.push_back({change * outcome.shapes[s].weight, {d, s}});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::pair<std::size_t, std::size_t>> sorted;
  for (const auto& [change, pair] : pairs) sorted.push_back(pair);
  return sorted;
}

// Before, after and change, in their columns.
std::string times_text(const DeviceChanges& changes) {
  const double before = changes.expected_us[0], after = changes.expected_us[1];
  char text[64];
  if (changes.timed == 0) {
    std::snprintf(text, sizeof text, "%12s %12s %8s", "-", "-", "-");
  } else {
    std::snprintf(text, sizeof text, "%12.4g %12.4g %+7.1f%%", before, after,
                  before > 0 ? 100 * (after / before - 1) : 0.0);
  }
  return text;
}

void print_shapes(const DiffOutcome& outcome) {
  if (outcome.shapes.empty()) return;
  std::printf(
      "\n%s; expected times are sums over those with a time, by their weights\n"
      "%9s %9s %9s %9s %12s %12s %8s  target\n",
      counted(outcome.shapes.size(), "problem").c_str(), "lost", "gained", "different", "timed", "before us",
      "after us", "change");
  std::size_t same = 0;
  for (std::size_t d = 0; d < outcome.before.size(); ++d) {
    const DeviceChanges changes = changes_of(outcome, d);
    const double* us = changes.expected_us;
    if (changes.lost + changes.gained + changes.different == 0 && us[0] == us[1] && ++same) continue;
    std::printf("%9zu %9zu %9zu %9zu %s  %s\n", changes.lost, changes.gained, changes.different, changes.timed,
                times_text(changes).c_str(), printable(outcome.before[d].device.name).c_str());
  }
  if (same > 0)
    std::printf("%s %s every problem as before\n", counted(same, "target").c_str(), same == 1 ? "serves" : "serve");
  const auto pairs = changed_pairs(outcome);
  print_lines(pairs, ": --json lists all", [&](const auto& pair) {
    const auto& [d, s] = pair;
    return outcome.before[d].device.name + ": " + name(outcome.shapes[s]) + ": " +
           served_text(outcome.before[d].served[s]) + " -> " + served_text(outcome.after[d].served[s]);
  });
}

}  // namespace

bool DiffOutcome::equal() const { return diff.empty(with_measured); }

Json diff_json(const DiffOutcome& outcome) {
  Json profiles = Json::array();
  for (const builder::release::ProfileDiff& profile : outcome.diff.profiles) profiles.push_back(to_json(profile));
  Json json = {{"before", {{"file", outcome.files[0]}, {"bytes", outcome.bytes[0]}}},
               {"after", {{"file", outcome.files[1]}, {"bytes", outcome.bytes[1]}}},
               {"equal", outcome.equal()},
               {"targets", to_json(outcome.diff.targets)},
               {"variants", to_json(outcome.diff.variants)},
               {"programs", to_json(outcome.diff.programs)},
               {"proofs", to_json(outcome.diff.proofs)},
               {"measured_differently", outcome.diff.measured},
               {"profiles", profiles}};
  if (!outcome.shapes.empty()) json["served"] = shapes_json(outcome);
  return json;
}

void print_diff(const DiffOutcome& outcome) {
  for (int side = 0; side < 2; ++side) {
    std::printf("%s %s: %s\n", side == 0 ? "---" : "+++", outcome.files[side].c_str(),
                size_text(outcome.bytes[side]).c_str());
  }
  print_names("targets", outcome.diff.targets);
  print_names("variants", outcome.diff.variants);
  print_entries("programs that differ", outcome.diff.programs, program_text);
  print_entries("proofs that differ", outcome.diff.proofs, proof_text);
  print_profiles(outcome.diff.profiles);
  if (outcome.diff.measured > 0) {
    std::printf("measured times that differ: of %s\n", counted(outcome.diff.measured, "entry").c_str());
  }
  if (outcome.equal()) std::printf("nothing differs%s\n", outcome.diff.measured > 0 ? " but these times" : "");
  print_shapes(outcome);
}

}  // namespace clbake::tool
