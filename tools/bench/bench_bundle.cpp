// `clbake bench bundle`: what the file format costs, without any driver unless programs are loaded.
#include "bench/bench_device.hpp"
#include "bench/bundle_loads.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/cache/writer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace clbake::tool {
namespace {

double microseconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

// The median time of a call, in microseconds.
double median_us(std::size_t rounds, const std::function<void(std::size_t round)>& work) {
  std::vector<double> times;
  times.reserve(rounds);
  for (std::size_t round = 0; round < rounds; ++round) times.push_back(microseconds_of([&] { work(round); }));
  return builder::median(std::move(times));
}

// Many targets and variants, an entry of a few bytes for each pair.
cache::Contents made_up(std::uint32_t targets, std::uint32_t variants) {
  cache::Contents contents;
  contents.sources.push_back({"made-up.cl", "kernel void gemm() {}\n"});
  for (std::uint32_t v = 0; v < variants; ++v) {
    cache::Variant variant;
    variant.name = "made-up-" + std::to_string(v);
    variant.family = "made up";
    variant.contract = 4;
    variant.launches.push_back({cache::Role::gemm, "gemm", {8, 8, 1}, 32, 32});
    contents.variants.push_back(std::move(variant));
  }
  for (std::uint32_t t = 0; t < targets; ++t) {
    cache::Target target;
    target.platform_name = "Made-up Platform";
    target.driver_version = std::to_string(t);
    contents.targets.push_back(std::move(target));
    for (std::uint32_t v = 0; v < variants; ++v) {
      cache::Entry entry;
      entry.target = t;
      entry.variant = v;
      const std::string program = std::to_string(t) + ' ' + std::to_string(v);
      entry.program.assign(program.begin(), program.end());
      contents.entries.push_back(std::move(entry));
    }
  }
  return contents;
}

// Opening, and finding random entries, in a bundle of this many entries.
Result<Json> time_search(const std::string& directory, std::uint32_t targets, std::uint32_t variants,
                         std::size_t rounds) {
  const std::string path = directory + "/search.clbake";
  const Result<cache::Bytes> bytes = cache::encode(made_up(targets, variants), cache::Packing::plain);
  if (!bytes) return bytes.status();
  const Status written = cache::write_file(path, {bytes->data(), bytes->size()});
  if (!written) return written;
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status();
  const double open_us = median_us(rounds, [&](std::size_t) { (void)Bundle::open(path); });
  std::size_t missing = 0;
  const auto find = [&](std::size_t round) {
    const std::size_t entry = round * 2654435761U % bundle->entry_count();
    const auto target = static_cast<std::uint32_t>(entry / variants);
    missing += bundle->find_entry(target, static_cast<std::uint32_t>(entry % variants)) ? 0 : 1;
  };
  // A hundred at a time: one takes little longer than reading the clock.
  const double find_us = median_us(rounds, [&](std::size_t round) {
    for (std::size_t i = 0; i < 100; ++i) find(100 * round + i);
  });
  if (missing > 0) return Status(Code::no_entry, counted(missing, "entry") + " not found");
  return Json{{"entries", bundle->entry_count()}, {"open_us", open_us}, {"find_us", find_us / 100}};
}

// Programs with or without a dictionary: their number, size, and the time to find and read one.
struct Group {
  std::vector<double> raw_bytes, times_us, trusted_us;
  std::uint64_t raw = 0, stored = 0;
};

Json to_json(const char* name, const Group& group) {
  const bool empty = group.times_us.empty();
  return {{"programs", name},
          {"count", group.times_us.size()},
          {"raw_bytes", group.raw},
          {"stored_bytes", group.stored},
          {"median_raw_bytes", empty ? 0 : builder::median(group.raw_bytes)},
          {"median_read_us", empty ? 0 : builder::median(group.times_us)},
          {"median_trusted_us", group.trusted_us.empty() ? Json() : Json(builder::median(group.trusted_us))}};
}

// The programs of a bundle: their sizes there and each compressed alone, and the times to read them.
Result<Json> measure_file(const std::string& file, std::size_t rounds) {
  const Result<Bundle> bundle = open_verified(file);
  if (!bundle) return bundle.status();
  const Result<cache::Contents> contents = bundle->decode();
  if (!contents) return contents.status();
  const Result<cache::Bytes> alone = cache::encode(*contents);
  if (!alone) return alone.status();
  const std::shared_ptr<const Trust> trust = trust_of_itself(*bundle);
  const Result<Bundle> trusted = trust ? trust->admit(*bundle) : *bundle;
  if (!trusted) return trusted.status();
  Group groups[2];
  const auto read_us = [&](const Bundle& from, const cache::EntryInfo& entry) {
    return median_us(rounds, [&](std::size_t) {
      const Result<cache::EntryInfo> found = from.find_entry(entry.target, entry.variant, entry.form);
      (void)from.program(*found);
    });
  };
  for (std::uint32_t i = 0; i < bundle->entry_count(); ++i) {
    const Result<cache::EntryInfo> entry = bundle->entry(i);
    if (!entry) return entry.status();
    Group& group = groups[entry->program.dictionary != 0 ? 1 : 0];
    group.raw += entry->program.raw_bytes;
    group.stored += entry->program.stored_bytes;
    group.raw_bytes.push_back(entry->program.raw_bytes);
    group.times_us.push_back(read_us(*bundle, *entry));
    if (trust) group.trusted_us.push_back(read_us(*trusted, *entry));
  }
  const double open_us = median_us(rounds, [&](std::size_t) { (void)Bundle::open(file); });
  const double trust_us = median_us(rounds, [&](std::size_t) {
    if (trust) (void)trust->admit(*bundle);
  });
  const auto size = static_cast<double>(bundle->size_bytes());
  return Json{{"file", file},
              {"bytes", bundle->size_bytes()},
              {"alone_bytes", alone->size()},
              {"ratio", size / static_cast<double>(alone->size())},
              {"open_us", open_us},
              {"trust_us", trust ? Json(trust_us) : Json()},
              {"programs", {to_json("alone", groups[0]), to_json("with a dictionary", groups[1])}}};
}

void print_file(const Json& result) {
  std::printf("%s: %zu bytes, %.3f of the %zu with each program compressed alone\n",
              result["file"].get<std::string>().c_str(), result["bytes"].get<std::size_t>(),
              result["ratio"].get<double>(), result["alone_bytes"].get<std::size_t>());
  const bool trusted = !result["trust_us"].is_null();
  std::printf("opened in %.1f us", result["open_us"].get<double>());
  if (trusted) std::printf(", trusted in %.1f us more", result["trust_us"].get<double>());
  std::printf("\n%-18s %8s %12s %12s %12s %10s%s\n", "programs", "count", "raw bytes", "stored", "median raw",
              "read us", trusted ? "    trusted" : "");
  for (const Json& row : result["programs"]) {
    std::printf("%-18s %8zu %12zu %12zu %12.0f %10.1f", row["programs"].get<std::string>().c_str(),
                row["count"].get<std::size_t>(), row["raw_bytes"].get<std::size_t>(),
                row["stored_bytes"].get<std::size_t>(), row["median_raw_bytes"].get<double>(),
                row["median_read_us"].get<double>());
    if (!row["median_trusted_us"].is_null()) std::printf(" %10.1f", row["median_trusted_us"].get<double>());
    std::printf("\n");
  }
  if (result.contains("loads")) print_loads(result["loads"]);
}

void print_synthetic(const Json& result) {
  std::printf("%12s %10s %10s\n", "entries", "open us", "find us");
  for (const Json& row : result["search"]) {
    std::printf("%12zu %10.1f %10.3f\n", row["entries"].get<std::size_t>(), row["open_us"].get<double>(),
                row["find_us"].get<double>());
  }
}

Result<Json> measure_synthetic(std::size_t entries, std::size_t rounds) {
  const Result<builder::ScratchDirectory> scratch = builder::ScratchDirectory::create();
  if (!scratch) return scratch.status();
  Json search = Json::array();
  for (std::size_t count = 100; count <= entries; count *= 100) {
    const auto targets = static_cast<std::uint32_t>(std::max<std::size_t>(1, count / 1000));
    const Result<Json> row = time_search(scratch->path(), targets, static_cast<std::uint32_t>(count / targets), rounds);
    if (!row) return row.status();
    search.push_back(*row);
  }
  return Json{{"search", search}};
}

}  // namespace

int bench_bundle(const std::vector<std::string>& arguments) {
  Cli cli(
      "bench bundle [FILE] [OPTIONS]",
      "With FILE: the size of the bundle, beside that of its programs compressed one by one, and the time to find,\n"
      "verify and decompress a program, also under a policy of trust, if it has digests. Without: the times to open\n"
      "made-up bundles and to find an entry in them. Times are medians. Needs an OpenCL device only with --load.");
  cli.add_flag("load", "with FILE: also load each program, beside the driver's own time");
  cli.add_device("; with --load");
  cli.add_value("entries", "N", "of the largest made-up bundle: 100, 10000 or 1000000, the default");
  cli.add_value("rounds", "N", "times that each thing is done; default 101");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::size_t rounds = cli.size("rounds", 101, 1, 100000);
  const std::size_t entries = cli.size("entries", 1000000, 100, 1000000);
  const bool has_file = !cli.file().empty();
  if (cli.has("load") && !has_file) throw UsageError("--load: FILE is missing");
  Result<Json> result = has_file ? measure_file(cli.file(), rounds) : measure_synthetic(entries, rounds);
  if (result && cli.has("load")) {
    Result<Json> loads = bundle_loads(cli.file(), cli.text("device"), cli.size("rounds", 7));
    if (!loads) return fail("bench bundle", loads.status());
    (*result)["loads"] = std::move(*loads);
  }
  if (!result) return fail("bench bundle", result.status());
  if (cli.has("json")) {
    print(*result);
  } else {
    has_file ? print_file(*result) : print_synthetic(*result);
  }
  return kSuccess;
}

}  // namespace clbake::tool
