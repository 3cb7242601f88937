// A manifest's pieces of work in the language of a scheduler.
#pragma once

#include <clbake/builder/fleet/work.hpp>

#include <string>

namespace clbake::tool {

// A script for sh that does what it can on one machine, a piece on each line.
std::string shell_workflow(const builder::Manifest& manifest);

// A script for bash that submits what is not done yet: a job array for each stage and group of machines, which waits
// for the arrays that it needs. Its arguments go to every sbatch.
std::string slurm_workflow(const builder::Manifest& manifest);

// A workflow of GitHub Actions, a matrix for each stage; and a pipeline of GitLab, a job for each piece. Paths in them
// are relative to the repository's root, as `clbake plan --from` was given them. The outputs travel as artifacts. A
// piece's runner has the machine's name as a label or tag, or "clbake" where any machine will do.
Result<std::string> github_workflow(const builder::Manifest& manifest);  // fails for more than 256 pieces in a stage
std::string gitlab_workflow(const builder::Manifest& manifest);

// What the formats share.

// The text in single quotes for a shell.
std::string shell_quoted(const std::string& text);
// The text in double quotes for YAML.
std::string yaml_quoted(const std::string& text);
// Of a piece's machines the one whose turn it is, so that equal ones share the work; "clbake" for any machine.
std::string machine_for(const builder::Piece& piece, std::size_t turn);
// The path of a file in the manifest's directory, from where the manifest's path starts.
std::string path_from_root(const builder::Manifest& manifest, const std::string& file);

}  // namespace clbake::tool
