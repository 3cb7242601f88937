// `clbake bench bundle`: what the file format costs, without any driver unless programs are loaded.
#include "bench/bench_device.hpp"
#include "bench/bundle_loads.hpp"
#include "bench/synthetic_drivers.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "cli/progress_bar.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/merge_bundles.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/cache/pack.hpp>
#include <clbake/cache/writer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace clbake::tool {
namespace {

constexpr std::size_t kProgramBytes = 16384;  // of a made-up bundle that is merged

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

Status write(const std::string& path, const Result<cache::Bytes>& bytes) {
  return bytes ? cache::write_file(path, {bytes->data(), bytes->size()}) : bytes.status();
}

// Opening, and finding random entries, in a bundle of this many entries.
Result<Json> time_search(const std::string& directory, std::uint32_t targets, std::uint32_t variants,
                         std::size_t rounds) {
  const std::string path = directory + "/search.clbake";
  const Status written = write(path, cache::encode(synthetic_drivers(targets, variants, 8), cache::Packing::plain));
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

// Joining `count` bundles of `count` entries, each for a driver of its own, from file to file.
Result<Json> time_merge(const std::string& directory, std::uint32_t count) {
  std::size_t bytes_in = 0;
  ProgressBar bar;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Result<cache::Bytes> bytes = cache::pack(synthetic_drivers(1, count, kProgramBytes, i));
    const Status written = write(directory + "/part-" + std::to_string(1000 + i) + ".clbake", bytes);
    if (!written) return written;
    bytes_in += bytes->size();
    bar.show_time(i + 1, count, "making bundles to join");
  }
  bar.clear();
  std::size_t bytes_out = 0;
  Status status;
  const double time_us = microseconds_of([&] {
    std::vector<builder::NamedBundle> bundles;
    std::vector<std::string> left_out;
    status = builder::read_bundles(directory, bundles, left_out);
    const Result<cache::Bytes> merged = cache::pack(builder::merge_bundles(std::move(bundles)).contents);
    if (status) status = write(directory + "/merged", merged);
    bytes_out = merged ? merged->size() : 0;
  });
  if (!status) return status;
  return Json{{"bundles", count},
              {"entries", std::size_t{count} * count},
              {"program_bytes", kProgramBytes},
              {"bytes_in", bytes_in},
              {"bytes", bytes_out},
              {"merge_s", time_us / 1e6}};
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

// What the programs of a bundle take there, and when each is compressed alone.
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
  const Json& merge = result["merge"];
  std::printf("merging %zu bundles, %zu entries of %zu bytes: %.1f s; %zu bytes became %zu\n",
              merge["bundles"].get<std::size_t>(), merge["entries"].get<std::size_t>(), kProgramBytes,
              merge["merge_s"].get<double>(), merge["bytes_in"].get<std::size_t>(), merge["bytes"].get<std::size_t>());
}

Result<Json> measure_synthetic(std::size_t entries, std::uint32_t bundles, std::size_t rounds) {
  const Result<builder::ScratchDirectory> scratch = builder::ScratchDirectory::create();
  if (!scratch) return scratch.status();
  Json search = Json::array();
  for (std::size_t count = 100; count <= entries; count *= 100) {
    const auto targets = static_cast<std::uint32_t>(std::max<std::size_t>(1, count / 1000));
    const Result<Json> row = time_search(scratch->path(), targets, static_cast<std::uint32_t>(count / targets), rounds);
    if (!row) return row.status();
    search.push_back(*row);
  }
  const Result<builder::ScratchDirectory> parts = builder::ScratchDirectory::create();
  if (!parts) return parts.status();
  const Result<Json> merge = time_merge(parts->path(), bundles);
  if (!merge) return merge.status();
  return Json{{"search", search}, {"merge", *merge}};
}

}  // namespace

int bench_bundle(const std::vector<std::string>& arguments) {
  Cli cli(
      "bench bundle [FILE] [OPTIONS]",
      "With FILE: the size of the bundle, beside that of its programs compressed one by one, and the time to find,\n"
      "verify and decompress a program, also under a policy of trust, if it has digests. Without: the times to open\n"
      "made-up bundles, to find an entry in them and to join many bundles into one. Times are medians. Needs an\n"
      "OpenCL device only with --load.");
  cli.add_flag("load", "with FILE: also load each program, beside the driver's own time");
  cli.add_device("; with --load");
  cli.add_value("entries", "N", "of the largest made-up bundle: 100, 10000 or 1000000, the default");
  cli.add_value("bundles", "N", "that are joined, each with as many entries; default 100");
  cli.add_value("rounds", "N", "times that each thing is done; default 101");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::size_t rounds = cli.size("rounds", 101, 1, 100000);
  const std::size_t entries = cli.size("entries", 1000000, 100, 1000000);
  const auto bundles = static_cast<std::uint32_t>(cli.size("bundles", 100, 1, 1000));
  const bool has_file = !cli.file().empty();
  if (cli.has("load") && !has_file) throw UsageError("--load: FILE is missing");
  Result<Json> result = has_file ? measure_file(cli.file(), rounds) : measure_synthetic(entries, bundles, rounds);
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
