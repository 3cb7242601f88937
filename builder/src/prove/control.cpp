#include <clbake/builder/compile.hpp>
#include "process/need.hpp"
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
void compile_and_launch(const Job& job, const Device& device, const Session& session) {
  const LoadedProgram program = need(build_from_source(job, device, session));
  const std::vector<TriedKernel> kernels = need(parse_trial(job.trial));
  for (const TrialCase& tried : cases_of(kernels)) {
    need(need(TrialRun::create(session, device, program.get(), tried)).run());
  }
}

}  // namespace

Status compile_on_purpose(const std::string& path, const std::string& output) try {
  const Job job = need(read_job(path));
  const compile::Place place = need(compile::place_of(job.target));
  const std::string cache = cache_directory(job.target);
  const std::string extension = compiled_extension(job.target);
  const Signs before = signs_now(cache);
  compile_and_launch(job, place.device, place.session);
  Signs fresh = since(before, signs_now(cache));
  for (int i = 0; i < kSteps && !control_of(fresh, extension).files; ++i) {
    std::this_thread::sleep_for(kStep);
    fresh.files = since(before, signs_now(cache)).files;
  }
  return write_control(output, control_of(fresh, extension));
} catch (const Failure& failure) {
  return failure.status;
}

}  // namespace clbake::builder::prove
