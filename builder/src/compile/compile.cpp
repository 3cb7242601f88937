#include <clbake/builder/compile.hpp>
#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/platform.hpp>
#include "compile/entries_for_bundle.hpp"
#include "program/trial_run.hpp"

#include <cstdlib>
#include <set>

namespace clbake::builder::compile {
using namespace program;
namespace {

constexpr const char* kSpecialise = "POCL_BINARY_SPECIALIZE_WG";

// The device and the queue of a worker.
struct Place {
  Device device;
  Session session;
};

Result<Place> place_of(const Target& target) {
  Result<Device> device = device_of(target);
  if (!device) return device.status();
  Result<Session> session = Session::open(*device);
  if (!session) return session.status();
  return Place{std::move(*device), std::move(*session)};
}

// Checks that the trials fit the kernels, by a build of its own: drivers tell what a kernel's arguments are only with
// an option, which must not get into the bundle.
Status check_signatures(const Job& job, const Place& place) {
  const Result<std::vector<TriedKernel>> kernels = parse_trial(job.variant.trial);
  if (!kernels) return kernels.status();
  const Result<LoadedProgram> program = build_from_source(job, place.device, place.session, " -cl-kernel-arg-info");
  if (!program) return {};  // the driver does not know the option
  for (const TriedKernel& kernel : *kernels) {
    cl_int error = CL_SUCCESS;
    const cl::Kernel made(cl::Program(program->get(), true), kernel.name.c_str(), &error);
    Status status =
        error == CL_SUCCESS ? Status() : Status(Code::opencl, "clCreateKernel: error " + std::to_string(error));
    for (std::size_t i = 0; status && i < kernel.trials.size(); ++i) {
      status = check_signature(made(), kernel.trials[i]).within("trial " + std::to_string(i));
    }
    if (!status) return status.within("kernel " + kernel.name);
  }
  return {};
}

// Every trial at the sizes that the manifest lists. What a size outside of the list costs is for the proof to find.
Status run_trials(const Job& job, const Place& place, cl_program program) {
  const Result<std::vector<TriedKernel>> kernels = parse_trial(job.variant.trial);
  if (!kernels) return kernels.status();
  for (const TrialCase& tried : cases_of(*kernels)) {
    if (!tried.is_listed()) continue;
    announce(tried);
    Result<TrialRun> run = TrialRun::create(place.session, place.device, program, tried);
    Status status = run ? run->run().status() : run.status();
    if (status) status = run->results().status();
    if (!status) return status.within(tried.name());
  }
  return {};
}

// "64-1-1-goffs0,8-8-1-goffs0".
std::string large_shapes(const cache::Variant& variant) {
  std::set<std::string> shapes;
  for (const cache::Launch& launch : variant.launches) {
    shapes.insert(std::to_string(launch.local[0]) + "-" + std::to_string(launch.local[1]) + "-" +
                  std::to_string(launch.local[2]) + "-goffs0");
  }
  std::string text;
  for (const std::string& shape : shapes) text += (text.empty() ? "" : ",") + shape;
  return text;
}

// True in the process of try_and_start_anew. A user may have set the variable to something else.
bool started_anew(const Job& job) {
  const char* const shapes = std::getenv(kSpecialise);
  return shapes && shapes == large_shapes(job.variant);
}

// PoCL: the trials put a function for each work-group size in small grids into its cache directory. Those for large
// grids, for which a trial's buffers are too small, PoCL makes when an environment variable asks, which it reads once;
// and only one of two functions for a size is made in one process. So the worker starts anew.
Status try_and_start_anew(const Job& job, const Place& place, const std::vector<std::string>& arguments) {
  const Result<LoadedProgram> program = build_from_source(job, place.device, place.session);
  if (!program) return program.status();
  Status tried = check_signatures(job, place);
  if (tried) tried = run_trials(job, place, program->get());
  if (!tried) return tried;
  setenv(kSpecialise, large_shapes(job.variant).c_str(), 1);
  return process::start_anew(arguments);
}

Result<std::vector<cache::Entry>> compile_program(const Job& job, const Place& place, bool plain) {
  const Result<LoadedProgram> program = build_from_source(job, place.device, place.session);
  if (!program) return program.status();
  if (plain) return entry_of_binary(program->get());
  const bool tried = started_anew(job);
  const Status fits = tried ? Status() : check_signatures(job, place);
  if (!fits) return fits;
  const auto launch = [&] { return tried ? Status() : run_trials(job, place, program->get()); };
  return entries_for_bundle({place.device.target, job.variant, program->get(), launch}, job.source);
}

Result<std::vector<cache::Entry>> compile_variant(const Job& job, const std::string& path, const Place& place,
                                                  bool plain) {
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status();
  Options options;
  options.only_build = true;  // what is launched, and when, is the finalizer's
  const Result<Library> library = Library::create(place.session.context(), place.device.id, {*bundle}, options);
  if (!library) return library.status();
  const Problem any = tight_problem(job.variant.precision, 1, 1, 1, job.variant.trans_a, job.variant.trans_b);
  const Result<Gemm> gemm = library->prepare(any, job.variant.name);
  if (!gemm) return gemm.status();
  if (plain) return entry_of_binary(gemm->program());
  const auto launch = [&] { return launch_every_shape(*gemm); };
  return entries_for_bundle({place.device.target, job.variant, gemm->program(), launch}, job.source);
}

}  // namespace

Status compile_job(const std::string& path, const std::string& output, bool plain) {
  Result<Job> job = read_job(path);
  if (!job) return job.status();
  const Result<Place> place = place_of(job->target);
  if (!place) return place.status();
  const bool is_program = job->variant.is_program();
  const bool keeps_functions = platform_of(job->target).binaries == Binaries::functions;
  if (is_program && keeps_functions && !plain && !started_anew(*job)) {
    return try_and_start_anew(*job, *place, {"worker", "compile", path, output});
  }
  Result<std::vector<cache::Entry>> entries =
      is_program ? compile_program(*job, *place, plain) : compile_variant(*job, path, *place, plain);
  if (!entries) return entries.status();
  sign(*entries);
  job->entries = std::move(*entries);
  return write_job(output, *job);
}

}  // namespace clbake::builder::compile
