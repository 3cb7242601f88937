#include "command/tune_merge.hpp"

#include "cli/cli.hpp"

#include <clbake/builder/tuning_file.hpp>

#include <cstdio>

namespace clbake::tool {

int tune_merge(const std::vector<std::string>& files, bool force, bool brief, const std::string& output) {
  std::vector<builder::NamedTuning> profiles;
  std::string command = "clbake tune --merge ";
  for (const std::string& file : files) {
    Result<builder::Tuning> tuning = builder::read_tuning(file);
    if (!tuning) return fail("tune", tuning.status().within("--merge"));
    command += (profiles.empty() ? "" : ",") + file;
    profiles.push_back({file, std::move(*tuning)});
  }
  if (profiles.empty()) throw UsageError("--merge: no profile given");
  const bool single = profiles.size() == 1;
  Result<builder::Tuning> merged = single ? profiles[0].tuning : builder::merge(profiles, force);
  if (!merged) return fail("tune", merged.status().within("--merge"));
  if (single) {
    // This version may choose better than the one that wrote the profile.
    if (!builder::is_brief(*merged)) builder::fit(*merged);
  } else {
    merged->command = command + (force ? " --force" : "") + " -o " + output;
  }
  const Status written = builder::write_tuning(output, brief ? builder::brief(*merged) : *merged);
  if (!written) return fail("tune", written);
  std::printf("%s: %s joined, %s timed on %s, %u tried%s\n", output.c_str(),
              counted(profiles.size(), "profile").c_str(), counted(merged->variants.size(), "variant").c_str(),
              counted(merged->shapes.size(), "shape").c_str(), merged->tried,
              merged->complete ? "" : "; not complete: a shard is missing or was interrupted");
  return kSuccess;
}

}  // namespace clbake::tool
