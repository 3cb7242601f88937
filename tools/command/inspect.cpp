#include "cli.hpp"
#include "json.hpp"
#include "verbs.hpp"

#include <cstdio>
#include <set>

namespace clbake::tool {
namespace {

struct Totals {
  std::uint64_t program_bytes = 0;  // as the drivers get them
  std::uint64_t stored_bytes = 0;   // in the file; programs that are equal count once
};

Result<Json> entry_json(const Bundle& bundle, const cache::EntryInfo& entry) {
  const Result<cache::Variant> variant = bundle.variant(entry.variant);
  if (!variant) return variant.status();
  Json json{{"target", entry.target},
            {"variant", variant->name},
            {"family", variant->family},
            {"precision", clbake::name(variant->precision)},
            {"form", entry.form == cache::Form::native ? "native" : "portable"},
            {"newer_driver", entry.newer_driver},
            {"bytes", entry.program_bytes},
            {"stored_bytes", entry.stored_bytes}};
  json.update(to_json(entry.proof));
  return json;
}

Result<Json> describe(const Bundle& bundle) {
  Json targets = Json::array();
  for (std::uint32_t i = 0; i < bundle.target_count(); ++i) {
    const Result<Target> target = bundle.target(i);
    if (!target) return target.status();
    targets.push_back(to_json(*target));
  }
  Json entries = Json::array();
  Totals totals;
  std::set<std::uint64_t> counted;
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    const Result<cache::EntryInfo> entry = bundle.entry(i);
    if (!entry) return entry.status();
    Result<Json> json = entry_json(bundle, *entry);
    if (!json) return json;
    entries.push_back(std::move(*json));
    totals.program_bytes += entry->program_bytes;
    if (counted.insert(entry->offset).second) totals.stored_bytes += entry->stored_bytes;
  }
  const double ratio =
      totals.stored_bytes ? static_cast<double>(totals.program_bytes) / static_cast<double>(totals.stored_bytes) : 1.0;
  const Version version = bundle.version();
  return Json{{"format", std::to_string(version.major) + "." + std::to_string(version.minor)},
              {"file_bytes", bundle.size_bytes()},
              {"bytes", totals.program_bytes},
              {"stored_bytes", totals.stored_bytes},
              {"ratio", ratio},
              {"targets", targets},
              {"entries", entries}};
}

// A dash for what was not measured.
std::string figure(const Json& value, const char* format) {
  if (value.is_null()) return "-";
  char text[32];
  std::snprintf(text, sizeof text, format, value.get<double>());
  return text;
}

void print_table(const Json& json) {
  std::printf("format %s, %llu bytes; %zu targets, %zu entries; programs %llu -> %llu bytes (%.2f x)\n",
              json["format"].get<std::string>().c_str(), json["file_bytes"].get<unsigned long long>(),
              json["targets"].size(), json["entries"].size(), json["bytes"].get<unsigned long long>(),
              json["stored_bytes"].get<unsigned long long>(), json["ratio"].get<double>());
  for (std::size_t i = 0; i < json["targets"].size(); ++i) {
    const Json& t = json["targets"][i];
    const std::string device = t["device_name"];  // empty: any device of the architecture
    std::printf("target %zu: %s; %s; driver %s; %s\n", i,
                device.empty() ? t["platform_name"].get<std::string>().c_str() : device.c_str(),
                t["platform_version"].get<std::string>().c_str(), t["driver_version"].get<std::string>().c_str(),
                t["architecture"].get<std::string>().c_str());
  }
  std::printf("\n%6s  %-52s %-8s %-6s %-8s %9s %9s %9s %9s %9s\n", "target", "variant", "form", "proven", "jit-free",
              "first us", "steady us", "error", "bytes", "stored");
  for (const Json& e : json["entries"]) {
    std::printf("%6d  %-52s %-8s %-6s %-8s %9s %9s %9s %9llu %9llu\n", e["target"].get<int>(),
                e["variant"].get<std::string>().c_str(), e["form"].get<std::string>().c_str(),
                e["proven"].get<bool>() ? "yes" : "NO", e["jit_free"].get<bool>() ? "yes" : "NO",
                figure(e["first_us"], "%.0f").c_str(), figure(e["steady_us"], "%.0f").c_str(),
                figure(e["max_error"], "%.1e").c_str(), e["bytes"].get<unsigned long long>(),
                e["stored_bytes"].get<unsigned long long>());
  }
}

}  // namespace

int inspect(const std::vector<std::string>& arguments) {
  Cli cli("inspect FILE [OPTIONS]", "Verifies every byte of a bundle and shows what it holds. Needs no OpenCL device.");
  cli.options()("json", "print JSON");
  if (const auto status = cli.parse(arguments)) return *status;
  const Result<Bundle> bundle = open_verified(cli.file());
  if (!bundle) return fail("inspect", bundle.status());
  const Result<Json> json = describe(*bundle);
  if (!json) return fail("inspect", json.status().within(cli.file()));
  if (cli.has("json")) {
    print(*json);
  } else {
    print_table(*json);
  }
  return kSuccess;
}

}  // namespace clbake::tool
