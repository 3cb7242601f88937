#include "learn/program_to_learn.hpp"

#include "process/need.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/cache/xxh64.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/program.hpp>
#include <clbake/platform.hpp>

namespace clbake::builder::learn {
namespace {

// Adds what an earlier entry has. Fails with no_entry when the request adds nothing to it.
void add_known(const Bundle& known, ProgramToLearn& program) {
  const std::vector<Job> jobs = need(jobs_of(known));
  const Job& job = jobs.front();
  const std::vector<std::string>& functions = job.entries.front().proof.specialisations;
  const Functions present(functions.begin(), functions.end());
  if (!lacks(present, launched_kernels(job.variant), program.wanted)) throw Failure({Code::no_entry, "nothing new"});
  for (const std::string& function : present) {
    const std::optional<SeenLaunch> launch = launch_of(function);
    if (launch && program.wanted.insert(function).second) program.request.launches.push_back(*launch);
  }
  if (!program.request.program.empty()) return;
  ProgramText text = need(decode_program_text(job.source.text));
  text.options = job.variant.build_options;
  program.request.program = encode(text);
}

std::uint64_t attempt_of(const ProgramToLearn& program) {
  std::string text = CLBAKE_VERSION;
  for (const std::string& function : program.wanted) text += "," + function;
  return cache::xxh64(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), 0);
}

}  // namespace

std::string control_beside(const std::string& job) { return os::joined_path(os::parent_of(job), "control"); }

bool keeps_functions(const cache::Target& target) { return platform_of(target).binaries == Binaries::functions; }

Result<ProgramToLearn> program_to_learn(const Request& request, const Bundle* known) try {
  ProgramToLearn program;
  program.request = request;
  if (!keeps_functions(request.target)) program.request.launches.clear();
  program.wanted = functions_of(program.request.launches);
  if (known) add_known(*known, program);
  if (program.request.program.empty()) return {Code::no_entry, "launches of a program that is not in the overlay"};
  if (!request.directory.empty() && !os::change_directory(request.directory)) {
    return {Code::not_found, request.directory + ": the program's working directory is gone"};
  }
  const ProgramText text = need(decode_program_text(program.request.program));
  if (need(content_digest(text)) != request.digest) return {Code::malformed, "a file that it includes has changed"};
  program.whole = need(self_contained(text));
  program.attempt = attempt_of(program);
  return program;
} catch (const Failure& failure) {
  return failure.status;
}

}  // namespace clbake::builder::learn
