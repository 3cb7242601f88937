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
    if (!builder::is_brief(*merged))
      builder::fit(*merged);  // anew: this version may know better than the one that wrote it
  } else {
    merged->command = command + (force ? " --force" : "") + " -o " + output;
  }
  const Status written = builder::write_tuning(output, brief ? builder::brief(*merged) : *merged);
  if (!written) return fail("tune", written);
  std::printf("%s: %zu profiles, %zu variants on %zu shapes, %u tried%s\n", output.c_str(), profiles.size(),
              merged->variants.size(), merged->shapes.size(), merged->tried,
              merged->complete ? "" : "; not complete: a part is missing, or was interrupted");
  return kSuccess;
}

}  // namespace clbake::tool
