// The child processes of build, prove, tune, bench and work, each of which does one thing with a driver and writes the
// result to a file, where after a failure the last line on stderr is the cause; and the learner of programs that run
// under the layer. Users do not call them.
#include "bench/cold_worker.hpp"
#include "cli/cli.hpp"
#include "command/verbs.hpp"

#include <clbake/added_options.hpp>
#include <clbake/builder/compile.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/learn.hpp>
#include <clbake/builder/offline_targets.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/tune.hpp>
#include <clbake/os/libraries.hpp>
#include <clbake/os/line_channel.hpp>
#include <clbake/os/program.hpp>

#include <optional>
#include <sstream>

namespace clbake::tool {
namespace {

// Left by one job for the next of the same process.
struct Kept {
  std::optional<builder::compile::Place> place;
  builder::prove::Prover prover;
};

Status job(const std::vector<std::string>& a, Kept& kept) {
  using builder::compile::Stage;
  const auto compile = [&](Stage stage) { return builder::compile::compile_job(a[1], a[2], stage, kept.place); };
  if (a.size() == 3 && a[0] == "compile") return compile(Stage::first);
  if (a.size() == 3 && a[0] == "compile-tried") return compile(Stage::tried);
  if (a.size() == 3 && a[0] == "compile-plain") return compile(Stage::plain);
  if (a.size() == 3 && a[0] == "compile-offline") return builder::compile::compile_offline_job(a[1], a[2]);
  if (a.size() == 3 && a[0] == "compile-learned") return builder::learn::compile_learned(a[1], a[2]);
  if (a.size() == 4 && a[0] == "compile-learned") return builder::learn::compile_learned(a[1], a[2], std::stoul(a[3]));
  if (a.size() == 3 && a[0] == "prove-learned") return builder::learn::prove_learned(a[1], a[2]);
  if (a.size() == 5 && a[0] == "prove") return kept.prover.prove(a[1], a[2], a[3], a[4]);
  if (a.size() == 3 && a[0] == "control") return builder::prove::compile_on_purpose(a[1], a[2]);
  if (a.size() == 3 && a[0] == "time") return builder::tune::time_job(a[1], std::stoul(a[2]));
  if (a.size() == 8 && a[0] == "cold") return cold_worker(a), Status();
  return {Code::invalid_argument, "the worker does not know this job"};
}

// Jobs that the parent sends, until one fails.
Status serve() {
  os::ParentChannel parent;
  Kept kept;
  while (const std::optional<std::string> line = parent.receive()) {
    std::vector<std::string> words;
    std::istringstream rest(*line);
    for (std::string word; std::getline(rest, word, '\t');) words.push_back(word);
    const Status status = job(words, kept);
    if (!status) return status;
    const bool is_last = words[0] == "prove" && kept.prover.is_spent();
    parent.send(is_last ? builder::process::kLastLine : builder::process::kDoneLine);
  }
  return {};
}

Status perform(const std::vector<std::string>& arguments) {
  if (arguments.size() > 1 && arguments[0] == "command") {  // a verb, in a piece of work
    return builder::process::start_anew({arguments.begin() + 1, arguments.end()});
  }
  if (arguments == std::vector<std::string>{builder::process::kServe}) return serve();
  Kept kept;
  return job(arguments, kept);
}

}  // namespace

int worker(const std::vector<std::string>& arguments) try {
  os::end_with_parent();
  const Status status = perform(arguments);
  if (status) return kSuccess;
  fail(status.message());
  if (status.code() == Code::wrong_result) return builder::process::kWorkerWrongExit;
  return status.code() == Code::io ? builder::process::kWorkerIoExit : kFailure;
} catch (const Failure& failure) {
  return fail(failure.what());
}

int learn(const Arguments& arguments) {
  Cli cli("learn --overlay DIR [OPTIONS]",
          "Keeps what the driver of a program had to compile for the next process. Started by clbake's layer, whose\n"
          "requests come over the standard input.");
  cli.add_required("overlay", "DIR", "the overlay's directory");
  cli.add_value("max-bytes", "N", "limit for the overlay's files together");
  cli.add_value("log", "FILE", "gets a line for each program");
  if (const std::optional<int> status = cli.parse(arguments)) return *status;
  need(no_added_options());
  builder::learn::Settings settings;
  settings.overlay.directory = cli.text("overlay");
  settings.overlay.mode = OverlayMode::read_write;
  settings.overlay.max_bytes = cli.size("max-bytes", settings.overlay.max_bytes);
  settings.log = cli.text("log");
  settings.worker = os::path_of_program();
  need(builder::learn::learn(settings));
  return kSuccess;
}

}  // namespace clbake::tool
