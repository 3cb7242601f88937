#include <clbake/builder/compile.hpp>
#include "program/trial_run.hpp"
#include "prove/compile_watch.hpp"

#include <chrono>
#include <thread>

namespace clbake::builder::prove {
using namespace program;
namespace {

// Some drivers write their caches in the background.
constexpr std::chrono::milliseconds kStep{20};
constexpr int kSteps = 25;

// From the source to the end of a first launch.
Status compile_and_launch(const Job& job, const Device& device, const Session& session) {
  const Result<LoadedProgram> program = build_from_source(job, device, session);
  const Result<std::vector<TriedKernel>> kernels = parse_trial(job.trial);
  if (!program || !kernels) return program ? kernels.status() : program.status();
  for (const TrialCase& tried : cases_of(*kernels)) {
    Result<TrialRun> run = TrialRun::create(session, device, program->get(), tried);
    const Status ran = run ? run->run().status() : run.status();
    if (!ran) return ran;
  }
  return {};
}

}  // namespace

Status compile_on_purpose(const std::string& path, const std::string& output) {
  const Result<Job> job = read_job(path);
  if (!job) return job.status();
  const Result<Device> device = device_of(job->target);
  if (!device) return device.status();
  const Result<Session> session = Session::open(*device);
  if (!session) return session.status();
  const std::string cache = cache_directory(job->target);
  const std::string extension = compiled_extension(job->target);
  const Signs before = signs_now(cache);
  const Status done = compile_and_launch(*job, *device, *session);
  if (!done) return done;
  Signs fresh = since(before, signs_now(cache));
  for (int i = 0; i < kSteps && !control_of(fresh, extension).files; ++i) {
    std::this_thread::sleep_for(kStep);
    fresh.files = since(before, signs_now(cache)).files;
  }
  return write_control(output, control_of(fresh, extension));
}

}  // namespace clbake::builder::prove
