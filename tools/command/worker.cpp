// The child processes of build, prove, tune, bench and work. Each does one thing with a driver and writes the result to
// a file; after a failure the last line on stderr is the cause.
#include "bench/cold_worker.hpp"
#include "cli/cli.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/compile.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/learn.hpp>
#include <clbake/builder/offline_targets.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/tune.hpp>
#include <clbake/os/program.hpp>

namespace clbake::tool {
namespace {

Status job(const std::vector<std::string>& a) {
  using builder::compile::Stage;
  if (a.size() == 3 && a[0] == "compile") return builder::compile::compile_job(a[1], a[2], Stage::first);
  if (a.size() == 3 && a[0] == "compile-tried") return builder::compile::compile_job(a[1], a[2], Stage::tried);
  if (a.size() == 3 && a[0] == "compile-plain") return builder::compile::compile_job(a[1], a[2], Stage::plain);
  if (a.size() == 3 && a[0] == "compile-offline") return builder::compile::compile_offline_job(a[1], a[2]);
  if (a.size() == 3 && a[0] == "compile-learned") return builder::learn::compile_learned(a[1], a[2]);
  if (a.size() == 4 && a[0] == "compile-learned") return builder::learn::compile_learned(a[1], a[2], std::stoul(a[3]));
  if (a.size() == 3 && a[0] == "prove-learned") return builder::learn::prove_learned(a[1], a[2]);
  if (a.size() == 5 && a[0] == "prove") return builder::prove::prove_job(a[1], a[2], a[3], a[4]);
  if (a.size() == 3 && a[0] == "control") return builder::prove::compile_on_purpose(a[1], a[2]);
  if (a.size() == 3 && a[0] == "time") return builder::tune::time_job(a[1], std::stoul(a[2]));
  if (a.size() == 8 && a[0] == "cold") return cold_worker(a), Status();
  return {Code::invalid_argument, "the worker does not know this job"};
}

}  // namespace

int worker(const std::vector<std::string>& arguments) try {
  os::end_with_parent();
  const bool is_command = arguments.size() > 1 && arguments[0] == "command";  // a verb, in a piece of work
  const Status status =
      is_command ? builder::process::start_anew({arguments.begin() + 1, arguments.end()}) : job(arguments);
  if (status) return kSuccess;
  fail(status.message());
  if (status.code() == Code::wrong_result) return builder::process::kWorkerWrongExit;
  return status.code() == Code::io ? builder::process::kWorkerIoExit : kFailure;
} catch (const Failure& failure) {
  return fail(failure.what());
}

}  // namespace clbake::tool
