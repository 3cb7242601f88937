#include "prove/proofs.hpp"

#include <clbake/builder/programs.hpp>
#include "process/text_file.hpp"

#include <algorithm>

namespace clbake::builder::prove {
namespace {

constexpr const char* kNothing = "do_nothing";

cache::Bytes digest_of(const cache::Bytes& program) {
  const std::string text = process::digest(std::string(program.begin(), program.end()));
  return {text.begin(), text.end()};
}

}  // namespace

bool all_judged(const Job& job) {
  const auto is_judged = [](const cache::Entry& entry) {
    return entry.proof.proven || entry.proof.note.find(program::kOnlyLoaded) != std::string::npos;
  };
  return !job.entries.empty() && std::all_of(job.entries.begin(), job.entries.end(), is_judged);
}

bool noise_possible(const Job& job) {
  return std::any_of(job.entries.begin(), job.entries.end(), [](const cache::Entry& entry) {
    return entry.proof.proven && !entry.proof.jit_free && entry.form == cache::Form::native &&
           entry.proof.specialisations.empty();
  });
}

Job overhead_job(const Target& target) {
  program::Program program;
  program.name = std::string(program::kOwnPrefix) + kNothing;
  // The local size is fixed, as those of the variants are.
  program.source = {"do_nothing.cl",
                    "kernel __attribute__((reqd_work_group_size(1, 1, 1))) void do_nothing(global uint* out) {\n"
                    "  out[0] = 1;\n}\n"};
  program.launches = {{cache::Role::kernel, kNothing, {1, 1, 1}, 1, 1}};
  program.trial = R"([{"name": "do_nothing", "work_group_sizes": [[1]], "trials": [
    {"global": [1], "arguments": [{"buffer": "uint", "count": 1}]}]}])";
  return make_job(target, program);
}

Status write_proofs(const std::string& path, Job job) {
  for (cache::Entry& entry : job.entries) entry.program = digest_of(entry.program);
  return write_job(path, job);
}

Result<Job> read_proven(const std::string& compiled, const std::string& proven) {
  Result<Job> proofs = read_job(proven);
  Result<Job> job = proofs ? read_job(compiled) : proofs;
  if (!job) return job;
  bool same = same_work(*job, *proofs) && all_judged(*proofs) && job->entries.size() == proofs->entries.size();
  for (std::size_t i = 0; same && i < job->entries.size(); ++i) {
    same = digest_of(job->entries[i].program) == proofs->entries[i].program;
    job->entries[i].proof = std::move(proofs->entries[i].proof);
  }
  if (!same) return {Code::malformed, "the worker left no proof of this variant"};
  return job;
}

}  // namespace clbake::builder::prove
