#include <clbake/builder/fleet/manifest.hpp>
#include <clbake/builder/fleet/plan.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/os/paths.hpp>

#include "process/json_reader.hpp"
#include "process/text_file.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace clbake::builder::fleet {
using namespace process;
namespace {

constexpr const char* kFormat = "clbake manifest";
constexpr std::uint32_t kVersion = 1;
constexpr std::uintmax_t kMostManifestBytes = std::uintmax_t{64} << 20;

struct StageRow {
  const char* name;
  const char* verb;
  const char* extension;  // of the output
};
constexpr StageRow kStages[] = {{"tune", "tune", ".json"},    {"profile", "tune", ".json"},
                                {"bake", "build", ".clbake"}, {"merge", "merge", ".clbake"},
                                {"check", "check", ".xml"},   {"report", "report", ".html"}};

const StageRow& row_of(Stage stage) { return kStages[static_cast<int>(stage)]; }

Json piece_json(const Piece& piece) {
  Json files = Json::array();
  for (const InputFile& file : piece.files) files.push_back({{"path", file.path}, {"digest", file.digest}});
  return {{"piece", piece.id},
          {"title", piece.title},
          {"command", piece.command},
          {"files", files},
          {"needs", piece.needs},
          {"device", piece.device},
          {"compute_units", piece.compute_units},
          {"machines", piece.machines}};
}

std::string line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

// Throws an exception of the JSON library, which names the field, for a line that is no piece.
Piece piece_of(const Json& json) {
  Piece piece;
  json.at("piece").get_to(piece.id);
  json.at("title").get_to(piece.title);
  json.at("command").get_to(piece.command);
  for (const Json& file : json.at("files")) piece.files.push_back({file.at("path"), file.at("digest")});
  json.at("needs").get_to(piece.needs);
  json.at("device").get_to(piece.device);
  json.at("compute_units").get_to(piece.compute_units);
  json.at("machines").get_to(piece.machines);
  for (const Stage stage : all_stages) {
    if (piece.id.rfind(name(stage) + std::string("-"), 0) == 0) piece.stage = stage;
  }
  return piece;
}

// Why it is none of a plan whose other pieces have the ids `before`; empty when it is one.
std::string fault_of(const Piece& piece, const std::set<std::string>& before) {
  const bool is_whole = piece.command.size() > 1 && piece.command[0] == row_of(piece.stage).verb;
  if (!is_whole || piece_id(piece) != piece.id || piece.command.back() != output_of(piece)) {
    return "the piece is not named after its contents: the line was changed";
  }
  if (!std::all_of(piece.machines.begin(), piece.machines.end(), is_machine_name)) {
    return "machines: has what is no machine's name";
  }
  if (before.count(piece.id) > 0) return "piece: is there twice";
  for (const std::string& need : piece.needs) {
    if (before.count(need) == 0) return "needs: " + need + " is not before it";
  }
  return {};
}

Json header(std::size_t pieces) {
  return {{"format", kFormat}, {"version", kVersion}, {"clbake", CLBAKE_VERSION}, {"pieces", pieces}};
}

// Fails with malformed for what no version of clbake wrote.
Status check_header(const std::string& text, std::size_t pieces) {
  const Result<Json> found = parse_json(text);
  if (!found || !found->is_object() || found->value("format", Json()) != kFormat) {
    return {Code::malformed, "is no manifest of 'clbake plan'"};
  }
  for (const char* field : {"version", "clbake"}) {
    const Json theirs = found->value(field, Json()), ours = header(pieces)[field];
    if (theirs == ours) continue;
    return {Code::unsupported_version, std::string(field) + " " + theirs.dump() + ", this is " + ours.dump() +
                                           ": make it again with 'clbake plan'"};
  }
  if (*found == header(pieces)) return {};
  return {Code::malformed, "the first line says pieces: " + found->value("pieces", Json()).dump() + ", and " +
                               std::to_string(pieces) + " lines follow"};
}

Status read_piece(const std::string& text, std::set<std::string>& ids, Manifest& manifest) {
  const Result<Json> json = parse_json(text);
  if (!json) return json.status();
  try {
    manifest.pieces.push_back(piece_of(*json));
  } catch (const Json::exception& error) {
    return {Code::malformed, std::string("is no piece of work: ") + error.what()};
  }
  const std::string fault = fault_of(manifest.pieces.back(), ids);
  if (!fault.empty()) return {Code::malformed, fault};
  ids.insert(manifest.pieces.back().id);
  return {};
}

Status read(const std::string& text, Manifest& manifest) {
  std::istringstream lines(text);
  std::string first;
  std::getline(lines, first);
  const bool is_cut = !text.empty() && text.back() != '\n';
  const auto count = std::count(text.begin(), text.end(), '\n') + (is_cut ? 1 : 0);
  const Status known = check_header(first, count > 0 ? static_cast<std::size_t>(count - 1) : 0);
  if (!known) return known;
  std::set<std::string> ids;
  std::size_t number = 1;
  for (std::string piece; std::getline(lines, piece);) {
    const Status read = read_piece(piece, ids, manifest);
    if (++number; !read) return read.within("line " + std::to_string(number));
  }
  return {};
}

}  // namespace

const char* name(Stage stage) { return row_of(stage).name; }

std::string output_of(const Piece& piece) { return "pieces/" + piece.id + row_of(piece.stage).extension; }

std::string piece_id(const Piece& piece) {
  std::vector<std::string> inputs = {"clbake " CLBAKE_VERSION, piece.device, std::to_string(piece.compute_units)};
  // A file counts by its bytes, wherever it lies; the last argument is the output.
  for (std::size_t i = 0; i + 1 < piece.command.size(); ++i) {
    const auto is_it = [&](const InputFile& file) { return file.path == piece.command[i]; };
    const bool is_file = std::any_of(piece.files.begin(), piece.files.end(), is_it);
    inputs.push_back(is_file ? "a file" : piece.command[i]);
  }
  for (const InputFile& file : piece.files) inputs.push_back(file.digest);
  return std::string(name(piece.stage)) + "-" + digest(inputs);
}

const Piece* Manifest::find(const std::string& id) const {
  const auto found = std::find_if(pieces.begin(), pieces.end(), [&](const Piece& piece) { return piece.id == id; });
  return found == pieces.end() ? nullptr : &*found;
}

std::string manifest_text(const std::vector<Piece>& pieces) {
  std::string text = line(header(pieces.size()));
  for (const Piece& piece : pieces) text += line(piece_json(piece));
  return text;
}

Result<Manifest> read_manifest(const std::string& path) {
  return exceptions_to_status([&]() -> Result<Manifest> {
    const Result<std::string> text = read_text_file(path, kMostManifestBytes);
    if (!text) return text.status();
    Manifest manifest;
    manifest.path = path;
    manifest.directory = os::parent_of(path);
    if (manifest.directory.empty()) manifest.directory = ".";
    const Status status = read(*text, manifest);
    if (!status) return status.within(path);
    return manifest;
  });
}

Status write_manifest(const std::string& path, const std::vector<Piece>& pieces) {
  const Result<std::string> old = read_text_file(path, kMostManifestBytes);
  const std::string begin = std::string("{\"format\":\"") + kFormat + '"';
  const bool too_large = old.status().code() == Code::malformed;
  if (too_large || (old && old->rfind(begin, 0) != 0)) {
    return {Code::invalid_argument, path + ": exists and is no manifest; it stays as it is"};
  }
  const std::string text = manifest_text(pieces);
  return cache::write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

Result<std::size_t> find_piece(const Manifest& manifest, const std::string& number_or_id) {
  for (std::size_t i = 0; i < manifest.pieces.size(); ++i) {
    if (number_or_id == manifest.pieces[i].id || number_or_id == std::to_string(i + 1)) return i;
  }
  return {Code::not_found, manifest.path + ": has no piece '" + number_or_id + "'; they are numbered from 1 to " +
                               std::to_string(manifest.pieces.size())};
}

}  // namespace clbake::builder::fleet
