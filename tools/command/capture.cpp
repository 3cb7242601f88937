#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"
#include "recording/recording.hpp"

#include <clbake/builder/build.hpp>
#include <clbake/builder/shape/shapes_file.hpp>
#include <clbake/os/paths.hpp>

#include <cstdio>
#include <filesystem>

namespace clbake::tool {
namespace {

// Sets `shapes` to those of all recordings. "torn": recordings without the end of their last line; "left_out":
// unreadable ones, and why.
Json read_all(const std::vector<std::string>& files, std::vector<builder::Shape>& shapes) {
  std::vector<builder::Recording> recordings;
  Json torn = Json::array(), left_out = Json::array();
  for (const std::string& file : files) {
    Result<builder::Recording> recording = builder::read_recording(file);
    if (!recording) {
      left_out.push_back(recording.status().message());
      continue;
    }
    if (recording->torn) torn.push_back(file);
    recordings.push_back(std::move(*recording));
  }
  shapes = builder::joined(recordings);
  return {{"recordings", recordings.size()}, {"torn", torn}, {"left_out", left_out}};
}

double calls_of(const std::vector<builder::Shape>& shapes) {
  double calls = 0;
  for (const builder::Shape& shape : shapes) calls += shape.weight;
  return calls;
}

void print_text(const Json& json, const std::string& output) {
  const auto problems = json["problems"].get<std::size_t>(), kept = json["kept_problems"].get<std::size_t>();
  const auto calls = json["calls"].get<double>();
  std::printf("%s: %s; %s, %.0f calls\n", output.c_str(),
              counted(json["recordings"].get<std::size_t>(), "recording").c_str(), counted(problems, "problem").c_str(),
              calls);
  if (kept == problems) return;
  std::printf("kept: the %zu most called, with %.1f %% of the calls\n", kept,
              100 * json["kept_calls"].get<double>() / calls);
}

}  // namespace

int capture(const std::vector<std::string>& arguments) {
  Cli cli(
      "capture FILE... -o FILE [OPTIONS]",
      "Joins recordings. Of directories that 'record' wrote, or the layer: one directory with all of their\n"
      "programs, kernels, local sizes and trials, for 'build --programs'. It may be one of them.\n"
      "Of files: makes a shapes file, for 'tune --shapes' and others, of recordings of running applications: what the\n"
      "runtime's write_recording wrote, of any number of processes and machines. A problem's weight is the\n"
      "number of its calls. A last line without an end, as a killed process may leave it, is left out. A\n"
      "recording with another bad line is left out and named; the exit status is then 3. Needs no OpenCL\n"
      "device.");
  cli.add_required("output,o", "FILE", "the shapes file to write, or the directory");
  cli.add_value("top", "N", "keep only the N problems that were called most");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  if (std::filesystem::is_directory(os::native(cli.file()))) {
    if (cli.has("top")) throw UsageError("--top: recordings of programs have no problems to keep");
    const Json summary = capture_programs(cli.files(), cli.text("output"));
    cli.has("json") ? print(summary) : print_summary(stdout, summary);
    return kSuccess;
  }
  const std::size_t top = cli.size("top", SIZE_MAX, 1);
  const std::string output = behind_links(cli.text("output"));
  check_not_input(output, cli.files());
  std::vector<builder::Shape> shapes;
  Json json = read_all(cli.files(), shapes);
  for (const Json& file : json["torn"]) {
    std::fprintf(stderr, "clbake capture: %s: the last line has no end and was left out\n",
                 file.get<std::string>().c_str());
  }
  if (json["recordings"] == 0) throw Failure(json["left_out"][0].get<std::string>());
  for (const Json& line : json["left_out"]) {
    std::fprintf(stderr, "clbake capture: left out: %s\n", line.get<std::string>().c_str());
  }
  if (shapes.empty()) throw Failure("no call was recorded");
  json.update({{"file", output}, {"problems", shapes.size()}, {"calls", calls_of(shapes)}});
  if (shapes.size() > top) shapes.resize(top);
  json.update({{"kept_problems", shapes.size()}, {"kept_calls", calls_of(shapes)}});
  const std::string text = builder::shapes_text(shapes, "Written by 'clbake capture'. Weights: numbers of calls.");
  if (text.size() > builder::kMostShapesBytes) {
    throw Failure(counted(shapes.size(), "problem") +
                  " make a shapes file of more than 64 MiB, which nothing reads: keep fewer with --top");
  }
  write_text(output, text);
  cli.has("json") ? print(json) : print_text(json, output);
  return json["left_out"].empty() ? kSuccess : kLeftOut;
}

}  // namespace clbake::tool
