// MANIFEST: the pieces of work of a fleet as lines of JSON. The first line says what it is and how many pieces follow.
//
//   {"format": "clbake manifest", "version": 1, "clbake": "0.1.0", "pieces": 2}
//   {"piece": "bake-...", "title": "...", "command": ["build", ...], "files": [...], "needs": [...], "device": "...",
//    "compute_units": 0, "machines": [...]}
#pragma once

#include <clbake/builder/fleet/plan.hpp>

namespace clbake::builder {

// A line that is no piece. The others can be done all the same.
struct DamagedPiece {
  std::size_t number = 0;
  std::string cause;
};

struct Manifest {
  std::string path;
  std::string directory;             // that the pieces' paths are relative to; "." rather than empty
  std::size_t count = 0;             // of pieces, damaged ones included; they are numbered from 1
  std::vector<Piece> pieces;         // without the damaged ones
  std::vector<std::size_t> numbers;  // of `pieces`
  std::vector<DamagedPiece> damaged;
};

std::string manifest_text(const std::vector<Piece>& pieces);

// Fails with not_found or io; malformed when the first line is none of a manifest; unsupported_version when another
// version of clbake made it. Lines behind it that are damaged, that are missing, or whose piece is not named after its
// contents go into `damaged`. Messages begin with the path.
Result<Manifest> read_manifest(const std::string& path);

// Replaces `path` atomically. Fails with invalid_argument when a file there is no manifest, or with io.
Status write_manifest(const std::string& path, const std::vector<Piece>& pieces);

// The index in manifest.pieces of the piece with this number or id. Fails with not_found; malformed for a damaged one.
Result<std::size_t> find_piece(const Manifest& manifest, const std::string& number_or_id);

}  // namespace clbake::builder
