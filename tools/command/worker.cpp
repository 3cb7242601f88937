// The child processes of build, prove, tune, bench and work. Each does one thing with a driver and writes the result to
// a file; after a failure the last line on stderr is the cause.
#include "bench/cold_worker.hpp"
#include "cli/cli.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/compile.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/offline_targets.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/release/prove_bundle.hpp>
#include <clbake/builder/tune.hpp>

#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace clbake::tool {
namespace {

Status job(const std::vector<std::string>& a) {
  if (a.size() == 3 && a[0] == "compile") return builder::compile_job(a[1], a[2], false);
  if (a.size() == 3 && a[0] == "compile-plain") return builder::compile_job(a[1], a[2], true);
  if (a.size() == 3 && a[0] == "compile-offline") return builder::compile_offline_job(a[1], a[2]);
  if (a.size() == 3 && a[0] == "time") return builder::tune::time_job(a[1], std::stoul(a[2]));
  if (a.size() == 8 && a[0] == "cold") return cold_worker(a), Status();
  return {Code::invalid_argument, "the worker does not know this job"};
}

Status prove(const std::vector<std::string>& a, bool& near_miss) {
  const Result<bool> proven = builder::prove_job(a[1], a[2], a[3]);
  near_miss = proven && *proven;
  return proven.status();
}

// The verb of a piece of work: another start of this executable, which still ends with its parent.
int run_command(std::vector<std::string> arguments) {
  const std::string path = builder::own_path();
  std::vector<char*> list = {const_cast<char*>("clbake")};
  for (std::string& argument : arguments) list.push_back(argument.data());
  list.push_back(nullptr);
  execv(path.c_str(), list.data());
  return fail(path + ": cannot start: " + std::strerror(errno));
}

}  // namespace

int worker(const std::vector<std::string>& arguments) try {
  builder::end_with_parent();
  if (arguments.size() > 1 && arguments[0] == "command") return run_command({arguments.begin() + 1, arguments.end()});
  bool near_miss = false;
  const Status status = arguments.size() == 4 && arguments[0] == "prove" ? prove(arguments, near_miss) : job(arguments);
  if (status && near_miss) return builder::kWorkerNearMissExit;
  if (status) return kSuccess;
  fail(status.message());
  if (status.code() == Code::wrong_result) return builder::kWorkerWrongExit;
  return status.code() == Code::io ? builder::kWorkerIoExit : kFailure;
} catch (const Failure& failure) {
  return fail(failure.what());
}

}  // namespace clbake::tool
