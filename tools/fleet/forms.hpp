// A manifest's graph of work in the language of a scheduler.
#pragma once

#include <clbake/builder/fleet/work.hpp>

#include <string>

namespace clbake::tool {

// The text of forms/NAME.*.in, filled in from the manifest:
//   slurm   a script for bash that submits what is not done yet: a job array for each stage and group of machines
//   github  a workflow of GitHub Actions: a matrix for each stage
//   gitlab  a pipeline of GitLab: a job for each piece
// Paths for the CI systems are relative to the repository's root, as the manifest's path is. A piece's runner has the
// machine's name as a label or tag, or "clbake" where any machine will do. Fails with not_found for another name, and
// with invalid_argument for what the CI system cannot hold.
Result<std::string> form(const std::string& name, const builder::fleet::Manifest& manifest);

}  // namespace clbake::tool
