#include "program/source_build.hpp"

namespace clbake::builder {

Result<LoadedProgram> build_from_source(const Job& job, const Device& device, const Session& session,
                                        const std::string& more_options) {
  Job bare{job.target, job.source, job.variant, {}};
  bare.variant.build_options += more_options;
  const Result<cache::Bytes> bytes = encode_job(bare, cache::Packing::plain);
  if (!bytes) return bytes.status();
  const Result<Bundle> bundle = Bundle::copy_of({bytes->data(), bytes->size()});
  if (!bundle) return bundle.status();
  const Result<Library> library = Library::create(session.context(), device.id, {*bundle});
  if (!library) return library.status();
  return library->program(job.variant.name);
}

}  // namespace clbake::builder
