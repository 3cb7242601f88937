#include <clbake/builder/compile.hpp>
#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>
#include "compile/compile_program.hpp"
#include "compile/entries_for_bundle.hpp"
#include "compile/overhead_job.hpp"

namespace clbake::builder {
namespace {

Result<std::vector<cache::Entry>> compile_variant(const Job& job, const Bundle& bundle, const Device& device,
                                                  const Session& session, bool plain) {
  if (job.variant.is_program()) return compile_program(job, device, session, plain);
  Options options;
  options.only_build = true;  // what is launched, and when, is the finalizer's
  const Result<Library> library = Library::create(session.context(), device.id, {bundle}, options);
  if (!library) return library.status();
  const Problem any = tight_problem(job.variant.precision, 1, 1, 1, job.variant.trans_a, job.variant.trans_b);
  const Result<Gemm> gemm = library->prepare(any, job.variant.name);
  if (!gemm) return gemm.status();
  if (plain) return entry_of_binary(gemm->program());
  const auto launch = [&] { return launch_every_shape(*gemm); };
  return entries_for_bundle({device.target, job.variant, gemm->program(), launch}, job.source);
}

}  // namespace

Status compile_job(const std::string& path, const std::string& output, bool plain) {
  Result<Job> job = read_job(path);
  if (!job) return job.status();
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status();
  const Status specialised = job->variant.is_program() && !plain ? specialise_program(*job) : Status();
  if (!specialised) return specialised;
  const Result<Device> device = device_of(job->target);
  if (!device) return device.status();
  const Result<Session> session = Session::open(*device);
  if (!session) return session.status();
  Result<std::vector<cache::Entry>> entries = is_overhead_job(*job)
                                                  ? compile_overhead_job(*job, *device, *session)
                                                  : compile_variant(*job, *bundle, *device, *session, plain);
  if (!entries) return entries.status();
  sign(*entries);
  job->entries = std::move(*entries);
  return write_job(output, *job);
}

}  // namespace clbake::builder
