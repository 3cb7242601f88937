#include "command/tune_merge.hpp"

#include "cli/cli.hpp"

#include <clbake/builder/tuning_file.hpp>

#include <cstdio>

namespace clbake::tool {

int tune_merge(const std::vector<std::string>& files, bool force, bool brief, const std::string& output) {
  std::vector<builder::NamedTuning> profiles;
  std::string command = "clbake tune --merge ";
  for (const std::string& file : files) {
    command += (profiles.empty() ? "" : ",") + file;
    profiles.push_back({file, need(builder::read_tuning(file), "--merge")});
  }
  if (profiles.empty()) throw UsageError("--merge: no profile given");
  const bool single = profiles.size() == 1;
  builder::Tuning merged = single ? profiles[0].tuning : need(builder::merge(profiles, force), "--merge");
  if (single) {
    // This version may choose better than the one that wrote the profile.
    if (!builder::is_brief(merged)) builder::fit(merged);
  } else {
    merged.command = command + (force ? " --force" : "") + " -o " + output;
  }
  need(builder::write_tuning(output, brief ? builder::brief(merged) : merged));
  std::printf("%s: %s joined, %s timed on %s, %u tried%s\n", output.c_str(),
              counted(profiles.size(), "profile").c_str(), counted(merged.variants.size(), "variant").c_str(),
              counted(merged.shapes.size(), "shape").c_str(), merged.tried,
              merged.complete ? "" : "; not complete: a shard is missing or was interrupted");
  return kSuccess;
}

}  // namespace clbake::tool
