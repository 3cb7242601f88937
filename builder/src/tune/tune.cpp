#include <clbake/builder/tune.hpp>

#include "device/worker_calls.hpp"
#include "process/work_directory.hpp"
#include "tune/search.hpp"

#include <nlohmann/json.hpp>

#include <ctime>
#include <filesystem>

namespace clbake::builder {
namespace {

constexpr const char* kJournal = "/tuning.journal";

// Whatever decides which variants are tried and what their times mean, on one line.
std::string settings_of(const TuneOptions& options) {
  const Target& t = options.devices.front().target;
  nlohmann::json shapes = nlohmann::json::array();
  for (const Shape& shape : options.shapes.list) shapes.push_back(name(shape));
  nlohmann::json kinds = nlohmann::json::array();
  for (const Precision precision : options.precisions) kinds.push_back(clbake::name(precision));
  for (const auto& [a, b] : options.transposes) kinds.push_back(std::string(a ? "t" : "n") + (b ? "t" : "n"));
  for (const kernels::Family family : options.families) kinds.push_back(kernels::name(family));
  return nlohmann::json{{"tool", kTool},
                        {"target",
                         {t.platform_name, t.platform_version, t.vendor, t.device_name, t.device_version,
                          t.driver_version, t.architecture, t.address_bits}},
                        {"kinds", kinds},
                        {"shapes", shapes},
                        {"grid", options.shapes.grid.size()},
                        {"strategy", name(options.strategy)},
                        {"budget", options.budget.count()},
                        {"seed", options.seed},
                        {"shard", {options.shard, options.shards}}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Status check_options(const TuneOptions& options) {
  if (options.devices.empty() || options.precisions.empty() || options.transposes.empty() || options.families.empty() ||
      options.shapes.list.empty() || options.shapes.probes.empty()) {
    return {Code::invalid_argument, "no device, precision, transposes, family or shape to tune for"};
  }
  if (options.shard < 1 || options.shard > options.shards) {
    return {Code::invalid_argument, "shard " + std::to_string(options.shard) + " of " + std::to_string(options.shards) +
                                        ": there are shards 1 to " + std::to_string(options.shards)};
  }
  const Target& first = options.devices.front().target;
  for (const Device& device : options.devices) {
    if (device.target == first) continue;
    return {Code::invalid_argument, "the devices are not identical: " + first.device_name + " and " +
                                        device.target.device_name + "; tune them one after the other"};
  }
  return {};
}

}  // namespace

Result<Tuning> tune(const TuneOptions& options, const std::atomic<bool>& cancel,
                    const std::function<void(const TuneProgress&)>& progress) {
  const Status possible = check_options(options);
  if (!possible) return possible;
  if (options.fresh) forget_tuning(options.work);
  const Result<WorkDirectory> work = WorkDirectory::open(options.work);
  if (!work) return work.status();
  std::error_code error;
  std::filesystem::create_directory(options.work + "/clbake-cache", error);
  if (error) return {Code::io, options.work + "/clbake-cache: cannot create: " + error.message()};
  Result<Journal> journal = Journal::open(options.work + kJournal, settings_of(options));
  if (!journal) return journal.status();
  Result<Tuning> tuning = Search(options, std::move(*journal), cancel, progress).run();
  if (!tuning) return tuning;
  tuning->target = options.devices.front().target;
  tuning->compute_units = options.devices.front().compute_units;
  tuning->tool = kTool;
  tuning->command = options.command;
  tuning->date = utc_now();
  tuning->strategy = name(options.strategy);
  tuning->seed = options.seed;
  tuning->shard = options.shard;
  tuning->shards = options.shards;
  tuning->budget_s = options.budget.count();
  fit(*tuning);
  return tuning;
}

void forget_tuning(const std::string& work) {
  const Result<WorkDirectory> directory = WorkDirectory::open(work);
  if (directory) directory->remove();
}

const char* name(Strategy strategy) {
  switch (strategy) {
    case Strategy::staged: return "staged";
    case Strategy::random: return "random";
    case Strategy::exhaustive: break;
  }
  return "exhaustive";
}

}  // namespace clbake::builder
