#include <clbake/builder/fleet/plan.hpp>

#include "process/digest.hpp"

#include <algorithm>

namespace clbake::builder {

const char* name(Stage stage) {
  switch (stage) {
    case Stage::tune: return "tune";
    case Stage::profile: return "profile";
    case Stage::bake: return "bake";
    case Stage::merge: return "merge";
    case Stage::check: return "check";
    case Stage::report: return "report";
  }
  return "unknown";
}

namespace {

const char* extension(Stage stage) {
  switch (stage) {
    case Stage::tune:
    case Stage::profile: return ".json";
    case Stage::bake:
    case Stage::merge: return ".clbake";
    case Stage::check: return ".xml";
    case Stage::report: return ".html";
  }
  return "";
}

}  // namespace

std::string output_of(const Piece& piece) { return "pieces/" + piece.id + extension(piece.stage); }

std::string piece_id(const Piece& piece) {
  std::vector<std::string> inputs = {"clbake " CLBAKE_VERSION, piece.device, std::to_string(piece.compute_units)};
  const std::size_t count = piece.command.size() - std::min<std::size_t>(1, piece.command.size());
  for (std::size_t i = 0; i < count; ++i) {  // the last one is the output
    const std::string& argument = piece.command[i];
    const auto is_it = [&](const InputFile& file) { return file.path == argument; };
    const auto file = std::find_if(piece.files.begin(), piece.files.end(), is_it);
    inputs.push_back(file == piece.files.end() ? argument : "digest " + file->digest);
  }
  for (const InputFile& file : piece.files) {  // those that another file names
    const bool named = std::find(piece.command.begin(), piece.command.end(), file.path) != piece.command.end();
    if (!named) inputs.push_back("digest " + file.digest);
  }
  return std::string(name(piece.stage)) + "-" + digest(inputs);
}

}  // namespace clbake::builder
