// `clbake bench bundle`: what the file format costs, without any driver unless programs are loaded.
#include "bench/bench.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/release/signing.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/cache/writer.hpp>

#include <algorithm>
#include <cstdio>

namespace clbake::tool {
namespace {

// The median time of a call, in microseconds.
double median_us(std::size_t rounds, const std::function<void()>& work) {
  std::vector<double> times;
  for (std::size_t round = 0; round < rounds; ++round) times.push_back(time_us(work));
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

// Opening, and finding random entries, in made-up bundles of 100 entries and more.
Json measure_search(std::size_t most, std::size_t rounds) {
  const builder::process::ScratchDirectory scratch = need(builder::process::ScratchDirectory::create());
  const std::string path = scratch.path() + "/search.clbake";
  Json search = Json::array();
  for (std::size_t count = 100; count <= most; count *= 100) {
    const auto targets = static_cast<std::uint32_t>(std::max<std::size_t>(1, count / 1000));
    const auto variants = static_cast<std::uint32_t>(count / targets);
    const cache::Bytes bytes = need(cache::encode(made_up(targets, variants), cache::Packing::plain));
    need(cache::write_file(path, {bytes.data(), bytes.size()}));
    const Bundle bundle = need(Bundle::open(path));
    std::size_t next = 0, missing = 0;
    const auto find_hundred = [&] {  // one takes little longer than reading the clock
      for (std::size_t i = 0; i < 100; ++i) {
        const std::size_t entry = next++ * 2654435761U % count;
        const auto target = static_cast<std::uint32_t>(entry / variants);
        missing += bundle.find_entry(target, static_cast<std::uint32_t>(entry % variants)) ? 0 : 1;
      }
    };
    search.push_back({{"entries", bundle.entry_count()},
                      {"open_us", median_us(rounds, [&] { (void)Bundle::open(path); })},
                      {"find_us", median_us(rounds, find_hundred) / 100}});
    if (missing > 0) throw Failure(counted(missing, "entry") + " not found");
  }
  return {{"search", search}};
}

// A policy that the bundle satisfies: the keys that signed it or, if none did, its digest. Null where there is nothing
// to trust: without digests, or without libsodium.
std::shared_ptr<const Trust> trust_of_itself(const Bundle& bundle) {
  const Result<std::string> identity = builder::release::identity_text(bundle);
  const Result<std::vector<builder::release::SignatureReport>> signatures = builder::release::signatures_of(bundle);
  if (!identity || !signatures) return nullptr;
  std::vector<std::string> keys;
  for (const builder::release::SignatureReport& signature : *signatures) {
    if (signature.valid) keys.push_back(signature.public_key);
  }
  const Result<std::shared_ptr<const Trust>> trust =
      keys.empty() ? builder::release::trusted_digest(*identity) : builder::release::trusted_keys(keys, 0);
  return trust ? *trust : nullptr;
}

// Sizes of the bundle and of its programs, each compressed alone; and the time to find, verify and decompress each of
// them, also under a policy of trust.
Json measure_file(const std::string& file, std::size_t rounds) {
  const Bundle bundle = open_verified(file);
  const cache::Bytes alone = need(cache::encode(need(bundle.decode())));
  const std::shared_ptr<const Trust> trust = trust_of_itself(bundle);
  const Bundle trusted = trust ? need(trust->admit(bundle)) : bundle;
  Json programs = Json::array();
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    const cache::EntryInfo entry = need(bundle.entry(i), file);
    const auto read_us = [&](const Bundle& from) {
      return median_us(rounds, [&] {
        const Result<cache::EntryInfo> found = from.find_entry(entry.target, entry.variant, entry.form);
        (void)from.program(*found);
      });
    };
    programs.push_back({{"program", need(bundle.variant(entry.variant), file).name},
                        {"target", entry.target},
                        {"compressed", entry.program.dictionary != 0 ? "with a dictionary" : "alone"},
                        {"raw_bytes", entry.program.raw_bytes},
                        {"stored_bytes", entry.program.stored_bytes},
                        {"read_us", read_us(bundle)},
                        {"trusted_us", trust ? Json(read_us(trusted)) : Json()}});
  }
  const auto admit = [&] { (void)trust->admit(bundle); };
  return {{"file", file},
          {"bytes", bundle.size_bytes()},
          {"alone_bytes", alone.size()},
          {"ratio", static_cast<double>(bundle.size_bytes()) / static_cast<double>(alone.size())},
          {"open_us", median_us(rounds, [&] { (void)Bundle::open(file); })},
          {"trust_us", trust ? Json(median_us(rounds, admit)) : Json()},
          {"programs", programs}};
}

// Loads one program, which the library does not have yet.
Explanation load_once(const Library& library, const cache::Variant& variant) {
  if (variant.is_program()) return need(library.program(variant.name), variant.name).explanation();
  const Problem problem = builder::tight_problem(variant.precision, 1, 1, 1, variant.trans_a, variant.trans_b);
  return need(library.prepare(problem, variant.name), variant.name).explanation();
}

// A row for each program of the bundle for the device: the driver's calls, Library::prepare or Library::program as a
// whole, and the share of the driver's time that clbake adds. Medians over `rounds` loads in new libraries.
Json measure_loads(const std::string& file, const std::string& spec, std::size_t rounds) {
  const Bundle bundle = open_verified(file);
  const BenchDevice on = open_device(bundle, spec);
  const std::uint32_t target = need(bundle.find_target(on.device.target), file);
  struct Load {
    cache::Variant variant;
    std::vector<double> driver_us = {}, prepare_us = {};
  };
  std::vector<Load> loads;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    if (bundle.find_entry(target, i)) loads.push_back({need(bundle.variant(i), file)});
  }
  if (loads.empty()) throw Failure(file + ": has no program for " + on.device.target.device_name);
  Options options;
  options.on_miss = OnMiss::fail;
  options.only_build = true;
  load_once(open_library(on, bundle, options), loads[0].variant);  // the driver's first is like no other
  for (std::size_t round = 0; round < rounds; ++round) {
    // Opened anew, so that nothing of the file is kept yet.
    const Library library = open_library(on, need(Bundle::open(file)), options);
    for (Load& load : loads) {
      Explanation e;
      load.prepare_us.push_back(time_us([&] { e = load_once(library, load.variant); }));
      load.driver_us.push_back(e.create_us + e.build_us + e.kernel_us);
    }
  }
  Json rows = Json::array();
  for (const Load& load : loads) {
    const double driver = builder::median(load.driver_us), prepare = builder::median(load.prepare_us);
    rows.push_back({{"program", load.variant.name},
                    {"driver_us", driver},
                    {"prepare_us", prepare},
                    {"share", (prepare - driver) / driver}});
  }
  return rows;
}

void print_bundle(const Json& result) {
  if (result.contains("search")) return print_table(result["search"]);
  std::printf("%s: %zu bytes, %.3f of the %zu with each program compressed alone; opened in %.1f us\n",
              result["file"].get<std::string>().c_str(), result["bytes"].get<std::size_t>(),
              result["ratio"].get<double>(), result["alone_bytes"].get<std::size_t>(), result["open_us"].get<double>());
  if (!result["trust_us"].is_null()) std::printf("trusted in %.1f us more\n", result["trust_us"].get<double>());
  for (const char* table : {"programs", "loads"}) {
    if (!result.contains(table)) continue;
    std::printf("\n");
    print_table(result[table]);
  }
}

}  // namespace

int bench_bundle(const std::vector<std::string>& arguments) {
  Cli cli("bench bundle [FILE] [OPTIONS]",
          "With FILE: the size of the bundle, beside that of its programs compressed one by one, and the time\n"
          "to find, verify and decompress a program, also under a policy of trust, if it has digests. Without:\n"
          "the times to open made-up bundles and to find an entry in them. Times are medians. Needs an OpenCL\n"
          "device only with --load.");
  cli.add_flag("load", "with FILE: also load each program, beside the driver's own time");
  cli.add_device("; with --load");
  cli.add_value("entries", "N", "of the largest made-up bundle: 100, 10000 or 1000000, the default");
  cli.add_value("rounds", "N", "times that each thing is done; default 101, loading 7");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::size_t rounds = cli.size("rounds", 101, 1, 100000);
  const std::size_t entries = cli.size("entries", 1000000, 100, 1000000);
  const std::string file = cli.file();
  if (cli.has("load") && file.empty()) throw UsageError("--load: FILE is missing");
  Json result = file.empty() ? measure_search(entries, rounds) : measure_file(file, rounds);
  if (cli.has("load")) result["loads"] = measure_loads(file, cli.text("device"), cli.size("rounds", 7));
  cli.has("json") ? print(result) : print_bundle(result);
  return kSuccess;
}

}  // namespace clbake::tool
