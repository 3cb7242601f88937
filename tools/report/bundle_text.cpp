#include "report/bundle_report.hpp"

#include "cli/cli.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

namespace clbake::tool {
namespace {

std::string text_of(const Json& json, const char* field) { return json[field].get<std::string>(); }

// A dash for what was not measured.
std::string figure(const Json& value, const char* format) {
  if (value.is_null()) return "-";
  char text[32];
  std::snprintf(text, sizeof text, format, value.get<double>());
  return text;
}

// "m <= 128, batch 2 to 64"; "any size" when nothing is limited.
std::string ranges(const Json& rule) {
  std::string text;
  for (const char* size : {"m", "n", "k", "batch"}) {
    const Json& range = rule[size];
    if (range.is_null()) continue;
    text += (text.empty() ? "" : ", ") + std::string(size);
    if (range[1].is_null()) {
      text += " >= " + range[0].dump();
    } else {
      text += range[0] == 0 ? " <= " + range[1].dump() : " " + range[0].dump() + " to " + range[1].dump();
    }
  }
  return text.empty() ? "any size" : text;
}

// The counts of one target.
struct TargetSummary {
  std::size_t entries = 0;
  std::size_t portable = 0;
  std::size_t proven = 0;
  std::size_t jit_free = 0;  // of those proven
  std::uint64_t bytes = 0;
  std::map<std::string, std::string> kinds;     // "single" -> " nn nt"
  std::map<std::string, std::string> programs;  // the application's own, and their kernels
  std::map<std::string, std::size_t> notes;     // why native entries are proven, but not JIT-free
};

// The parts of a note without figures, which differ from entry to entry; the whole note when all parts have some.
std::string reason_of(const std::string& note) {
  std::string reason;
  std::size_t begin = 0;
  while (begin < note.size()) {
    const std::size_t end = std::min(note.find("; ", begin), note.size());
    const std::string part = note.substr(begin, end - begin);
    const bool has_figure = part.find_first_of("0123456789") != std::string::npos;
    if (!has_figure) reason += (reason.empty() ? "" : "; ") + part;
    begin = end + 2;
  }
  return reason.empty() ? note : reason;
}

// The rest of a note behind "not JIT-free: "; all of a note without that.
std::string failed_part_of(const std::string& note) {
  const std::string mark = "not JIT-free: ";
  const std::size_t at = note.find(mark);
  return at == std::string::npos ? note : note.substr(at + mark.size());
}

// "scale 64, 16x16; add 64"
std::string kernels_text(const Json& kernels) {
  std::string text, last;
  for (const Json& kernel : kernels) {
    const std::string name = text_of(kernel, "name");
    if (name != last) text += (text.empty() ? "" : "; ") + name;
    const Json& size = kernel["work_group_size"];
    text += (name == last ? ", " : " ") + size[0].dump();
    if (size[1] != 1 || size[2] != 1) text += "x" + size[1].dump();
    if (size[2] != 1) text += "x" + size[2].dump();
    last = name;
  }
  return text;
}

TargetSummary summary_of(const Json& entries, std::size_t target) {
  TargetSummary s;
  for (const Json& entry : entries) {
    if (entry["target"] != target) continue;
    ++s.entries;
    s.portable += entry["form"] == "portable" ? 1 : 0;
    s.bytes += entry["bytes"].get<std::uint64_t>();
    const bool is_program = text_of(entry, "precision") == "none";
    if (is_program) {
      s.programs[text_of(entry, "variant")] = kernels_text(entry["kernels"]);
    } else {
      std::string& transposes = s.kinds[text_of(entry, "precision")];
      const std::string trans = " " + text_of(entry, "trans");
      if (transposes.find(trans) == std::string::npos) transposes += trans;
    }
    if (!entry["proven"].get<bool>()) continue;
    ++s.proven;
    s.jit_free += entry["jit_free"].get<bool>() ? 1 : 0;
    // A portable program is compiled at every load: that is what it is for.
    const bool native = entry["form"] == "native";
    const std::string note = text_of(entry, "note");
    if (native && !entry["jit_free"].get<bool>()) {
      ++s.notes[is_program ? text_of(entry, "variant") + ": " + failed_part_of(note) : reason_of(note)];
    }
  }
  return s;
}

// A target for any device of a class: default variants for what the bundle was not baked for.
bool is_default(const Json& target) { return text_of(target, "platform_name").empty(); }

// The device, or for programs of a whole architecture the platform.
std::string title(const Json& target) {
  const std::string device = text_of(target, "device_name");
  return device.empty() ? text_of(target, "platform_name") : device;
}

// "16 cost models, 1 exception, 4 defaults"
std::string size_of_profile(const Json& profile) {
  return counted(profile["models"].size(), "cost model") + ", " + counted(profile["exceptions"].size(), "exception") +
         ", " + counted(profile["defaults"].size(), "default");
}

void print_target(const Json& report, std::size_t index) {
  const Json& t = report["targets"][index];
  const TargetSummary s = summary_of(report["entries"], index);
  if (is_default(t) && s.entries == 0) {
    std::printf("\ntarget %zu: %s; default variants as source, compiled where nothing else serves\n", index,
                title(t).c_str());
    return;
  }
  std::printf("\ntarget %zu: %s\n", index, title(t).c_str());
  const auto print_field = [&](const char* label, const char* field) {
    if (!text_of(t, field).empty()) std::printf("  %-12s  %s\n", label, text_of(t, field).c_str());
  };
  print_field("platform", "platform_version");
  print_field("driver", "driver_version");
  print_field("architecture", "architecture");
  std::string kinds;
  for (const auto& [precision, transposes] : s.kinds) kinds += (kinds.empty() ? "" : ", ") + precision + transposes;
  const char* const no_kinds = s.programs.empty() ? "none: every problem is compiled from source" : "none";
  std::printf("  kinds         %s\n", kinds.empty() ? no_kinds : kinds.c_str());
  for (const auto& [name, kernels] : s.programs) {
    std::printf("  own program   %s: kernels and work-group sizes %s\n", name.c_str(), kernels.c_str());
  }
  std::printf("  programs      %s (%zu portable), %zu proven, %zu of them JIT-free; %s\n",
              counted(s.entries, "entry").c_str(), s.portable, s.proven, s.jit_free, size_text(s.bytes).c_str());
  for (const auto& [note, entries] : s.notes) {
    std::printf("                %zu not JIT-free: %s\n", entries,
                note.empty() ? "no reason is recorded" : note.c_str());
  }
  for (const Json& profile : report["profiles"]) {
    if (profile["target"] == index) std::printf("  profile       %s\n", size_of_profile(profile).c_str());
  }
}

// Whose signatures there are; whether a key is to be trusted only its reader knows.
void print_trust(const Json& report) {
  if (report["digest"].is_null()) return;
  std::printf("digest %s\n", text_of(report, "digest").c_str());
  const Json& signatures = report["signatures"];
  if (signatures.empty()) {
    std::printf("not signed: nothing tells who made it, nor who made the bundles that it was joined from\n");
  }
  for (const Json& signature : signatures) {
    std::printf("%s by %s, release %s\n", signature["valid"].get<bool>() ? "signed" : "WRONG SIGNATURE, as if",
                text_of(signature, "public_key").c_str(), signature["release"].dump().c_str());
  }
}

void print_rules(const char* title, const Json& rules) {
  if (rules.empty()) return;
  std::printf("%s:\n", title);
  for (const Json& rule : rules) {
    std::printf("%8s %s  %-52s  %s\n", text_of(rule, "precision").c_str(), text_of(rule, "trans").c_str(),
                text_of(rule, "variant").c_str(), ranges(rule).c_str());
  }
}

void print_models(const Json& models) {
  if (models.empty()) return;
  std::printf(
      "cost models, the least expected time decides; us for each: call, wave, step of a wave, step of a group,\n"
      "the same besides of rows that are not aligned, million elements of A, B and C; error and margin in %%:\n");
  for (const Json& m : models) {
    std::printf("%8s %s  %-52s ", text_of(m, "precision").c_str(), text_of(m, "trans").c_str(),
                text_of(m, "variant").c_str());
    for (const char* key : {"call_us", "wave_us", "latency_us", "step_us", "unaligned_us", "a_us", "b_us", "c_us"}) {
      std::printf(" %8.3g", m[key].get<double>());
    }
    std::printf("  %4.1f %4.1f\n", 100 * m["error"].get<double>(), 100 * m["margin"].get<double>());
  }
}

}  // namespace

void print_summary(const Json& report, const std::string& file) {
  std::printf("%s: %s, %s, %s; every byte is intact\n", file.c_str(),
              counted(report["targets"].size(), "target").c_str(),
              counted(report["variants"].get<std::size_t>(), "variant").c_str(),
              counted(report["entries"].size(), "entry").c_str());
  std::printf("format %s; %s; programs of %s, stored in %s (%.2f x)\n", text_of(report, "format").c_str(),
              size_text(report["file_bytes"].get<std::uint64_t>()).c_str(),
              size_text(report["bytes"].get<std::uint64_t>()).c_str(),
              size_text(report["stored_bytes"].get<std::uint64_t>()).c_str(), report["ratio"].get<double>());
  print_trust(report);
  for (std::size_t i = 0; i < report["targets"].size(); ++i) print_target(report, i);
}

void print_entries(const Json& report) {
  std::printf("\n%6s  %-52s %-8s %-6s %-8s %9s %9s %9s %9s %9s\n", "target", "variant", "form", "proven", "jit-free",
              "first us", "steady us", "error", "bytes", "stored");
  for (const Json& e : report["entries"]) {
    std::printf("%6d  %-52s %-8s %-6s %-8s %9s %9s %9s %9llu %9llu\n", e["target"].get<int>(),
                text_of(e, "variant").c_str(), text_of(e, "form").c_str(), e["proven"].get<bool>() ? "yes" : "NO",
                e["jit_free"].get<bool>() ? "yes" : "NO", figure(e["first_us"], "%.0f").c_str(),
                figure(e["steady_us"], "%.0f").c_str(), figure(e["max_error"], "%.1e").c_str(),
                e["bytes"].get<unsigned long long>(), e["stored_bytes"].get<unsigned long long>());
  }
}

void print_profiles(const Json& report) {
  for (const Json& profile : report["profiles"]) {
    if (is_default(report["targets"][profile["target"].get<std::size_t>()])) continue;
    std::printf("\nprofile of target %d: %s\n", profile["target"].get<int>(), size_of_profile(profile).c_str());
    print_rules("exceptions, the first that matches decides", profile["exceptions"]);
    print_models(profile["models"]);
    print_rules("defaults, what the cost models have to beat", profile["defaults"]);
  }
}

}  // namespace clbake::tool
