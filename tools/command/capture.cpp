#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/build.hpp>
#include <clbake/builder/shape/shapes_file.hpp>

#include <cstdio>

namespace clbake::tool {
namespace {

struct Captured {
  std::vector<builder::Shape> shapes;
  std::size_t recordings = 0;
  std::size_t problems = 0;           // before --top
  double calls = 0;                   // of all problems
  std::vector<std::string> left_out;  // recordings, and why
  std::vector<std::string> torn;      // recordings without the end of their last line
};

Captured read_all(const std::vector<std::string>& files) {
  Captured all;
  std::vector<builder::Recording> recordings;
  for (const std::string& file : files) {
    Result<builder::Recording> recording = builder::read_recording(file);
    if (!recording) {
      all.left_out.push_back(recording.status().message());
      continue;
    }
    if (recording->torn) all.torn.push_back(file);
    recordings.push_back(std::move(*recording));
  }
  all.recordings = recordings.size();
  all.shapes = builder::joined(recordings);
  all.problems = all.shapes.size();
  for (const builder::Shape& shape : all.shapes) all.calls += shape.weight;
  return all;
}

void print_report(const Captured& all, const std::string& output, bool json) {
  double kept = 0;
  for (const builder::Shape& shape : all.shapes) kept += shape.weight;
  if (json) {
    print({{"file", output},
           {"recordings", all.recordings},
           {"problems", all.problems},
           {"calls", all.calls},
           {"kept_problems", all.shapes.size()},
           {"kept_calls", kept},
           {"torn", all.torn},
           {"left_out", all.left_out}});
    return;
  }
  std::printf("%s: %s; %s, %.0f calls\n", output.c_str(), counted(all.recordings, "recording").c_str(),
              counted(all.problems, "problem").c_str(), all.calls);
  if (all.shapes.size() == all.problems) return;
  std::printf("kept: the %zu most called, with %.1f %% of the calls\n", all.shapes.size(), 100 * kept / all.calls);
}

}  // namespace

int capture(const std::vector<std::string>& arguments) {
  Cli cli("capture FILE... -o FILE [OPTIONS]",
          "Makes a shapes file, for 'tune --shapes' and others, of recordings of running applications: what the\n"
          "runtime's write_recording wrote, of any number of processes and machines. A problem's weight is the\n"
          "number of its calls. A last line without an end, as a killed process may leave it, is left out. A\n"
          "recording with another bad line is left out and named; the exit status is then 3. Needs no OpenCL\n"
          "device.");
  cli.add_required("output,o", "FILE", "the shapes file to write");
  cli.add_value("top", "N", "keep only the N problems that were called most");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::size_t top = cli.size("top", SIZE_MAX, 1);
  const std::string output = behind_links(cli.text("output"));
  check_not_input(output, cli.files());
  Captured all = read_all(cli.files());
  for (const std::string& file : all.torn) {
    std::fprintf(stderr, "clbake capture: %s: the last line has no end and was left out\n", file.c_str());
  }
  if (all.recordings == 0) throw Failure(all.left_out.front());
  for (const std::string& line : all.left_out) std::fprintf(stderr, "clbake capture: left out: %s\n", line.c_str());
  if (all.shapes.empty()) throw Failure("no call was recorded");
  if (all.shapes.size() > top) all.shapes.resize(top);
  const std::string text = builder::shapes_text(all.shapes, "Written by 'clbake capture'. Weights: numbers of calls.");
  if (text.size() > builder::kMostShapesBytes) {
    throw Failure(counted(all.shapes.size(), "problem") +
                  " make a shapes file of more than 64 MiB, which nothing reads: keep fewer with --top");
  }
  write_text(output, text);
  print_report(all, output, cli.has("json"));
  return all.left_out.empty() ? kSuccess : kLeftOut;
}

}  // namespace clbake::tool
