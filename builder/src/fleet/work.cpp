#include <clbake/builder/fleet/plan.hpp>
#include <clbake/builder/fleet/work.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/tuning_file.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/lock.hpp>
#include <clbake/os/paths.hpp>

#include "process/need.hpp"
#include "process/text_file.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <thread>

namespace clbake::builder::fleet {
using namespace process;
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kNoTimeout{24 * 365};  // the commands have their own
constexpr std::chrono::milliseconds kBusyInterval{100};
constexpr std::uintmax_t kMostWorkBytes = std::uintmax_t{1} << 30;
constexpr std::uintmax_t kMaxTextBytes = std::uintmax_t{256} << 20;
constexpr int kLeftOutExit = 3;  // of a command that did the rest

// ---- Outputs

PieceResult judged(const Status& status) {
  return {status ? PieceState::done : PieceState::damaged, false, status.message()};
}

PieceResult look_at_bundle(const std::string& path) {
  const Result<Bundle> bundle = Bundle::open(path);
  return judged(bundle ? bundle->verify().within(path) : bundle.status());
}

PieceResult look_at_profile(const std::string& path) {
  const Result<profile::Tuning> tuning = profile::read_tuning(path);
  if (!tuning || tuning->complete) return judged(tuning.status());
  return {PieceState::damaged, false, path + ": the tuning is not complete"};
}

// A page, or a report of tests in JUnit's form, which may name what failed.
PieceResult look_at_text(const std::string& path, const char* end) {
  const Result<std::string> text = read_text_file(path, kMaxTextBytes);
  if (!text) return judged(text.status());
  const auto has = [&](const char* part) { return text->find(part) != std::string::npos; };
  if (!has(end)) return {PieceState::damaged, false, path + ": is not complete"};
  if (!has("<failure")) return judged({});
  return {PieceState::failed, false, path + ": names problems that the bundle does not serve"};
}

// True when the unfinished output of a tuning or a bake is intact: its command continues from it. Commands of other
// stages refuse a file that they did not write.
bool can_continue_from(Stage stage, const std::string& path) {
  if (stage == Stage::bake) return look_at_bundle(path).state == PieceState::done;
  return stage == Stage::tune && profile::read_tuning(path);
}

// The devices and compilers of this machine.
class Here {
 public:
  Here() {
    const Result<Machine> machine = this_machine();  // without any, merging is left
    if (!machine) return;
    for (const Machine::Device& device : machine->devices) units_[identity(device.target)].insert(device.compute_units);
    for (const Machine::Offline& target : machine->targets) compilers_.insert(target.identity);
  }

  // Why the piece cannot be done here; empty when it can.
  std::string obstacle(const Piece& piece) const {
    if (piece.device.empty() || compilers_.count(piece.device) > 0) return {};
    const auto found = units_.find(piece.device);
    if (found == units_.end()) return "this machine lacks the device, driver or compilers that it was planned for";
    if (piece.compute_units == 0 || found->second.count(piece.compute_units) > 0) return {};
    return "this machine's device does not have " + std::to_string(piece.compute_units) + " compute units";
  }

 private:
  std::map<std::string, std::set<std::uint32_t>> units_;  // by the device's identity
  std::set<std::string> compilers_;                       // identities of offline targets
};

class Worker {
 public:
  Worker(const Manifest& manifest, std::string executable, const std::atomic<bool>& cancel,
         const std::function<void(const WorkProgress&)>& progress, std::string store)
      : manifest_(manifest),
        executable_(std::move(executable)),
        cancel_(cancel),
        progress_(progress),
        store_(std::move(store)) {}

  // Does the piece if it is not done and nothing is in the way. Throws Failure with cancelled or io.
  PieceResult attempt(const Piece& piece) {
    PieceResult result = look_at(manifest_, piece);
    if (result.state == PieceState::done) return result;
    const std::string obstacle = here_.obstacle(piece);
    if (!obstacle.empty()) return {PieceState::elsewhere, false, obstacle};
    const std::string missing = missing_input(piece);
    if (!missing.empty()) return {PieceState::waiting, false, missing};
    // One process at a time, also across machines where the file system has locks; nobody removes the file.
    const os::LockFile lock = need(os::LockFile::open(absolute("pieces/unfinished/" + piece.id + ".lock")));
    if (!need(lock.try_lock(0))) return {PieceState::busy, false, "another process is at work on it"};
    result = look_at(manifest_, piece);  // another process may have done it meanwhile
    if (result.state == PieceState::done) return result;
    progress_({piece, result, true});
    return run(piece);
  }

 private:
  std::string absolute(const std::string& path) const { return manifest_.directory + "/" + path; }
  std::string log_of(const Piece& piece) const { return absolute("pieces/" + piece.id + ".log"); }

  // Why the piece cannot be done yet; empty when it can.
  std::string missing_input(const Piece& piece) {
    for (const std::string& need : piece.needs) {
      if (intact_.count(need) > 0) continue;
      const PieceResult state = look_at(manifest_, *manifest_.find(need));
      if (state.state != PieceState::done) return "needs " + need + ": " + state.cause;
      intact_.insert(need);
    }
    for (const InputFile& file : piece.files) {
      const std::string path = os::joined_path(manifest_.directory, file.path);
      const Result<std::string> bytes = read_text_file(path, kMostWorkBytes);
      if (!bytes) return bytes.status().message();
      if (digest(*bytes) != file.digest) return path + ": is not the file that was planned with; plan again";
    }
    return {};
  }

  PieceResult run(const Piece& piece) {
    const std::string output = absolute(output_of(piece));
    const std::string partial = "pieces/unfinished/" + os::file_name_of(output);
    std::error_code error;
    if (!can_continue_from(piece.stage, absolute(partial))) os::remove_file(absolute(partial));
    Command command;
    command.arguments = {executable_, "worker", "command"};
    command.arguments.insert(command.arguments.end(), piece.command.begin(), piece.command.end());
    command.arguments.back() = partial;
    if (piece.stage == Stage::bake && !store_.empty()) {
      command.arguments.insert(command.arguments.end(), {"--store", store_});
    }
    command.directory = manifest_.directory;
    command.log = log_of(piece);
    const Exit exit = need(process::run(command, kNoTimeout, cancel_));
    if (!exit.ok() && (exit.signal != 0 || exit.code != kLeftOutExit)) {
      return {PieceState::failed, false, describe(exit, command, kNoTimeout) + " (" + command.log + ")"};
    }
    fs::rename(os::native(absolute(partial)), os::native(output), error);
    if (error) return {PieceState::failed, false, output + ": " + error.message()};
    PieceResult result = look_at(manifest_, piece);
    result.made = result.state == PieceState::done;
    if (!result.made) result.state = PieceState::failed;
    if (result.made && !exit.ok()) result.cause = "left something out: " + command.log + " names it";
    return result;
  }

  const Manifest& manifest_;
  std::string executable_;
  const std::atomic<bool>& cancel_;
  const std::function<void(const WorkProgress&)>& progress_;
  std::string store_;  // absolute, or empty
  Here here_;
  std::set<std::string> intact_;  // ids of pieces whose outputs were found to be
};

bool has_ended(const PieceResult& result) {
  return result.state == PieceState::done || result.state == PieceState::failed;
}

}  // namespace

PieceResult look_at(const Manifest& manifest, const Piece& piece) {
  const std::string path = manifest.directory + "/" + output_of(piece);
  std::error_code error;
  if (!fs::exists(os::native(path), error)) return {PieceState::missing, false, path + ": is not there"};
  switch (piece.stage) {
    case Stage::tune:
    case Stage::profile: return look_at_profile(path);
    case Stage::bake:
    case Stage::merge: return look_at_bundle(path);
    case Stage::check: return look_at_text(path, "</testsuite");
    case Stage::report: break;
  }
  return look_at_text(path, "</html>");
}

const char* name(PieceState state) {
  constexpr const char* kNames[] = {"done", "missing", "damaged", "failed", "busy", "waiting", "elsewhere"};
  return kNames[static_cast<int>(state)];
}

Result<std::vector<PieceResult>> work(const Manifest& manifest, const std::vector<std::size_t>& pieces,
                                      const std::string& worker, const std::atomic<bool>& cancel,
                                      const std::function<void(const WorkProgress&)>& progress,
                                      const std::string& store) try {
  const std::string directory = manifest.directory + "/pieces/unfinished";
  std::error_code error;
  fs::create_directories(os::native(directory), error);
  if (error) return {Code::io, directory + ": cannot create: " + error.message()};
  const std::string store_path = store.empty() ? store : os::absolute_path(store);
  Worker at_work(manifest, worker, cancel, progress, store_path);
  std::vector<PieceResult> results(pieces.size());
  // A piece may become possible by what this round, or another process, makes.
  for (bool made = true, busy = false; made || busy;) {
    if (!made) std::this_thread::sleep_for(kBusyInterval);
    if (cancel) return {Code::cancelled, "interrupted"};
    made = busy = false;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (has_ended(results[i])) continue;
      results[i] = at_work.attempt(manifest.pieces[pieces[i]]);
      made = made || results[i].made;
      busy = busy || results[i].state == PieceState::busy;
      if (has_ended(results[i])) progress({manifest.pieces[pieces[i]], results[i], false});
    }
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!has_ended(results[i])) progress({manifest.pieces[pieces[i]], results[i], false});
  }
  return results;
} catch (const Failure& failure) {
  return failure.status;
}

}  // namespace clbake::builder::fleet
