#include <clbake/builder/tune.hpp>

#include <clbake/builder/scratch.hpp>
#include "process/need.hpp"
#include "process/target_json.hpp"
#include "tune/search.hpp"

#include <algorithm>

namespace clbake::builder::tune {
using namespace process;
namespace {

template <typename T, typename Name>
std::string joined(const std::vector<T>& items, const Name& name_of) {
  std::string text;
  for (const T& item : items) text += (text.empty() ? "" : ",") + std::string(name_of(item));
  return text;
}

// All that decides which variants are tried and what their times mean, by the name of the option, on one line: a
// journal is of use only with the same settings.
std::string settings_of(const TuneOptions& options) {
  return nlohmann::ordered_json{
      {"clbake", "clbake " CLBAKE_VERSION},
      {"device", target_json(options.devices.front().target)},
      {"precision and transposes", joined(options.kinds, kind_name)},
      {"family", joined(options.families, [](kernels::Family f) { return kernels::name(f); })},
      {"shapes", joined(options.shapes.list, weighted_name)},
      {"grid", options.shapes.grid.size()},
      {"prior", joined(options.prior.variants, [](const std::string& variant) { return variant; })},
      {"strategy", name(options.strategy)},
      {"variant", joined(options.variants, [](const kernels::Params& params) { return kernels::name(params); })},
      {"budget", options.budget.count()},
      {"seed", options.seed},
      {"shard", std::to_string(options.shard) + "/" + std::to_string(options.shards)}}
      .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void check_options(const TuneOptions& options) {
  if (options.devices.empty() || options.kinds.empty() || options.families.empty()) {
    throw Failure({Code::invalid_argument, "no device, precision, transposes or family to tune for"});
  }
  for (const GemmKind& kind : options.kinds) {
    const TuneShapes& shapes = options.shapes;
    const bool probed = std::any_of(shapes.probes.begin(), shapes.probes.end(), [&](std::size_t probe) {
      return probe < shapes.list.size() && shapes.list[probe].kind() == kind;
    });
    if (!probed) throw Failure({Code::invalid_argument, "no shape of " + kind_name(kind) + " to tune for"});
  }
  if (options.shard < 1 || options.shard > options.shards) {
    throw Failure({Code::invalid_argument, "shard " + std::to_string(options.shard) + " of " +
                                               std::to_string(options.shards) + ": there are shards 1 to " +
                                               std::to_string(options.shards)});
  }
  const Target& first = options.devices.front().target;
  for (const Device& device : options.devices) {
    if (!(device.target == first)) {
      throw Failure({Code::invalid_argument, "the devices are not identical: " + first.device_name + " and " +
                                                 device.target.device_name + "; tune them one after the other"});
    }
  }
}

void sign(const TuneOptions& options, profile::Tuning& tuning) {
  tuning.target = options.devices.front().target;
  tuning.compute_units = options.devices.front().compute_units;
  tuning.tool = "clbake " CLBAKE_VERSION;
  tuning.command = options.command;
  tuning.date = profile::utc_now();
  tuning.strategy = name(options.strategy);
  tuning.seed = options.seed;
  tuning.shard = options.shard;
  tuning.shards = options.shards;
  tuning.budget_s = options.budget.count();
}

}  // namespace

Result<profile::Tuning> run(const TuneOptions& options, const std::atomic<bool>& cancel,
                            const std::function<void(const TuneProgress&)>& progress) try {
  check_options(options);
  if (options.fresh) forget(options.work);
  const WorkDirectory work = need(WorkDirectory::open(options.work));  // locked as long as it lives
  Journal journal = need(Journal::open(options.work + "/tuning.journal", settings_of(options)));
  profile::Tuning tuning = Search(options, journal, cancel, progress).run();
  sign(options, tuning);
  profile::fit(tuning);
  return tuning;
} catch (const Failure& failure) {
  return failure.status;
}

void forget(const std::string& work) {
  Result<WorkDirectory> directory = WorkDirectory::open(work);
  if (directory) directory->remove();
}

const char* name(Strategy strategy) {
  constexpr const char* names[] = {"staged", "exhaustive", "variants"};
  return names[static_cast<std::size_t>(strategy)];
}

}  // namespace clbake::builder::tune
