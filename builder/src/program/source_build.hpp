// A program as the driver builds it from the bundle's source.
#pragma once

#include <clbake/builder/jobs.hpp>

namespace clbake::builder {

// `more_options` are added to those of the program. Fails with build_failed, or like Library::program.
Result<LoadedProgram> build_from_source(const Job& job, const Device& device, const Session& session,
                                        const std::string& more_options = {});

}  // namespace clbake::builder
