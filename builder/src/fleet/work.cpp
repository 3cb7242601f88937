#include <clbake/builder/fleet/work.hpp>
#include <clbake/builder/process.hpp>

#include "fleet/outputs.hpp"
#include "fleet/piece_lock.hpp"
#include "process/digest.hpp"
#include "process/text_file.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

namespace clbake::builder {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kNoTimeout{24 * 365};  // the commands have their own
constexpr std::chrono::milliseconds kLockInterval{100};
constexpr std::uintmax_t kMaxInputBytes = std::uintmax_t{1} << 30;
constexpr int kLeftOutExit = 3;  // of a command that did the rest

// The devices and compilers of this machine.
class Here {
 public:
  Here() {
    const Result<Machine> machine = this_machine();  // without any, merging is left
    if (!machine) return;
    for (const Machine::Device& device : machine->devices) units_[identity(device.target)].insert(device.compute_units);
    for (const Machine::Offline& target : machine->targets) compilers_.insert({target.identity, target.name});
  }

  // Why the piece cannot be done here; empty when it can.
  std::string obstacle(const Piece& piece) const {
    if (piece.device.empty() || compilers_.count(piece.device) > 0) return {};
    const auto found = units_.find(piece.device);
    if (found == units_.end()) return "this machine has not the device, driver or compilers that it was planned for";
    if (piece.compute_units == 0 || found->second.count(piece.compute_units) > 0) return {};
    return "this machine's device has not " + std::to_string(piece.compute_units) + " compute units";
  }

 private:
  std::map<std::string, std::set<std::uint32_t>> units_;  // by the device's identity
  std::set<std::string> compilers_;                       // identities, and names for pieces that take any compilers
};

class Worker {
 public:
  Worker(const Manifest& manifest, std::string executable, const std::atomic<bool>& cancel,
         const std::function<void(const WorkProgress&)>& progress)
      : manifest_(manifest), executable_(std::move(executable)), cancel_(cancel), progress_(progress) {}

  // Empty when another process is at work on the piece, unless `wait`. Fails with cancelled or io.
  Result<std::optional<PieceResult>> attempt(const Piece& piece, bool wait) {
    PieceResult result = state_of(piece);
    if (is_final(result)) return finished(piece, std::move(result));
    const std::string obstacle = here_.obstacle(piece);
    if (!obstacle.empty()) return finished(piece, {PieceState::elsewhere, false, obstacle});
    std::string missing = missing_input(piece);
    if (!missing.empty()) return finished(piece, {PieceState::waiting, false, std::move(missing)});
    Result<std::optional<PieceLock>> lock = PieceLock::try_lock(unfinished(piece.id + ".lock"));
    while (lock && !*lock && wait) {
      if (cancel_) return {Code::cancelled, "interrupted"};
      std::this_thread::sleep_for(kLockInterval);
      lock = PieceLock::try_lock(unfinished(piece.id + ".lock"));
    }
    if (!lock) return lock.status();
    if (!*lock) return std::optional<PieceResult>();
    result = state_of(piece);  // another process may have done it meanwhile
    if (is_final(result)) return finished(piece, std::move(result));
    progress_({piece, result});
    Result<PieceResult> made = run(piece);
    if (!made) return made.status();
    return finished(piece, std::move(*made));
  }

 private:
  std::string absolute(const std::string& path) const { return manifest_.directory + "/" + path; }
  std::string unfinished(const std::string& name) const { return absolute("pieces/unfinished/" + name); }

  static bool is_final(const PieceResult& result) {
    return result.state == PieceState::done || result.state == PieceState::failed;
  }

  // A check is missing when the bundle that it read has been made again since.
  PieceResult state_of(const Piece& piece) const {
    PieceResult result = look_at(manifest_, piece);
    if (piece.stage != Stage::check || !is_final(result)) return result;
    std::error_code error;
    const fs::file_time_type checked = fs::last_write_time(absolute(output_of(piece)), error);
    for (const std::string& need : piece.needs) {
      const Piece* other = find(need);
      if (!other) continue;
      const fs::file_time_type made = fs::last_write_time(absolute(output_of(*other)), error);
      if (error || made > checked) result.state = PieceState::missing;
    }
    return result;
  }

  // Null when the manifest lacks it.
  const Piece* find(const std::string& id) const {
    const auto is_it = [&](const Piece& piece) { return piece.id == id; };
    const auto found = std::find_if(manifest_.pieces.begin(), manifest_.pieces.end(), is_it);
    return found == manifest_.pieces.end() ? nullptr : &*found;
  }

  std::optional<PieceResult> finished(const Piece& piece, PieceResult result) {
    progress_({piece, result});
    return result;
  }

  std::string missing_input(const Piece& piece) const {
    for (const InputFile& file : piece.files) {
      const std::string path = fs::path(manifest_.directory) / file.path;
      const Result<std::string> bytes = read_text_file(path, kMaxInputBytes);
      if (!bytes) return bytes.status().message();
      if (digest(*bytes) != file.digest) return path + ": is not the file that was planned with; plan again";
    }
    for (const std::string& need : piece.needs) {
      const Piece* other = find(need);
      if (!other) return "needs " + need + ", which the manifest lacks";
      const PieceResult state = look_at(manifest_, *other);
      if (state.state != PieceState::done) return "needs " + need + ": " + state.cause;
    }
    return {};
  }

  Result<PieceResult> run(const Piece& piece) {
    const std::string output = output_of(piece);
    const std::string partial = "pieces/unfinished/" + fs::path(output).filename().string();
    std::error_code error;
    if (!can_go_on_from(piece.stage, absolute(partial))) fs::remove(absolute(partial), error);
    error.clear();
    Command command;
    command.arguments = {executable_, "worker", "command"};
    command.arguments.insert(command.arguments.end(), piece.command.begin(), piece.command.end());
    command.arguments.back() = partial;
    command.directory = manifest_.directory;
    command.log = absolute("pieces/" + piece.id + ".log");
    std::vector<Command> commands = {command};
    Exit exit;
    const Status ran = run_all(commands, 1, kNoTimeout, cancel_, [&](std::size_t, const Exit& e) { exit = e; });
    if (!ran) return ran;
    const bool complete = exit.ok() || (exit.signal == 0 && exit.code == kLeftOutExit);
    if (complete) fs::rename(absolute(partial), absolute(output), error);
    if (error) return PieceResult{PieceState::failed, false, absolute(output) + ": " + error.message()};
    PieceResult result = look_at(manifest_, piece);
    if (result.state == PieceState::done) {
      result.made = true;
      if (!exit.ok()) result.cause = "left something out: " + command.log + " names it";
      return result;
    }
    if (!complete) result.cause = describe(exit, command, kNoTimeout) + " (" + command.log + ")";
    result.state = PieceState::failed;
    return result;
  }

  const Manifest& manifest_;
  std::string executable_;
  const std::atomic<bool>& cancel_;
  const std::function<void(const WorkProgress&)>& progress_;
  Here here_;
};

}  // namespace

const char* name(PieceState state) {
  switch (state) {
    case PieceState::done: return "done";
    case PieceState::missing: return "missing";
    case PieceState::damaged: return "damaged";
    case PieceState::failed: return "failed";
    case PieceState::waiting: return "waiting";
    case PieceState::elsewhere: return "elsewhere";
  }
  return "unknown";
}

Result<std::vector<PieceResult>> work(const Manifest& manifest, const std::vector<std::size_t>& pieces,
                                      const std::string& worker, const std::atomic<bool>& cancel,
                                      const std::function<void(const WorkProgress&)>& progress) {
  const std::string directory = manifest.directory + "/pieces/unfinished";
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return {Code::io, directory + ": cannot create: " + error.message()};
  Worker at_work(manifest, worker, cancel, progress);
  std::vector<PieceResult> results(pieces.size());
  std::vector<std::size_t> again;  // busy, or waiting for one that may be
  bool any_busy = false;
  const auto attempt = [&](std::size_t i, bool wait) -> Status {
    Result<std::optional<PieceResult>> result = at_work.attempt(manifest.pieces[pieces[i]], wait);
    if (!result) return result.status();
    any_busy = any_busy || !*result;
    if (!*result || (*result)->state == PieceState::waiting) again.push_back(i);
    if (*result) results[i] = std::move(**result);
    return {};
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Status status = attempt(i, false);
    if (!status) return status;
  }
  if (any_busy) {
    for (const std::size_t i : std::vector<std::size_t>(again)) {
      const Status status = attempt(i, true);
      if (!status) return status;
    }
  }
  return results;
}

}  // namespace clbake::builder
