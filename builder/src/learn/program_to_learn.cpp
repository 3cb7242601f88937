#include "learn/program_to_learn.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/cache/xxh64.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/program.hpp>
#include <clbake/platform.hpp>

#include <utility>

namespace clbake::builder::learn {
namespace {

// The program of an earlier entry.
Result<ProgramText> text_of(const cache::Source& source, const cache::Variant& variant) {
  Result<ProgramText> text = decode_program_text(source.text);
  if (text) text->options = variant.build_options;
  return text;
}

// Adds what an earlier entry has. Fails with no_entry when the request adds nothing to it.
Status add_known(const Bundle& known, ProgramToLearn& program) {
  const Result<std::vector<Job>> jobs = jobs_of(known);
  if (!jobs) return jobs.status();
  const Job& job = jobs->front();
  const std::vector<std::string>& functions = job.entries.front().proof.specialisations;
  const Functions present(functions.begin(), functions.end());
  if (!lacks(present, launched_kernels(job.variant), program.wanted)) return {Code::no_entry, "nothing new"};
  for (const std::string& function : present) {
    const std::optional<SeenLaunch> launch = launch_of(function);
    if (launch && program.wanted.insert(function).second) program.request.launches.push_back(*launch);
  }
  if (!program.request.program.empty()) return {};
  const Result<ProgramText> text = text_of(job.source, job.variant);
  if (text) program.request.program = encode(*text);
  return text.status();
}

Status check_digest(const ProgramText& text, const ContentDigest& wanted) {
  const Result<ContentDigest> digest = content_digest(text);
  if (!digest) return digest.status();
  return *digest == wanted ? Status() : Status(Code::malformed, "a file that it includes has changed");
}

std::uint64_t attempt_of(const ProgramToLearn& program) {
  std::string text = CLBAKE_VERSION;
  for (const std::string& function : program.wanted) text += "," + function;
  return cache::xxh64(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), 0);
}

}  // namespace

std::string control_beside(const std::string& job) { return os::joined_path(os::parent_of(job), "control"); }

bool keeps_functions(const cache::Target& target) { return platform_of(target).binaries == Binaries::functions; }

Result<ProgramToLearn> program_to_learn(const Request& request, const Bundle* known) {
  ProgramToLearn program;
  program.request = request;
  if (!keeps_functions(request.target)) program.request.launches.clear();
  program.wanted = functions_of(program.request.launches);
  const Status added = known ? add_known(*known, program) : Status();
  if (!added) return added;
  if (program.request.program.empty()) return {Code::no_entry, "launches of a program that is not in the overlay"};
  if (!request.directory.empty() && !os::change_directory(request.directory)) {
    return {Code::not_found, request.directory + ": the program's working directory is gone"};
  }
  const Result<ProgramText> text = decode_program_text(program.request.program);
  if (!text) return text.status();
  const Status same = check_digest(*text, request.digest);
  if (!same) return same;
  Result<ProgramText> whole = self_contained(*text);
  if (!whole) return whole.status();
  program.whole = std::move(*whole);
  program.attempt = attempt_of(program);
  return program;
}

}  // namespace clbake::builder::learn
