#include "learn/learner.hpp"

#include "prove/signs.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iomanip>
#include <sstream>

namespace clbake::builder::learn {
using namespace process;
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTimeout{900};  // of a worker, at the lowest priority
constexpr std::uint64_t kTries = 3;            // of what may go well on another day

// The code of what a busy machine alone may have caused: a signal, a timeout, a time that was measured.
constexpr Code kPerhapsLater = Code::cancelled;

constexpr const char* kCompiled = "/compiled.job";

std::string seconds_since(Clock::time_point start) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << std::chrono::duration<double>(Clock::now() - start).count() << " s";
  return text.str();
}

// True when the program has the function of every launch that was seen.
bool is_complete(const ProgramToLearn& program, const cache::Proof& proof) {
  const Functions present(proof.specialisations.begin(), proof.specialisations.end());
  const auto has_no_size = [](const SeenLaunch& launch) { return launch.local[0] == 0; };
  const std::vector<SeenLaunch>& launches = program.request.launches;
  return std::none_of(launches.begin(), launches.end(), has_no_size) &&
         std::includes(present.begin(), present.end(), program.wanted.begin(), program.wanted.end());
}

std::string counted(std::size_t functions) {
  if (functions == 0) return {};
  return std::to_string(functions) + (functions == 1 ? " function, " : " functions, ");
}

// True when more is known than that a load compiles nothing: the program's functions, or that this driver compiles
// when it builds, so that nothing is left for launches.
bool is_judged(const Job& compiled, const cache::Proof& proof, const std::string& path) {
  if (!keeps_functions(compiled.target)) return prove::read_control(control_beside(path)).any();
  return !compiled.entries.front().proof.specialisations.empty() || !proof.specialisations.empty();
}

}  // namespace

Result<std::string> Learner::learn(const Request& request) const {
  const Clock::time_point start = Clock::now();
  const OverlayKey key = overlay_key(request.target, request.digest);
  const Result<Bundle> known = overlay_.find(key);
  const Result<ProgramToLearn> program = program_to_learn(request, known ? &*known : nullptr);
  if (program.status().code() == Code::no_entry) return std::string();
  if (!program)
    return program::shown_name(content_name(request.digest)) + ": not learned: " + program.status().message();
  if (has_given_up(key, program->attempt)) return std::string();
  const Result<Job> proven = compile_and_prove(*program);
  const Status learned = proven ? keep(*program, *proven) : proven.status();
  if (learned.code() == Code::io) return learned;
  if (learned) {
    const cache::Proof& proof = proven->entries.front().proof;
    return program->name() + ": learned in " + seconds_since(start) + ": " + counted(proof.specialisations.size()) +
           proof.note;
  }
  const Status marked = mark(key, program->attempt, learned.code());
  return program->name() + ": not learned: " + learned.message() + (marked ? "" : "; " + marked.message());
}

bool Learner::has_given_up(const OverlayKey& key, std::uint64_t attempt) const {
  return overlay_.is_rejected(key, attempt) || overlay_.is_rejected(key, attempt + kTries);
}

// The attempt itself is marked where the driver refuses it; else one after the other of the numbers behind it, which
// count the tries.
Status Learner::mark(const OverlayKey& key, std::uint64_t attempt, Code failure) const {
  std::uint64_t number = 0;
  if (failure == kPerhapsLater) {
    for (number = 1; number < kTries && overlay_.is_rejected(key, attempt + number);) ++number;
  }
  return overlay_.mark_rejected(key, attempt + number);
}

Result<Job> Learner::compile_and_prove(const ProgramToLearn& program) const {
  const Result<ScratchDirectory> place = ScratchDirectory::create(directory_);
  if (!place) return place.status();
  const Result<Job> compiled = compile(program, place->path());
  return compiled ? prove(program, *compiled, place->path()) : compiled;
}

Status Learner::work(const Command& command) const {
  const std::atomic<bool> never{false};
  const Result<Exit> exit = run(command, kTimeout, never);
  if (!exit) return exit.status();
  if (exit->ok()) return {};
  const std::string cause = failure_of(*exit, command, kTimeout);
  if (is_full_disk(*exit, command)) return {Code::io, cause};
  return {exit->signal != 0 || exit->timed_out ? kPerhapsLater : Code::driver_rejected, cause};
}

Result<Job> Learner::compile(const ProgramToLearn& program, const std::string& place) const {
  const Result<ScratchDirectory> cache = ScratchDirectory::create(place);
  if (!cache) return cache.status();
  const std::string path = place + "/request";
  const std::string output = place + kCompiled;
  const Result<std::string> bytes = clbake::learn::encode(program.request);
  if (!bytes) return bytes.status();
  Status status = cache::write_file(path, {reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()});
  if (!status) return status;
  Command command = worker_command(settings_.worker, {"compile-learned", path, output}, *cache, place + "/compile.log");
  command.directory = program.request.directory;
  status = work(command);
  Result<Job> job = status ? read_job(output) : status;
  if (!job) return job;
  const bool is_ours = job->variant.content == program.request.digest && job->target == program.request.target;
  if (!is_ours || job->entries.size() != 1) return {Code::malformed, "the worker left no program"};
  job->variant.build_options = program.whole.options;
  ProgramText text = program.whole;
  text.options.clear();
  const Result<std::vector<ContentDigest>> parts = part_digests(program.whole);
  if (!parts) return parts.status();
  job->variant.parts = *parts;
  job->source = {"program.cl", encode(text)};
  return job;
}

Result<Job> Learner::prove(const ProgramToLearn& program, const Job& compiled, const std::string& place) const {
  const Result<ScratchDirectory> cache = ScratchDirectory::create(place);
  if (!cache) return cache.status();
  const std::string path = place + "/proof.job";
  const std::string output = place + "/proven.job";
  Status status = write_job(path, compiled);
  if (!status) return status;
  status = work(worker_command(settings_.worker, {"prove-learned", path, output}, *cache, place + "/prove.log"));
  Result<Job> job = status ? read_job(output) : status;
  if (!job) return job;
  if (!same_work(*job, compiled) || job->entries.size() != 1) return {Code::malformed, "the worker left no proof"};
  cache::Proof& proof = job->entries.front().proof;
  const bool is_slow = proof.note.rfind(kSlowLoad, 0) == 0;
  if (!proof.jit_free) return {is_slow ? kPerhapsLater : Code::driver_rejected, proof.note};
  const bool judged = is_judged(compiled, proof, place + kCompiled);
  proof.jit_free = judged && (serves_every_launch(compiled.entries.front().proof) || is_complete(program, proof));
  if (!judged) proof.note += "; launches not judged";
  if (judged && !proof.jit_free) proof.note += "; not JIT-free: launches compile whose sizes it has no function for";
  if (!program.request.log.empty()) proof.log = program.request.log;
  return job;
}

// The rule: machine code that loads without compiling is kept. It is called JIT-free if no launch that was seen
// compiles either; else the driver compiles at that launch, as it would without us, but no more at the load.
Status Learner::keep(const ProgramToLearn& program, const Job& job) const {
  const OverlayKey key = overlay_key(job.target, job.source, job.variant);
  const Status status = overlay_.store(key, job.entries);
  const std::vector<std::string>& functions = job.entries.front().proof.specialisations;
  if (!status || !lacks({functions.begin(), functions.end()}, launched_kernels(job.variant), program.wanted)) {
    return status;
  }
  return overlay_.mark_rejected(key, program.attempt);  // nobody tries again for functions that PoCL does not make
}

}  // namespace clbake::builder::learn
