#include "compile/compile_program.hpp"

#include <clbake/platform.hpp>

#include "compile/entries_for_bundle.hpp"
#include "process/forked.hpp"
#include "program/source_build.hpp"
#include "program/trial_run.hpp"

#include <cstdlib>
#include <set>

namespace clbake::builder {
namespace {

bool keeps_functions(const Target& target) { return platform_of(target).binaries == Binaries::functions; }

// Checks that the trials fit the kernels, by a build of its own: drivers tell what a kernel's arguments are only with
// an option, which must not get into the bundle.
Status check_signatures(const Job& job, const Device& device, const Session& session) {
  const Result<std::vector<TriedKernel>> kernels = parse_trial(job.variant.trial);
  if (!kernels) return kernels.status();
  const Result<LoadedProgram> program = build_from_source(job, device, session, " -cl-kernel-arg-info");
  if (!program) return {};  // the driver does not know the option
  for (const TriedKernel& kernel : *kernels) {
    cl_int error = CL_SUCCESS;
    const cl_kernel made = clCreateKernel(program->get(), kernel.name.c_str(), &error);
    Status status =
        error == CL_SUCCESS ? Status() : Status(Code::opencl, "clCreateKernel: error " + std::to_string(error));
    for (std::size_t i = 0; status && i < kernel.trials.size(); ++i) {
      status = check_signature(made, kernel.trials[i]).within("trial " + std::to_string(i));
    }
    if (made) clReleaseKernel(made);
    if (!status) return status.within("kernel " + kernel.name);
  }
  return {};
}

// Every trial at the sizes that the manifest lists. What a size outside of the list costs is for the proof to find.
Status run_trials(const Job& job, const Device& device, const Session& session, cl_program program) {
  const Result<std::vector<TriedKernel>> kernels = parse_trial(job.variant.trial);
  if (!kernels) return kernels.status();
  for (const TrialCase& tried : cases_of(*kernels)) {
    if (!tried.is_listed()) continue;
    announce(tried);
    Result<TrialRun> run = TrialRun::create(session, device, program, tried);
    Status status = run ? run->run().status() : run.status();
    if (status) status = run->check_guards();
    if (!status) return status.within(tried.name());
  }
  return {};
}

Status build_and_run(const Job& job) {
  const Result<Device> device = device_of(job.target);
  if (!device) return device.status();
  const Result<Session> session = Session::open(*device);
  if (!session) return session.status();
  const Result<LoadedProgram> program = build_from_source(job, *device, *session);
  if (!program) return program.status();
  const Status fit = check_signatures(job, *device, *session);
  return fit ? run_trials(job, *device, *session, program->get()) : fit;
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

}  // namespace

Status specialise_program(const Job& job) {
  if (!keeps_functions(job.target)) return {};
  const Status tried = run_forked([&] { return build_and_run(job); });
  if (tried) setenv("POCL_BINARY_SPECIALIZE_WG", large_shapes(job.variant).c_str(), 1);
  return tried;
}

Result<std::vector<cache::Entry>> compile_program(const Job& job, const Device& device, const Session& session,
                                                  bool plain) {
  const Result<LoadedProgram> program = build_from_source(job, device, session);
  if (!program) return program.status();
  if (plain) return entry_of_binary(program->get());
  const Status fit = keeps_functions(job.target) ? Status() : check_signatures(job, device, session);  // or before
  if (!fit) return fit;
  const auto launch = [&] { return run_trials(job, device, session, program->get()); };
  const auto launched_before = [] { return Status(); };
  if (keeps_functions(job.target))
    return entries_for_bundle({device.target, job.variant, program->get(), launched_before}, job.source);
  return entries_for_bundle({device.target, job.variant, program->get(), launch}, job.source);
}

}  // namespace clbake::builder
