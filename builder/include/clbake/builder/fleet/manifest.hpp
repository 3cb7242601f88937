// MANIFEST: the graph of a fleet's work, as lines of JSON. The first line says what it is and how many pieces follow.
//
//   {"format": "clbake manifest", "version": 1, "clbake": "0.1.0", "pieces": 2}
//   {"piece": "bake-...", "title": "...", "command": ["build", ...], "files": [...], "needs": [...], "device": "...",
//    "compute_units": 0, "machines": [...]}
//
// A piece of work is one `clbake` command and what it depends on. Its output is a file named after everything that goes
// into it, so whoever finds the file, on whatever machine, has no need to do the piece again.
#pragma once

#include <clbake/status.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace clbake::builder::fleet {

enum class Stage { tune, profile, bake, merge, check, report };
constexpr Stage all_stages[] = {Stage::tune, Stage::profile, Stage::bake, Stage::merge, Stage::check, Stage::report};
const char* name(Stage stage);  // "tune", ...

// A file that a piece reads and no other piece writes.
struct InputFile {
  std::string path;    // relative to the manifest's directory, or absolute
  std::string digest;  // of its bytes when the manifest was made
};

struct Piece {
  Stage stage = Stage::bake;
  std::string id;     // "bake-" and 16 hexadecimal digits: see piece_id()
  std::string title;  // for people: "bake NVIDIA H200, driver 580.159.04, single"
  // The verb and its arguments. It runs in the manifest's directory; its last argument is output_of().
  std::vector<std::string> command;
  std::vector<InputFile> files;
  std::vector<std::string> needs;     // ids of the pieces before it whose outputs it reads
  std::string device;                 // identity of the device or offline target; empty: any machine
  std::uint32_t compute_units = 0;    // that the device must have; 0: any number
  std::vector<std::string> machines;  // names of those that have the device; empty: any
};

// The path of the piece's output, relative to the manifest's directory: "pieces/bake-0123456789abcdef.clbake".
std::string output_of(const Piece& piece);

// The piece's name: a hash of clbake's version, the command without its output, the bytes of its files and the device.
// The names of what it reads from other pieces are in the command, so it stands for their inputs, too.
std::string piece_id(const Piece& piece);

struct Manifest {
  std::string path;
  std::string directory;      // that the pieces' paths are relative to; "." rather than empty
  std::vector<Piece> pieces;  // numbered from 1; a piece comes after those that it needs

  // The piece with this id; null when there is none.
  const Piece* find(const std::string& id) const;
};

std::string manifest_text(const std::vector<Piece>& pieces);

// Fails with not_found or io; unsupported_version when another version of clbake made it; malformed when it is no
// manifest, or a line of it was damaged or changed. Messages begin with the path and name the line.
Result<Manifest> read_manifest(const std::string& path);

// Replaces `path` atomically. Fails with invalid_argument when a file there is no manifest, or with io.
Status write_manifest(const std::string& path, const std::vector<Piece>& pieces);

// The index in manifest.pieces of the piece with this number or id. Fails with not_found.
Result<std::size_t> find_piece(const Manifest& manifest, const std::string& number_or_id);

}  // namespace clbake::builder::fleet
