// The child processes of build and bench. Each does one thing with a driver and leaves its result in a file; the last
// line on stderr says why it failed.
#include "cli.hpp"
#include "cold_trial.hpp"
#include "preset_trial.hpp"
#include "verbs.hpp"

#include <clbake/builder/build.hpp>
#include <clbake/builder/finalize.hpp>
#include <clbake/builder/prove.hpp>

#include <sys/prctl.h>
#include <csignal>

namespace clbake::tool {
namespace {

Status work(const std::vector<std::string>& a) {
  if (a.size() == 3 && a[0] == "compile") return builder::compile_job(a[1], a[2], false);
  if (a.size() == 3 && a[0] == "compile-plain") return builder::compile_job(a[1], a[2], true);
  if (a.size() == 3 && a[0] == "prove") return builder::prove_job(a[1], a[2]);
  if (a.size() == 5 && a[0] == "cold") return cold_trial(a[1], a[2], a[3], a[4]);
  if (a.size() == 5 && a[0] == "preset") return preset_trial(a[1], a[2], a[3], a[4]);
  return {Code::invalid_argument, "not a job of the worker"};
}

}  // namespace

int worker(const std::vector<std::string>& arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed parent leaves no orphan
  const Status status = work(arguments);
  if (status) return kSuccess;
  fail(status.message());
  return status.code() == Code::io ? builder::kWorkerIoExit : kFailure;
}

}  // namespace clbake::tool
