#include "command/tune_merge.hpp"

#include "cli/cli.hpp"

#include <clbake/builder/times.hpp>
#include <clbake/builder/tuning_file.hpp>

#include <cstdio>

namespace clbake::tool {

int tune_merge(const std::vector<std::string>& profiles, const std::string& output) {
  std::vector<builder::profile::NamedTuning> all;
  std::string command = "clbake tune --merge ";
  for (const std::string& file : profiles) {
    command += (all.empty() ? "" : ",") + file;
    all.push_back({file, need(builder::profile::read_tuning(file), "--merge")});
  }
  if (all.empty()) throw UsageError("--merge: no profile given");
  builder::profile::Tuning merged = need(builder::profile::merge(all), "--merge");
  merged.command = command + " -o " + output;
  need(builder::profile::write_tuning(output, merged));
  std::printf("%s: %s joined, %s timed on %s, %u tried%s\n", output.c_str(), counted(all.size(), "profile").c_str(),
              counted(merged.variants.size(), "variant").c_str(), counted(merged.shapes.size(), "shape").c_str(),
              merged.tried, merged.complete ? "" : "; not complete: a shard is missing or was interrupted");
  return kSuccess;
}

int tune_fit(const std::vector<std::string>& times, const std::string& output) {
  if (times.empty()) throw UsageError("--fit: no file given");
  builder::profile::Tuning tuning = need(builder::profile::read_times(times), "--fit");
  tuning.command = "clbake tune --fit";
  builder::profile::fit(tuning);
  need(builder::profile::write_tuning(output, builder::profile::brief(tuning)));
  std::printf("%s: %s for %s, from %s timed on %s\n", output.c_str(),
              counted(tuning.models.size(), "cost model").c_str(), tuning.target.device_name.c_str(),
              counted(tuning.variants.size(), "variant").c_str(), counted(tuning.shapes.size(), "problem").c_str());
  return kSuccess;
}

}  // namespace clbake::tool
