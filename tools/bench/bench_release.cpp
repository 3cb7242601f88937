// `clbake bench release`: time of the verbs that look at a bundle before it is released.
#include "bench/synthetic_bundle.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/cache/writer.hpp>

#include <algorithm>
#include <cstdio>

namespace clbake::tool {
namespace {

struct Timed {
  std::string name;
  std::vector<std::string> arguments;
  std::vector<double> ms;
};

Status write(const std::string& path, const cache::Contents& contents) {
  const Result<cache::Bytes> bytes = cache::encode(contents);
  return bytes ? cache::write_file(path, {bytes->data(), bytes->size()}) : bytes.status();
}

// The next release: one target less, every tenth program another one, another profile.
void change(cache::Contents& contents) {
  contents.entries.erase(std::remove_if(contents.entries.begin(), contents.entries.end(),
                                        [](const cache::Entry& entry) { return entry.target == 0; }),
                         contents.entries.end());
  for (std::size_t i = 0; i < contents.entries.size(); i += 10) contents.entries[i].program.push_back(1);
  for (cache::CostModel& model : contents.profiles.back().models) model.call_us *= 1.5F;
}

Status write_files(const SyntheticSettings& settings, std::size_t problems, const std::string& directory) {
  cache::Contents contents = synthetic_bundle(settings);
  Status status = write(directory + "/a.clbake", contents);
  change(contents);
  if (status) status = write(directory + "/b.clbake", contents);
  std::string all, ten;
  for (const builder::Shape& shape : synthetic_shapes(settings, problems)) {
    all += weighted_name(shape) + "\n";
    if (std::count(ten.begin(), ten.end(), '\n') < 10) ten += weighted_name(shape) + "\n";
  }
  const auto write_text = [&](const char* name, const std::string& text) {
    if (status) {
      status = cache::write_file(directory + name, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    }
  };
  write_text("/shapes.txt", all);
  write_text("/ten.txt", ten);
  return status;
}

// A process each, from its start to its end. check and diff may find that something is missing, or differs.
Status time_in_turns(std::vector<Timed>& verbs, std::size_t rounds, const std::string& log) {
  for (std::size_t round = 0; round <= rounds; ++round) {  // the first one warms up
    for (Timed& verb : verbs) {
      std::vector<std::string> arguments = {builder::own_path()};
      arguments.insert(arguments.end(), verb.arguments.begin(), verb.arguments.end());
      const builder::Command command{arguments, {}, log};
      const Result<builder::TimedExit> ended = builder::run_timed(command);
      if (!ended) return ended.status();
      const builder::Exit& exit = ended->exit;
      if (exit.signal != 0 || (exit.code != kSuccess && exit.code != kLeftOut && exit.code != 1)) {
        return {Code::io, verb.name + ": " + describe(exit, command, std::chrono::seconds(0))};
      }
      if (round > 0) verb.ms.push_back(ended->ms);
    }
  }
  return {};
}

}  // namespace

int bench_release(const std::vector<std::string>& arguments) {
  Cli cli("bench release [OPTIONS]",
          "Times 'check', 'diff', 'prune', 'verify' and 'inspect --summary', each as a process, on made-up bundles:\n"
          "medians in milliseconds. Needs no OpenCL device.");
  cli.add_value("problems", "N", "default 1000");
  cli.add_value("targets", "N", "default 100");
  cli.add_value("variants", "N", "variants of each of 12 kinds; each has an entry for nearly every target; default 8");
  cli.add_value("program-bytes", "N", "bytes of a program; default 4096");
  cli.add_value("rounds", "N", "default 5");
  cli.add_value("keep", "DIR",
                "write the bundles and the shapes to this directory, which exists, and leave them there");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  SyntheticSettings settings;
  settings.targets = cli.size("targets", 100, 2, 10000);
  settings.kinds = kKinds;
  settings.variants_of_kind = cli.size("variants", 8, 1, 256);
  settings.program_bytes = cli.size("program-bytes", 4096, 1, std::size_t{1} << 24);
  const std::size_t problems = cli.size("problems", 1000, 10, 10000);
  const std::size_t rounds = cli.size("rounds", 5, 1, 1000);
  const Result<builder::ScratchDirectory> scratch = builder::ScratchDirectory::create();
  if (!scratch) return fail("bench release", scratch.status());
  const std::string directory = cli.text("keep", scratch->path().c_str());
  const Status written = write_files(settings, problems, directory);
  if (!written) return fail("bench release", written);

  const std::string a = directory + "/a.clbake", b = directory + "/b.clbake", shapes = directory + "/shapes.txt";
  std::vector<Timed> verbs = {
      {"check", {"check", a, "--shapes", shapes}, {}},
      {"diff", {"diff", a, b}, {}},
      {"diff --shapes", {"diff", a, b, "--shapes", shapes}, {}},
      {"prune",
       {"prune", a, "-o", directory + "/pruned.clbake", "--shapes", directory + "/ten.txt", "--target", "1"},
       {}},
      {"verify", {"verify", a}, {}},
      {"inspect --summary", {"inspect", a, "--summary"}, {}}};
  const Status timed = time_in_turns(verbs, rounds, scratch->path() + "/log");
  if (!timed) return fail("bench release", timed);
  const Result<Bundle> bundle = Bundle::open(a);
  if (!bundle) return fail("bench release", bundle.status());
  Json rows = Json::array();
  for (const Timed& verb : verbs) rows.push_back({{"verb", verb.name}, {"ms", builder::median(verb.ms)}});
  if (cli.has("json")) {
    print({{"problems", problems},
           {"targets", settings.targets},
           {"entries", bundle->entry_count()},
           {"bytes", bundle->size_bytes()},
           {"rounds", rounds},
           {"rows", rows}});
    return kSuccess;
  }
  std::printf("%zu problems, %zu targets, %u entries, %s\n%10s  verb\n", problems, settings.targets,
              bundle->entry_count(), size_text(bundle->size_bytes()).c_str(), "ms");
  for (const Json& row : rows) {
    std::printf("%10.1f  %s\n", row["ms"].get<double>(), row["verb"].get<std::string>().c_str());
  }
  return kSuccess;
}

}  // namespace clbake::tool
