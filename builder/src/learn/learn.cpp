#include "learn/inbox.hpp"
#include "learn/program_to_learn.hpp"
#include "learn/work_lock.hpp"
#include "process/need.hpp"
#include "prove/signs.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/builder/learn.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/os/appended_file.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/messages.hpp>
#include <clbake/os/program.hpp>
#include <clbake/overlay_directory.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <iomanip>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

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

class Learner {
 public:
  // `directory`: for the files of the work. All must outlive this.
  Learner(const Settings& settings, const Overlay& overlay, const std::string& directory)
      : settings_(settings), overlay_(overlay), directory_(directory) {}

  // Stores the program of the request, unless the overlay has it or a driver failed at it before. A line for the log;
  // empty when there was nothing to do. Fails with io when a disk is full.
  Result<std::string> learn(const Request& request) const;

 private:
  bool has_given_up(const OverlayKey& key, std::uint64_t attempt) const;
  Status mark(const OverlayKey& key, std::uint64_t attempt, Code failure) const;
  // `place`: a directory for the files of this program.
  Result<Job> compile_and_prove(const ProgramToLearn& program) const;
  Job compile(const ProgramToLearn& program, const std::string& place) const;
  Job prove(const ProgramToLearn& program, const Job& compiled, const std::string& place) const;
  Status keep(const ProgramToLearn& program, const Job& job) const;
  void work(const process::Command& command) const;

  const Settings& settings_;
  const Overlay& overlay_;
  const std::string& directory_;
};

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

Result<Job> Learner::compile_and_prove(const ProgramToLearn& program) const try {
  const ScratchDirectory place = need(ScratchDirectory::create(directory_));
  return prove(program, compile(program, place.path()), place.path());
} catch (const Failure& failure) {
  return failure.status;
}

void Learner::work(const Command& command) const {
  const std::atomic<bool> never{false};
  const Exit exit = need(run(command, kTimeout, never));
  if (exit.ok()) return;
  const std::string cause = failure_of(exit, command, kTimeout);
  if (is_full_disk(exit, command)) throw Failure({Code::io, cause});
  throw Failure({exit.signal != 0 || exit.timed_out ? kPerhapsLater : Code::driver_rejected, cause});
}

Job Learner::compile(const ProgramToLearn& program, const std::string& place) const {
  const ScratchDirectory cache = need(ScratchDirectory::create(place));
  const std::string path = place + "/request";
  const std::string output = place + kCompiled;
  const std::string bytes = need(clbake::learn::encode(program.request));
  need(cache::write_file(path, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
  Command command = worker_command(settings_.worker, {"compile-learned", path, output}, cache, place + "/compile.log");
  command.directory = program.request.directory;
  work(command);
  Job job = need(read_job(output));
  const bool is_ours = job.variant.content == program.request.digest && job.target == program.request.target;
  if (!is_ours || job.entries.size() != 1) throw Failure({Code::malformed, "the worker left no program"});
  job.variant.build_options = program.whole.options;
  ProgramText text = program.whole;
  text.options.clear();
  job.variant.parts = need(part_digests(program.whole));
  job.source = {"program.cl", encode(text)};
  return job;
}

Job Learner::prove(const ProgramToLearn& program, const Job& compiled, const std::string& place) const {
  const ScratchDirectory cache = need(ScratchDirectory::create(place));
  const std::string path = place + "/proof.job";
  const std::string output = place + "/proven.job";
  need(write_job(path, compiled));
  work(worker_command(settings_.worker, {"prove-learned", path, output}, cache, place + "/prove.log"));
  Job job = need(read_job(output));
  if (!same_work(job, compiled) || job.entries.size() != 1)
    throw Failure({Code::malformed, "the worker left no proof"});
  cache::Proof& proof = job.entries.front().proof;
  const bool is_slow = proof.note.rfind(kSlowLoad, 0) == 0;
  if (!proof.jit_free) throw Failure({is_slow ? kPerhapsLater : Code::driver_rejected, proof.note});
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

// Lines of learners that work at once do not mix. Best effort.
class Log {
 public:
  explicit Log(const std::string& path) {
    Result<os::AppendedFile> file =
        path.empty() ? Status(Code::not_found, {}) : os::AppendedFile::open(path, os::Access::user);
    if (file) file_.emplace(std::move(*file));
  }

  void operator()(std::string message) const {
    for (char& c : message) c = c == '\n' || c == '\r' ? ' ' : c;
    const std::string line = "clbake learn: " + message + "\n";
    if (file_) static_cast<void>(file_->append(line));
  }

 private:
  std::optional<os::AppendedFile> file_;
};

Status work(const Settings& settings, const Overlay& overlay, Inbox& inbox, const Log& log) {
  const Result<WorkLock> lock = WorkLock::take(settings.overlay.directory);
  if (!lock) return lock.status();
  const Learner learner(settings, overlay, lock->directory());
  for (std::optional<Request> request = inbox.next(); request; request = inbox.next()) {
    const Result<std::string> line = learner.learn(*request);
    if (!line) return line.status();
    if (!line->empty()) log(*line);
    inbox.drain();
  }
  return {};
}

Status run(const Settings& settings, const Log& log) {
  if (!os::is_message_channel()) {
    return {Code::io, "the input is no socket of the layer, which starts this command by itself"};
  }
  const Result<Overlay> overlay = Overlay::open(settings.overlay);
  if (!overlay) return overlay.status();
  Inbox inbox(std::cref(log));
  Status status;
  while (status && inbox.wait()) status = work(settings, *overlay, inbox, log);
  return status;
}

}  // namespace

Status learn(const Settings& settings) {
  os::lower_priority();
  const Log log(settings.log);
  Status status = run(settings, log);
  if (!status) log(status.message());
  return status;
}

}  // namespace clbake::builder::learn
