// Doing the pieces of a manifest on this machine. Whether a piece is done is decided by its output alone: the file is
// there, and intact. Nothing else is remembered.
#pragma once

#include <clbake/builder/fleet/manifest.hpp>

#include <atomic>
#include <functional>

namespace clbake::builder::fleet {

enum class PieceState {
  done,       // the output is there and intact
  missing,    // it is not there
  damaged,    // it is there, but not what it should be; the piece has to be done again
  failed,     // its command failed, or its check names what the bundle does not serve
  busy,       // another process is at work on it
  waiting,    // it needs the output of another piece, or a file that is not the one it was planned with
  elsewhere,  // it needs a device, a driver or compilers that this machine lacks
};
const char* name(PieceState state);

struct PieceResult {
  PieceState state = PieceState::missing;
  bool made = false;  // just now, and by this process
  std::string cause;  // of any state but done; of a piece that is done: what its command left out, or nothing
};

// done, missing, damaged, or failed.
PieceResult look_at(const Manifest& manifest, const Piece& piece);

// missing, damaged or failed: the piece begins; done or failed after that: how it ended; else why it does not begin.
struct WorkProgress {
  const Piece& piece;
  const PieceResult& result;
  bool begins;
};

// Does those of the pieces (indices into manifest.pieces, in their order) that are not done and that this machine can
// do, one at a time, and waits for those that another process is at work on. `worker` is the executable whose `worker
// command ARGUMENTS` runs a piece's command. Commands write to pieces/unfinished; what is complete moves to its place
// in one step. What a killed or failed command had done is taken up there by the next one. The result has an element
// for each index. `store`: where bakes keep what they made, and find what earlier ones did
// (build::BuildOptions::store); empty: nowhere. Fails with cancelled, or with io when nothing can be written at all.
Result<std::vector<PieceResult>> work(const Manifest& manifest, const std::vector<std::size_t>& pieces,
                                      const std::string& worker, const std::atomic<bool>& cancel,
                                      const std::function<void(const WorkProgress&)>& progress,
                                      const std::string& store = {});

}  // namespace clbake::builder::fleet
