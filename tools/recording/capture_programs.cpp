#include "recording/capture_programs.hpp"

#include "cli/cli.hpp"
#include "recording/recording.hpp"

namespace clbake::tool {
namespace {

// The kernels that no trial runs, or not all that were recorded, and why.
Json untried_of(const Recording& recording) {
  Json rows = Json::array();
  for (const RecordedProgram& program : recording.programs()) {
    for (const RecordedKernel& kernel : program.kernels) {
      if (!kernel.trials.empty() && !kernel.is_refused) continue;
      Json reasons = kernel.untried;
      if (kernel.sizes.empty()) reasons = {"it was not launched"};
      if (reasons.empty()) reasons = {"its launch had not ended"};
      rows.push_back({{"kernel", kernel.name}, {"why", reasons}});
    }
  }
  return rows;
}

Json summary_of(const Recording& recording, const std::string& output) {
  std::size_t kernels = 0, sizes = 0, trials = 0;
  for (const RecordedProgram& program : recording.programs()) {
    for (const RecordedKernel& kernel : program.kernels) {
      ++kernels;
      sizes += kernel.sizes.size();
      trials += kernel.trials.size();
    }
  }
  return {{"file", output + "/programs.json"},
          {"programs", recording.programs().size()},
          {"kernels", kernels},
          {"sizes", sizes},
          {"trials", trials},
          {"untried", untried_of(recording)},
          {"notes", recording.notes()}};
}

}  // namespace

Json capture_programs(const std::vector<std::string>& directories, const std::string& output) {
  Recording recording;
  for (const std::string& directory : directories) recording.add(directory);
  if (recording.programs().empty()) {
    const std::string notes = joined(recording.notes());
    throw Failure("no OpenCL program was recorded" + (notes.empty() ? ": none was built from source" : notes));
  }
  recording.list_kernels();
  recording.write(output);
  return summary_of(recording, output);
}

void print_summary(std::FILE* to, const Json& summary) {
  constexpr std::size_t kMostLines = 20;
  const auto count = [&](const char* key, const char* noun) { return counted(summary[key].get<std::size_t>(), noun); };
  std::fprintf(to, "%s: %s, %s, %s, %s\n", summary["file"].get<std::string>().c_str(),
               count("programs", "program").c_str(), count("kernels", "kernel").c_str(),
               count("sizes", "local size").c_str(), count("trials", "trial").c_str());
  std::size_t lines = 0;
  for (const Json& row : summary["untried"]) {
    if (++lines > kMostLines) continue;
    std::fprintf(to, "untried: kernel %s: %s\n", row["kernel"].get<std::string>().c_str(),
                 printable(cell_text(row["why"])).c_str());
  }
  if (lines > kMostLines) std::fprintf(to, "untried: %s more\n", counted(lines - kMostLines, "kernel").c_str());
  for (const Json& note : summary["notes"]) std::fprintf(to, "note: %s\n", printable(note.get<std::string>()).c_str());
}

}  // namespace clbake::tool
